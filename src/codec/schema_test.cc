#include "codec/schema.h"

#include <gtest/gtest.h>

#include "codec/toy_schema.h"

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

TEST(MessageDeathTest, RefusesTablesThatContradictThemselves) {
  using toy::Cargo;
  EXPECT_DEATH(MessageOf<Cargo>("C", {Field("a", 1, &Cargo::kind), Field("a", 2, &Cargo::tons)}), "share a JSON name");
  EXPECT_DEATH(MessageOf<Cargo>("C", {Field("a", 1, &Cargo::kind), Field("b", 1, &Cargo::tons)}), "protobuf number");
}

}  // namespace
}  // namespace berth::codec
