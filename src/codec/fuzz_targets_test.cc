#include "codec/testing/fuzz_targets.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::codec {
namespace {

constexpr const char* kJson =
    R"({"name":"Aur\u00f6ra\n","flag":"PA","crew":-12,"draft":9.25e1,"length":"180m","insured":false,)"
    R"("aliases":["A",""],"holds":[{"kind":"grain","tons":0},{}],"notes":{"a":"1","a":null},"cranes":{"aft":"1m"},)"
    R"("manifest":{"x":["p"]},"wharf":{},"tenders":[{"name":"T1","tenders":[{"unknown":[[{}]]}]}]})";

constexpr const char* kYaml = R"(# a ship
name: "Aur\u00f6ra"
crew: 0x10
draft: 1_0.5e1
base: &base {kind: grain, ? tons : !!int "5"}
holds:
- <<: *base
  kind: 'it''s'
- *base
notes:
  folded: >-
    one
    two

  literal: |+
    three

tenders: [{name: yes}, ~]
---
- off
...
)";

// A few edits of the sort that break parsers: bytes changed, cut out, doubled, moved.
std::string Mutated(std::string text, base::Random& random) {
  static constexpr std::string_view kSpicy = "\xff\x80\"'\\{}[]:,-&*!|>%#\n\t 0e\x01~<";
  for (uint64_t edits = 1 + random.Below(6); edits > 0 && !text.empty(); --edits) {
    const size_t at = random.Below(text.size());
    const size_t length = 1 + random.Below(12);
    switch (random.Below(6)) {
      case 0:
        text[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        text[at] = kSpicy[random.Below(kSpicy.size())];
        break;
      case 2:
        text.insert(at, 1, kSpicy[random.Below(kSpicy.size())]);
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(random.Below(text.size() + 1), text.substr(at, length * 4));
        break;
      case 5:
        text.resize(at);
        break;
    }
  }
  return text;
}

void RunMutations(const std::string& seed_text, void (*target)(std::string_view)) {
  base::Random random(20240601);
  target(seed_text);
  for (int i = 0; i < 600; ++i) target(Mutated(seed_text, random));
}

TEST(FuzzTargets, JsonSurvivesMutations) { RunMutations(kJson, &FuzzJson); }

TEST(FuzzTargets, YamlSurvivesMutations) {
  RunMutations(kYaml, &FuzzYaml);
  RunMutations(kJson, &FuzzYaml);
}

TEST(FuzzTargets, ProtobufSurvivesMutations) {
  const Result<Document> document = ParseJson(kJson, "seed");
  ASSERT_TRUE(document.ok());
  toy::Ship ship;
  std::vector<Diagnostic> problems;
  Decode(document->root(), ship, {}, problems);
  RunMutations(EncodeProtobuf(ship), &FuzzProtobuf);
}

}  // namespace
}  // namespace berth::codec
