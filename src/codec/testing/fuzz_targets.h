// What the fuzzers run: each takes any bytes at all and must neither crash nor hang, and whatever it accepts must
// survive a round trip. The same functions run over seeded mutations in fuzz_targets_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "codec/json_writer.h"
#include "codec/protobuf.h"
#include "codec/testing/toy_schema.h"
#include "codec/yaml.h"
#include "codec/yaml_writer.h"

namespace berth::codec {

inline std::string ToJson(const Value& value) {
  std::string out;
  JsonWriter(out).Write(value);
  return out;
}

inline void DecodeEveryWay(const Value& value) {
  for (const DecodeOptions& options : {DecodeOptions{}, DecodeOptions{.strict = true}, DecodeOptions{.yaml = true}}) {
    toy::Ship ship;
    std::vector<Diagnostic> problems;
    Decode(value, ship, options, problems);
    for (const Diagnostic& problem : problems) CHECK(problem.where.line > 0 && problem.where.column > 0);
    CHECK(ParseJson(EncodeJson(ship), "encoded").ok());
  }
}

inline void FuzzJson(std::string_view input) {
  const Result<Document> document = ParseJson(std::string(input), "input");
  if (!document) return;
  const std::string json = ToJson(document->root());
  const Result<Document> again = ParseJson(json, "again");
  CHECK(again.ok());
  CHECK(ToJson(again->root()) == json);
  DecodeEveryWay(document->root());
}

inline void FuzzYaml(std::string_view input) {
  const Result<std::vector<Document>> documents = ParseYaml(input, "input");
  if (!documents) return;
  for (const Document& document : *documents) {
    DecodeEveryWay(document.root());
    const std::string yaml = EncodeYaml(document.root());
    const Result<std::vector<Document>> again = ParseYaml(yaml, "again");
    CHECK(again.ok() && again->size() == 1);
    CHECK(EncodeYaml(again->front().root()) == yaml);
  }
}

inline void FuzzProtobuf(std::string_view input) {
  toy::Ship ship;
  if (!DecodeProtobuf(input, ship)) return;
  const std::string bytes = EncodeProtobuf(ship);
  toy::Ship again;
  CHECK(DecodeProtobuf(bytes, again).ok());
  CHECK(EncodeProtobuf(again) == bytes);
  CHECK(ParseJson(EncodeJson(ship), "encoded").ok());
}

}  // namespace berth::codec
