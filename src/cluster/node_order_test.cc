#include "cluster/node_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "cluster/node_table.h"
#include "testing/builders.h"

namespace berth::cluster {
namespace {

using berth::testing::MakeNode;
using ::testing::ElementsAre;

std::shared_ptr<const api::Node> InZone(const std::string& name, const std::string& zone) {
  auto node = MakeNode(name);
  if (!zone.empty()) node.Label("topology.kubernetes.io/zone", zone);
  return node.Shared();
}

std::vector<std::string> NamesInOrder(const NodeTable& table) {
  std::vector<std::string> names;
  for (const framework::NodeInfo* node : table.nodes_in_order()) names.push_back(node->name());
  return names;
}

TEST(NodeOrder, TakesZonesInTurn) {
  NodeTable table;
  for (const char* name : {"a1", "a2", "a3", "b1", "c1", "c2"}) table.Upsert(InZone(name, std::string(1, name[0])));
  EXPECT_THAT(NamesInOrder(table), ElementsAre("a1", "b1", "c1", "a2", "c2", "a3"));
  table.Remove("b1");
  table.Upsert(InZone("b1", "b"));
  EXPECT_THAT(NamesInOrder(table), ElementsAre("a1", "c1", "b1", "a2", "c2", "a3")) << "its zone is new again";
}

TEST(NodeOrder, TheDeprecatedLabelsComeFirstAndRegionsTellZonesApart) {
  NodeTable table;
  table.Upsert(MakeNode("old")
                   .Label("failure-domain.beta.kubernetes.io/zone", "x")
                   .Label("topology.kubernetes.io/zone", "y")
                   .Shared());
  table.Upsert(InZone("x", "x"));
  table.Upsert(InZone("y", "y"));
  table.Upsert(
      MakeNode("far").Label("topology.kubernetes.io/region", "r").Label("topology.kubernetes.io/zone", "y").Shared());
  EXPECT_THAT(NamesInOrder(table), ElementsAre("old", "y", "far", "x"));
}

TEST(NodeOrder, AZoneThatChangesShowsWhenTheNextNodeComes) {
  NodeTable table;
  for (const char* name : {"a1", "a2", "b1"}) table.Upsert(InZone(name, std::string(1, name[0])));
  EXPECT_THAT(NamesInOrder(table), ElementsAre("a1", "b1", "a2"));
  table.Upsert(InZone("a1", "b"));
  EXPECT_THAT(NamesInOrder(table), ElementsAre("a1", "b1", "a2"));
  table.Upsert(InZone("c1", "c"));
  EXPECT_THAT(NamesInOrder(table), ElementsAre("a2", "b1", "c1", "a1"));
}

// The slow reference: lists of names by zone, walked through in turn.
struct ListedZones {
  std::vector<std::pair<std::string, std::vector<std::string>>> zones;

  void Add(const std::string& zone, const std::string& name) {
    auto it = std::ranges::find(zones, zone, [](const auto& entry) { return entry.first; });
    if (it == zones.end()) it = zones.insert(zones.end(), {zone, {}});
    it->second.push_back(name);
  }
  void Remove(const std::string& name) {
    for (auto& [zone, names] : zones) std::erase(names, name);
    std::erase_if(zones, [](const auto& entry) { return entry.second.empty(); });
  }
  std::vector<std::string> List() const {
    std::vector<std::string> all;
    bool more = true;
    for (size_t turn = 0; std::exchange(more, false); ++turn) {
      for (const auto& [zone, names] : zones) {
        if (turn < names.size()) all.push_back(names[turn]);
        more |= turn + 1 < names.size();
      }
    }
    return all;
  }
};

TEST(NodeOrder, IsThatOfItsTwin) {
  base::Random random(7);
  NodeTable table;
  ListedZones twin;
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) {
    if (!names.empty() && random.Below(3) == 0) {
      const size_t which = random.Below(names.size());
      table.Remove(names[which]);
      twin.Remove(names[which]);
      names.erase(names.begin() + static_cast<ptrdiff_t>(which));
    } else if (names.size() < 40) {
      names.push_back("n" + std::to_string(i));
      const std::string zone = std::to_string(random.Below(6));
      table.Upsert(InZone(names.back(), zone));
      twin.Add(zone, names.back());
    }
    ASSERT_EQ(NamesInOrder(table), twin.List()) << i;
  }
}

}  // namespace
}  // namespace berth::cluster
