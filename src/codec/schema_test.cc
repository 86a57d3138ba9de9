#include "codec/schema.h"

#include <gtest/gtest.h>

#include "codec/testing/toy_schema.h"

namespace berth::codec {
namespace {

const Message& ShipTable() { return DescriptionOf<toy::Ship>(); }

TEST(Message, FindsRowsByNameAndNumber) {
  EXPECT_EQ(ShipTable().FindJson("crew")->number, 4u);
  EXPECT_EQ(ShipTable().FindNumber(4)->json_name, "crew");
  EXPECT_EQ(ShipTable().FindJson("Crew"), nullptr);
  EXPECT_EQ(ShipTable().FindJson("source"), nullptr);  // inlined: only its fields have names
  EXPECT_NE(ShipTable().FindJson("barge"), nullptr);
  EXPECT_EQ(ShipTable().FindNumber(0), nullptr);
  EXPECT_EQ(ShipTable().FindNumber(21), nullptr);
  EXPECT_EQ(ShipTable().FindNumber(1u << 28), nullptr);
}

TEST(Message, FindsMembersOfBasesAndInlinedMessages) {
  toy::Ship ship;
  EXPECT_EQ(ShipTable().FindJson("port")->In(&ship), static_cast<void*>(&ship.port));
  EXPECT_EQ(ShipTable().FindJson("barge")->In(&ship), static_cast<void*>(&ship.source.barge));
}

TEST(Message, IgnoresWhatItSaysIncludingInlinedNames) {
  EXPECT_TRUE(ShipTable().IsIgnored("logbook"));
  EXPECT_TRUE(ShipTable().IsIgnored("bridge"));
  EXPECT_FALSE(ShipTable().IsIgnored("nonsense"));
  EXPECT_TRUE(MessageOf<toy::Cargo>("Cargo", {}).IgnoreOthers().IsIgnored("nonsense"));
}

TEST(Message, SuggestsTheClosestKnownName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nam", "name"},
      {"aliasse", "aliases"},
      {"maincargo", "mainCargo"},
      {"deck_cargo", "deckCargo"},
      {"logbok", "logbook"},
      {"x", ""},
      {"containers", ""},
      {std::string(100'000, 'a'), ""},
  };
  for (const auto& [typed, meant] : cases) EXPECT_EQ(ShipTable().Suggest(typed), meant) << typed;
}

// Ships with one field set each; every field of Ship occurs, most of them with several values.
std::vector<toy::Ship> ShipsThatHaveOneThing() {
  std::vector<toy::Ship> ships(1);
  const auto add = [&](const auto& change) { change(ships.emplace_back()); };
  for (const char* text : {"a", "b", "ab"}) {
    add([&](toy::Ship& ship) { ship.name = text; });
    add([&](toy::Ship& ship) { ship.flag = Symbol(text); });
    add([&](toy::Ship& ship) { ship.aliases = {text}; });
    add([&](toy::Ship& ship) { ship.aliases = {"a", text}; });
    add([&](toy::Ship& ship) { ship.notes.Set("a", text); });
    add([&](toy::Ship& ship) { ship.notes.Set(text, "a"); });
    add([&](toy::Ship& ship) { ship.manifest.Set("a", {text}); });
    add([&](toy::Ship& ship) { ship.deck_cargo[text].kind = "a"; });
    add([&](toy::Ship& ship) { ship.deck_cargo["a"].kind = text; });
    add([&](toy::Ship& ship) { ship.holds.emplace_back().kind = text; });
    add([&](toy::Ship& ship) { ship.main_cargo.kind = text; });
    add([&](toy::Ship& ship) { ship.source.wharf = std::make_unique<toy::Cargo>(toy::Cargo{text, {}}); });
    add([&](toy::Ship& ship) { ship.source.barge = std::make_shared<toy::Cargo>(toy::Cargo{text, {}}); });
    add([&](toy::Ship& ship) { ship.tenders.push_back(std::make_unique<toy::Ship>()), ship.tenders[0]->name = text; });
  }
  for (const int number : {1, 2, 300}) {
    add([&](toy::Ship& ship) { ship.crew = -number; });
    add([&](toy::Ship& ship) { ship.imo = number; });
    add([&](toy::Ship& ship) { ship.decks = static_cast<uint32_t>(number); });
    add([&](toy::Ship& ship) { ship.serial = static_cast<uint64_t>(number); });
    add([&](toy::Ship& ship) { ship.draft = number; });
    add([&](toy::Ship& ship) { ship.length.metres = number; });
    add([&](toy::Ship& ship) { ship.berths = {number}; });
    add([&](toy::Ship& ship) { ship.berths = {number, number}; });
    add([&](toy::Ship& ship) { ship.cranes[Symbol("a")].metres = number; });
    add([&](toy::Ship& ship) { ship.main_cargo.tons = number; });
  }
  for (const bool truth : {false, true}) {
    add([&](toy::Ship& ship) { ship.insured = truth; });
    add([&](toy::Ship& ship) { ship.afloat = truth; });
  }
  add([&](toy::Ship& ship) { ship.main_cargo.tons = 0; });
  add([&](toy::Ship& ship) { ship.holds.emplace_back(); });
  add([&](toy::Ship& ship) { ship.deck_cargo["a"]; });
  add([&](toy::Ship& ship) { ship.manifest["a"]; });
  add([&](toy::Ship& ship) { ship.source.wharf = std::make_unique<toy::Cargo>(); });
  add([&](toy::Ship& ship) { ship.source.barge = std::make_shared<toy::Cargo>(); });
  return ships;
}

TEST(Message, ObjectsAreTheSameWhenTheirBytesAre) {
  const std::vector<toy::Ship> ships = ShipsThatHaveOneThing(), others = ShipsThatHaveOneThing();
  for (const toy::Ship& ship : ships) {
    for (const toy::Ship& other : others) {
      const std::string bytes = EncodeProtobuf(ship), other_bytes = EncodeProtobuf(other);
      EXPECT_EQ(IsSame(ShipTable(), &ship, &other), bytes == other_bytes)
          << ::testing::PrintToString(bytes) << " and " << ::testing::PrintToString(other_bytes);
    }
  }
  toy::Ship in_port;
  in_port.port = "Hamburg";  // not in protobuf
  EXPECT_TRUE(IsSame(ShipTable(), &in_port, &ships[0]));
}

TEST(MessageDeathTest, RefusesTablesThatContradictThemselves) {
  using toy::Cargo;
  EXPECT_DEATH(MessageOf<Cargo>("C", {Field("a", 1, &Cargo::kind), Field("a", 2, &Cargo::tons)}), "share a JSON name");
  EXPECT_DEATH(MessageOf<Cargo>("C", {Field("a", 1, &Cargo::kind), Field("b", 1, &Cargo::tons)}), "protobuf number");
}

}  // namespace
}  // namespace berth::codec
