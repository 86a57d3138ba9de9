// Structs with every kind of field, for the tests and fuzzers of this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "base/symbol.h"
#include "codec/json_writer.h"
#include "codec/protobuf.h"
#include "codec/schema.h"
#include "codec/value.h"

namespace berth::codec::toy {

// A length that is written "12m"; in protobuf a message {1: text}.
struct Length {
  int64_t metres = 0;
  friend bool operator==(const Length&, const Length&) = default;
};

struct Cargo {
  std::string kind;
  std::optional<int32_t> tons;
  friend bool operator==(const Cargo&, const Cargo&) = default;
};

struct Registered {
  std::string port;
  friend bool operator==(const Registered&, const Registered&) = default;
};

struct Source {
  std::unique_ptr<Cargo> wharf;
  std::shared_ptr<const Cargo> barge;
};

// Contains itself.
struct Ship : Registered {
  std::string name;
  Symbol flag;
  bool afloat = false;
  int32_t crew = 0;
  int64_t imo = 0;
  uint32_t decks = 0;
  uint64_t serial = 0;
  double draft = 0;
  Length length;
  std::optional<bool> insured;
  std::vector<std::string> aliases;
  std::vector<int32_t> berths;
  std::vector<Cargo> holds;
  base::FlatMap<std::string, std::string> notes;
  base::FlatMap<Symbol, Length> cranes;
  base::FlatMap<std::string, std::vector<std::string>> manifest;
  base::FlatMap<std::string, Cargo> deck_cargo;
  Cargo main_cargo;
  Source source;
  std::vector<std::unique_ptr<Ship>> tenders;
};

// Few docks have a source, so it is held by pointer although JSON shows its fields inline.
struct Dock {
  std::string name;
  std::unique_ptr<Source> source;
};

const Message& Describe(const Cargo*);
const Message& Describe(const Source*);
const Message& Describe(const Ship*);
const Message& Describe(const Dock*);

}  // namespace berth::codec::toy

template <>
struct berth::codec::ScalarTraits<berth::codec::toy::Length> {
  static std::string FromJson(const Value& value, toy::Length& out) {
    return Parse(value.is_string() ? value.text() : "", out) ? "" : "expected a length like 12m";
  }
  static void ToJson(const toy::Length& value, JsonWriter& writer) { writer.String(Text(value)); }
  static bool FromProtobuf(std::string_view payload, toy::Length& out) {
    WireReader reader(payload);
    bool parsed = true;
    while (reader.Next()) {
      if (reader.number() == 1) parsed = Parse(reader.bytes(), out);
    }
    return reader.ok() && parsed;
  }
  static void ToProtobuf(const toy::Length& value, std::string& payload) { WireWriter(payload).Bytes(1, Text(value)); }

 private:
  static std::string Text(const toy::Length& value) { return std::to_string(value.metres) + "m"; }
  static bool Parse(std::string_view text, toy::Length& out) {
    if (text.size() < 2 || text.size() > 10 || text.back() != 'm') return false;
    int64_t metres = 0;
    for (char c : text.substr(0, text.size() - 1)) {
      if (c < '0' || c > '9') return false;
      metres = metres * 10 + (c - '0');
    }
    out.metres = metres;
    return true;
  }
};

namespace berth::codec::toy {

inline const Message& Describe(const Cargo*) {
  static const Message message =
      MessageOf<Cargo>("Cargo", {Field("kind", 1, &Cargo::kind), Field("tons", 2, &Cargo::tons)});
  return message;
}

inline const Message& Describe(const Source*) {
  static const Message message =
      MessageOf<Source>("Source", {Field("wharf", 1, &Source::wharf), Field("barge", 2, &Source::barge)})
          .Ignore({"bridge"});
  return message;
}

inline const Message& Describe(const Dock*) {
  static const Message message =
      MessageOf<Dock>("Dock", {Field("name", 1, &Dock::name), Inline("source", 2, &Dock::source)});
  return message;
}

inline bool IsSecret(std::string_view key) { return key.starts_with("secret/"); }

inline const Message& Describe(const Ship*) {
  static const Message message = MessageOf<Ship>("Ship",
                                                 {
                                                     Field("name", 1, &Ship::name).Always().Required(),
                                                     Field("flag", 2, &Ship::flag),
                                                     Field("afloat", 3, &Ship::afloat),
                                                     Field("crew", 4, &Ship::crew),
                                                     Field("imo", 5, &Ship::imo),
                                                     Field("decks", 6, &Ship::decks),
                                                     Field("serial", 7, &Ship::serial),
                                                     Field("draft", 8, &Ship::draft),
                                                     Field("length", 9, &Ship::length),
                                                     Field("insured", 10, &Ship::insured),
                                                     Field("aliases", 11, &Ship::aliases),
                                                     Field("berths", 12, &Ship::berths),
                                                     Field("holds", 13, &Ship::holds),
                                                     Field("notes", 14, &Ship::notes).DropKeys(&IsSecret),
                                                     Field("cranes", 15, &Ship::cranes),
                                                     Field("manifest", 16, &Ship::manifest),
                                                     Field("deckCargo", 17, &Ship::deck_cargo),
                                                     Field("mainCargo", 18, &Ship::main_cargo),
                                                     Inline("source", 19, &Ship::source),
                                                     Field("tenders", 20, &Ship::tenders),
                                                     Field("port", 0, &Ship::port),
                                                 })
                                     .Ignore({"logbook"});
  return message;
}

}  // namespace berth::codec::toy
