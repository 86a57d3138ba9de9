#include "codec/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/json.h"
#include "codec/testing/toy_schema.h"
#include "codec/yaml.h"

namespace berth::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using toy::Cargo;
using toy::Length;
using toy::Ship;

constexpr DecodeOptions kStrict{.strict = true};

// Each problem as "LINE:COL PATH: MESSAGE".
std::vector<std::string> Lines(const std::vector<Diagnostic>& problems) {
  std::vector<std::string> lines;
  for (const Diagnostic& problem : problems)
    lines.push_back(Where("", problem.where).substr(1) + " " + problem.ToString());
  return lines;
}

std::vector<std::string> Problems(std::string json, const DecodeOptions& options = kStrict) {
  Result<Document> document = ParseJson(std::move(json), "f");
  if (!document) return {document.error().message};
  Ship ship;
  std::vector<Diagnostic> problems;
  Decode(document->root(), ship, options, problems);
  return Lines(problems);
}

Ship FromYaml(std::string_view text, const DecodeOptions& options, std::vector<Diagnostic>& problems) {
  Result<std::vector<Document>> documents = ParseYaml(text, "f");
  EXPECT_TRUE(documents.ok()) << (documents.ok() ? "" : documents.error().message);
  Ship ship;
  Decode(documents->at(0).root(), ship, options, problems);
  return ship;
}

constexpr const char* kFullShip = R"({"name":"Aurora","flag":"PA","afloat":true,"crew":-12,"imo":-9074729000000000000,)"
                                  R"("decks":7,"serial":18446744073709551615,"draft":9.25,"length":"180m",)"
                                  R"("insured":false,"aliases":["A",""],"berths":[0,-1,2147483647],)"
                                  R"("holds":[{"kind":"grain","tons":0},{}],"notes":{"a":"1","b":""},)"
                                  R"("cranes":{"aft":"0m","fore":"20m"},"manifest":{"x":["p","q"],"y":[]},)"
                                  R"("deckCargo":{"d":{"kind":"cars"}},"mainCargo":{"kind":"ore"},"wharf":{},)"
                                  R"("barge":{"kind":"coal"},"tenders":[{"name":"T1","crew":1},{"name":""}],)"
                                  R"("port":"Hamburg"})";

TEST(Decode, FillsEveryKindOfField) {
  Result<Document> document = ParseJson(kFullShip, "f");
  ASSERT_TRUE(document.ok());
  Result<Ship> decoded = DecodeDocument<Ship>(*document, kStrict);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  const Ship& ship = *decoded;
  EXPECT_EQ(ship.name, "Aurora");
  EXPECT_EQ(ship.flag, Symbol("PA"));
  EXPECT_TRUE(ship.afloat);
  EXPECT_EQ(ship.crew, -12);
  EXPECT_EQ(ship.imo, -9074729000000000000);
  EXPECT_EQ(ship.serial, 18446744073709551615u);
  EXPECT_EQ(ship.draft, 9.25);
  EXPECT_EQ(ship.length, Length{180});
  EXPECT_EQ(ship.insured, std::optional<bool>(false));
  EXPECT_THAT(ship.berths, ElementsAre(0, -1, 2147483647));
  EXPECT_THAT(ship.holds, ElementsAre(Cargo{"grain", 0}, Cargo{}));
  EXPECT_EQ(ship.cranes, (base::FlatMap<Symbol, Length>{{Symbol("aft"), {0}}, {Symbol("fore"), {20}}}));
  EXPECT_EQ(ship.port, "Hamburg");
  ASSERT_NE(ship.source.wharf, nullptr);
  EXPECT_EQ(ship.source.barge->kind, "coal");
  ASSERT_EQ(ship.tenders.size(), 2u);
  EXPECT_EQ(ship.tenders[0]->crew, 1);
  EXPECT_EQ(EncodeJson(ship), kFullShip);
}

TEST(Decode, LeavesNullAndAbsentFieldsAtTheirDefaults) {
  EXPECT_THAT(Problems(R"({"name":null,"crew":null,"length":null,"insured":null,"holds":null,"notes":null,"wharf":null,
                           "mainCargo":null,"tenders":null})"),
              IsEmpty());
  EXPECT_THAT(Problems("null"), IsEmpty());
  std::vector<Diagnostic> problems;
  const Ship ship = FromYaml("aliases: [null, a]\nnotes: {k: null}\ntenders: [null]\nholds: [~]", kStrict, problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(ship.aliases, ElementsAre("", "a"));
  EXPECT_EQ(*ship.notes.Find("k"), "");
  ASSERT_EQ(ship.tenders.size(), 1u);
  EXPECT_EQ(ship.tenders[0], nullptr);
  EXPECT_THAT(ship.holds, ElementsAre(Cargo{}));
}

TEST(Decode, ReportsEveryProblemWithItsPathAndPlace) {
  EXPECT_THAT(
      Problems(R"({"name": 5,
  "flag": true, "afloat": "yes",
  "crew": 3000000000, "imo": 1.5, "decks": -1, "draft": "deep", "serial": 18446744073709551616,
  "length": "12 miles",
  "aliases": {}, "berths": [1, "two"], "holds": [{"kind": "x"}, {"tons": "1"}],
  "notes": {"a": 5}, "cranes": {"fore": 5}, "manifest": {"x": ["a", 1]},
  "wharf": [], "mainCargo": 7, "tenders": [{"tenders": [{"crew": null, "name": {}}]}]})"),
      ElementsAre("1:10 name: expected a string, found number 5", "2:11 flag: expected a string, found true",
                  "2:27 afloat: expected true or false, found string \"yes\"",
                  "3:11 crew: expected a 32-bit integer, found number 3000000000",
                  "3:30 imo: expected an integer, found number 1.5",
                  "3:44 decks: expected a non-negative 32-bit integer, found number -1",
                  "3:57 draft: expected a number, found string \"deep\"",
                  "3:75 serial: expected a non-negative integer, found number 18446744073709551616",
                  "4:13 length: expected a length like 12m, found string \"12 miles\"",
                  "5:14 aliases: expected a list, found an object",
                  "5:32 berths[1]: expected a 32-bit integer, found string \"two\"",
                  "5:74 holds[1].tons: expected a 32-bit integer, found string \"1\"",
                  "6:18 notes[a]: expected a string, found number 5",
                  "6:41 cranes[fore]: expected a length like 12m, found number 5",
                  "6:69 manifest[x][1]: expected a string, found number 1",
                  "7:12 wharf: expected an object, found a list", "7:29 mainCargo: expected an object, found number 7",
                  "7:80 tenders[0].tenders[0].name: expected a string, found an object"));
  EXPECT_THAT(Problems("[]"), ElementsAre("1:1 expected an object, found a list"));
}

TEST(Decode, StrictReportsUnknownAndDuplicateFields) {
  const std::string json = R"({"nam": "a", "Crew": 1, "holds": [{"weight": 5}],
    "name": "a", "name": "b", "notes": {"x": "1", "x": "2"}, "logbook": {"any": "thing"}, "bridge": 1, "zzz": 0})";
  EXPECT_THAT(Problems(json),
              ElementsAre("1:2 nam: unknown field, did you mean \"name\"?",
                          "1:14 Crew: unknown field, did you mean \"crew\"?", "1:36 holds[0].weight: unknown field",
                          "2:18 name: duplicate field", "2:51 notes[x]: duplicate key", "2:104 zzz: unknown field"));
  EXPECT_THAT(Problems(json, {.strict = false}), IsEmpty());
}

TEST(Decode, LenientTakesTheLastOfRepeatedFields) {
  std::vector<Diagnostic> problems;
  const Ship ship = FromYaml("name: a\nmainCargo: {kind: x}\nname: b\nmainCargo: {tons: 1}\n", {}, problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(ship.name, "b");
  EXPECT_EQ(ship.main_cargo, (Cargo{"", 1}));
}

TEST(Decode, StrictYamlReportsWhatAMergeKeyRepeats) {
  std::vector<Diagnostic> problems;
  FromYaml("logbook: &base {kind: a, tons: 1}\nmainCargo:\n  <<: *base\n  kind: b\n", kStrict, problems);
  EXPECT_THAT(Lines(problems), ElementsAre("4:3 mainCargo.kind: duplicate field"));
}

TEST(Decode, YamlModeTakesBareScalarsForStrings) {
  const char* const yaml = "name: 010\nflag: yes\naliases: [1.50, 1e7, 1234567.0, 0.00001, -5]\nnotes: {a: off}\n";
  std::vector<Diagnostic> problems;
  const Ship ship = FromYaml(yaml, {.strict = true, .yaml = true}, problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(ship.name, "8");
  EXPECT_EQ(ship.flag, Symbol("true"));
  EXPECT_THAT(ship.aliases, ElementsAre("1.5", "1e+07", "1.234567e+06", "1e-05", "-5"));
  EXPECT_EQ(*ship.notes.Find("a"), "false");

  FromYaml("name: 5\nflag: []\n", {.yaml = true}, problems);
  EXPECT_THAT(Lines(problems), ElementsAre("2:7 flag: expected a string, found a list"));
  problems.clear();
  FromYaml("name: 5\n", {}, problems);
  EXPECT_THAT(Lines(problems), ElementsAre("1:7 name: expected a string, found number 5"));
}

TEST(Decode, YamlModeTakesNamesInAnyCase) {
  std::vector<Diagnostic> problems;
  const Ship ship = FromYaml("NAME: a\nMainCargo: {Tons: 1}\n", {.strict = true, .yaml = true}, problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(ship.name, "a");
  EXPECT_EQ(ship.main_cargo, (Cargo{"", 1}));
  FromYaml("NAME: a\n", kStrict, problems);
  EXPECT_THAT(Lines(problems), ElementsAre(testing::HasSubstr("NAME: unknown field")));
}

TEST(Decode, YamlFloatsThatAreWholeFitIntegers) {
  std::vector<Diagnostic> problems;
  const Ship ship = FromYaml("crew: 1e3\nimo: 2.0\ndraft: 5\n", kStrict, problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(ship.crew, 1000);
  EXPECT_EQ(ship.imo, 2);
  EXPECT_EQ(ship.draft, 5.0);
}

TEST(Decode, DropsKeysThatTheTableSaysTo) {
  std::vector<Diagnostic> problems;
  const Ship ship = FromYaml("notes: {a: b, secret/x: {not: text}}\n", kStrict, problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(ship.notes, (base::FlatMap<std::string, std::string>{{"a", "b"}}));
}

TEST(Decode, MakesAnInlinedPointerOnlyForFieldsOfIts) {
  const std::vector<std::pair<std::string, bool>> cases = {
      {R"({"name":"a"})", false},
      {R"({"wharf":null,"bridge":5})", false},
      {R"({"name":"a","wharf":{"kind":"x"},"barge":{}})", true},
  };
  for (const auto& [json, has_source] : cases) {
    Result<Document> document = ParseJson(json, "f");
    ASSERT_TRUE(document.ok());
    Result<toy::Dock> dock = DecodeDocument<toy::Dock>(*document, kStrict);
    ASSERT_TRUE(dock.ok()) << dock.error().message;
    EXPECT_EQ(dock->source != nullptr, has_source) << json;
    if (has_source) {
      EXPECT_EQ(EncodeJson(*dock), json);
    }

    toy::Dock again;
    ASSERT_TRUE(DecodeProtobuf(EncodeProtobuf(*dock), again).ok());
    EXPECT_EQ(EncodeJson(again), EncodeJson(*dock));
  }
  toy::Dock dock;
  ASSERT_TRUE(DecodeProtobuf(std::string_view("\x12\x00", 2), dock).ok());
  EXPECT_EQ(dock.source, nullptr);
}

TEST(Decode, PutsTheGivenPathBeforeItsOwn) {
  Result<Document> document = ParseJson("{\"crew\": \"x\"}", "f");
  ASSERT_TRUE(document.ok());
  Ship ship;
  std::vector<Diagnostic> problems;
  Decode(document->root(), ship, kStrict, problems, "fleet.ships[3]");
  EXPECT_THAT(Lines(problems), ElementsAre("1:10 fleet.ships[3].crew: expected a 32-bit integer, found string \"x\""));
}

TEST(DecodeDocument, NamesFileLineAndFieldOfEveryProblem) {
  Result<Document> document = ParseJson("{\"crew\": \"x\",\n \"decks\": {}}", "ships/a.json");
  ASSERT_TRUE(document.ok());
  Result<Ship> ship = DecodeDocument<Ship>(*document, kStrict);
  ASSERT_FALSE(ship.ok());
  EXPECT_EQ(ship.error().message,
            "ships/a.json:1:10: crew: expected a 32-bit integer, found string \"x\"\n"
            "ships/a.json:2:11: decks: expected a non-negative 32-bit integer, found an object");
}

TEST(EncodeJson, LeavesOutWhatIsEmptyUnlessToldOtherwise) {
  EXPECT_EQ(EncodeJson(Ship{}), R"({"name":""})");
  Ship ship;
  ship.insured = false;
  ship.main_cargo.tons = 0;
  ship.source.wharf = std::make_unique<Cargo>();
  EXPECT_EQ(EncodeJson(ship), R"({"name":"","insured":false,"mainCargo":{"tons":0},"wharf":{}})");
}

}  // namespace
}  // namespace berth::codec
