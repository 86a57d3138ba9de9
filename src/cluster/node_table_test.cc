#include "cluster/node_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "cluster/cluster.h"
#include "cluster/testing/picture.h"
#include "testing/builders.h"

namespace berth::cluster {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using framework::LabelColumn;
using ::testing::ElementsAre;
using testing::FirstDisagreement;

TEST(NodeTable, AnIndexIsStableAndReusedAfterwards) {
  NodeTable table;
  EXPECT_TRUE(table.Upsert(MakeNode("a").Shared()));
  EXPECT_TRUE(table.Upsert(MakeNode("b").Shared()));
  EXPECT_TRUE(table.Upsert(MakeNode("c").Shared()));
  EXPECT_FALSE(table.Upsert(MakeNode("b").Label("zone", "x").Shared()));
  const framework::NodeIndex b = table.Find("b")->index();
  EXPECT_EQ(table.Remove("b")->name(), "b");
  EXPECT_EQ(table.Remove("b"), nullptr);
  EXPECT_EQ(table.Find("b"), nullptr);
  EXPECT_EQ(table.columns().live[b], 0);
  EXPECT_EQ(table.nodes().size(), 2u);
  table.Upsert(MakeNode("d").Shared());
  EXPECT_EQ(table.Find("d")->index(), b);
  EXPECT_EQ(table.columns().size(), 3u);
  EXPECT_EQ(table.row(b).name(), "d");
}

// The order decides ties, and a restored table has only the indices to go by.
TEST(NodeTable, NodesStandInTheOrderOfTheirIndicesAndTheLowestFreeOneIsTakenFirst) {
  NodeTable table;
  const auto names = [&] {
    std::string text;
    for (const framework::NodeInfo* node : table.nodes()) text += node->name() + std::to_string(node->index()) + " ";
    return text;
  };
  for (const char* name : {"a", "b", "c", "d", "e"}) table.Upsert(MakeNode(name).Shared());
  table.Remove("d");
  table.Remove("b");
  EXPECT_EQ(names(), "a0 c2 e4 ");
  table.Upsert(MakeNode("f").Shared());
  table.Upsert(MakeNode("g").Shared());
  EXPECT_EQ(names(), "a0 f1 c2 g3 e4 ");

  NodeTable again;
  for (const framework::NodeIndex index : {4, 0, 2}) {
    again.Insert(table.row(index).shared_node(), index);
  }
  EXPECT_EQ(again.nodes().size(), 3u);
  again.Upsert(MakeNode("h").Shared());
  EXPECT_EQ(again.Find("h")->index(), 1u);
  EXPECT_EQ(again.nodes()[1]->name(), "h");
}

TEST(NodeTable, ANewTenantOfAnIndexInheritsNothing) {
  NodeTable table;
  const Symbol zone("zone");
  table.label_column(zone);
  table.Upsert(MakeNode("a").Capacity("cpu", "4").Label("zone", "x").Taint("gpu").Unschedulable().Shared());
  table.Remove("a");
  table.Upsert(MakeNode("b").Shared());
  ASSERT_EQ(table.Find("b")->index(), 0u);
  EXPECT_EQ(table.columns().allocatable_milli_cpu[0], 0);
  EXPECT_EQ(table.columns().unschedulable[0], 0);
  EXPECT_TRUE(table.columns().taint_sets[table.columns().taint_set[0]].empty());
  EXPECT_EQ(table.label_column(zone).value_id[0], LabelColumn::kAbsent);
}

TEST(NodeTable, EqualLabelValuesHaveEqualIds) {
  NodeTable table;
  const Symbol zone("zone");
  table.Upsert(MakeNode("a").Label("zone", "x").Shared());
  table.Upsert(MakeNode("b").Label("zone", "y").Shared());
  const LabelColumn& column = table.label_column(zone);
  table.Upsert(MakeNode("c").Label("zone", "x").Shared());
  table.Upsert(MakeNode("d").Shared());
  EXPECT_EQ(&table.label_column(zone), &column) << "made once";
  EXPECT_EQ(column.value_id[0], column.value_id[2]);
  EXPECT_NE(column.value_id[0], column.value_id[1]);
  EXPECT_EQ(column.value_id[3], LabelColumn::kAbsent);
}

TEST(NodeTable, ValueIdsStayDenseWhileLabelsChurn) {
  NodeTable table;
  const Symbol zone("zone");
  table.label_column(zone);
  for (int i = 0; i < 100; ++i) {
    table.Upsert(MakeNode("a").Label("zone", "z" + std::to_string(i)).Shared());
    const LabelColumn& column = table.label_column(zone);
    EXPECT_EQ(column.values[column.value_id[0]].str(), "z" + std::to_string(i));
  }
  EXPECT_LE(table.label_column(zone).values.size(), 2u);
}

TEST(NodeTable, EqualTaintsAreKeptOnce) {
  NodeTable table;
  for (int i = 0; i < 10; ++i) {
    table.Upsert(MakeNode("n" + std::to_string(i)).Taint("pool", i % 2 ? "gpu" : "cpu").Shared());
  }
  const framework::NodeColumns& columns = table.columns();
  EXPECT_EQ(columns.taint_sets.size(), 2u);
  EXPECT_EQ(columns.taint_set[0], columns.taint_set[8]);
  EXPECT_NE(columns.taint_set[0], columns.taint_set[1]);
  for (int i = 0; i < 50; ++i) table.Upsert(MakeNode("n0").Taint("pool", std::to_string(i)).Shared());
  EXPECT_LE(columns.taint_sets.size(), 4u) << "sets that nobody has any more are used again";
}

TEST(NodeTable, TaintsThatDifferInEffectAreDifferent) {
  NodeTable table;
  table.Upsert(MakeNode("a").Taint("k", "v", "NoSchedule").Shared());
  table.Upsert(MakeNode("b").Taint("k", "v", "NoExecute").Shared());
  EXPECT_NE(table.columns().taint_set[0], table.columns().taint_set[1]);
}

// Reads the log as "node", "node+pod" or "node-pod".
std::vector<std::string> Since(const ChangeLog& log, ChangeLog::Cursor cursor) {
  std::vector<std::string> changes;
  for (; cursor < log.end(); ++cursor) {
    const Change& change = log.at(cursor);
    changes.push_back(std::to_string(change.node));
    if (change.pod) changes.back() += (change.sign > 0 ? "+" : "-") + change.pod->name();
  }
  return changes;
}

TEST(ChangeLog, TellsWhatChangedSince) {
  ChangeLog log(3);
  EXPECT_TRUE(log.Knows(0));
  log.Append({7, nullptr, 0});
  log.Append({8, MakePod("p").Info(), -1});
  EXPECT_TRUE(log.Knows(0));
  EXPECT_THAT(Since(log, 0), ElementsAre("7", "8-p"));
  EXPECT_THAT(Since(log, 1), ElementsAre("8-p"));
  EXPECT_TRUE(log.Knows(log.end()));
}

TEST(ChangeLog, ForgetsWhatIsTooLongAgo) {
  ChangeLog log(3);
  for (framework::NodeIndex i = 0; i < 5; ++i) log.Append({i, nullptr, 0});
  EXPECT_FALSE(log.Knows(0));
  EXPECT_FALSE(log.Knows(1));
  ASSERT_TRUE(log.Knows(2));
  EXPECT_THAT(Since(log, 2), ElementsAre("2", "3", "4"));
}

TEST(NodeTable, EveryChangeIsLogged) {
  NodeTable table;
  const auto changes_of = [&](auto&& change) {
    const ChangeLog::Cursor cursor = table.changes().end();
    change();
    return Since(table.changes(), cursor);
  };
  const framework::PodInfoPtr pod = MakePod("p").Info();
  table.Upsert(MakeNode("a").Shared());
  EXPECT_THAT(changes_of([&] { table.Upsert(MakeNode("b").Shared()); }), ElementsAre("1"));
  EXPECT_THAT(changes_of([&] { table.Upsert(MakeNode("a").Label("x", "y").Shared()); }), ElementsAre("0"));
  EXPECT_THAT(changes_of([&] { table.AddPod(1, pod); }), ElementsAre("1+p"));
  EXPECT_THAT(changes_of([&] { table.RemovePod(1, pod); }), ElementsAre("1-p"));
  EXPECT_THAT(changes_of([&] { table.Remove("b"); }), ElementsAre("1"));
  EXPECT_THAT(changes_of([&] { (void)table.label_column(Symbol("x")); }), ElementsAre());
}

// The invariant from the header, after any sequence of changes.
TEST(NodeTable, ColumnsSayWhatRowsSayAfterAnyHistory) {
  const config::FeatureGates gates;
  const std::vector<Symbol> keys{Symbol("zone"), Symbol("disk")};
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    base::Random random(seed);
    Cluster cluster(gates);
    for (int step = 0; step < 300; ++step) {
      const std::string node = "n" + std::to_string(random.Below(8));
      const std::string pod = "p" + std::to_string(random.Below(20));
      switch (random.Below(6)) {
        case 0:
        case 1: {
          auto builder = MakeNode(node).Capacity("cpu", std::to_string(1 + random.Below(8)));
          if (random.Below(2)) builder.Label("zone", "z" + std::to_string(random.Below(4)));
          if (random.Below(2)) builder.Label("disk", random.Below(2) ? "ssd" : "hdd");
          if (random.Below(3) == 0) builder.Taint("t", std::to_string(random.Below(3)));
          cluster.UpsertNode(builder.Unschedulable(random.Below(4) == 0).Shared());
          break;
        }
        case 2:
          cluster.RemoveNode(node);
          break;
        case 3:
        case 4: {
          auto builder = MakePod(pod).Request("cpu", std::to_string(100 * random.Below(10)) + "m").Node(node);
          if (random.Below(3) == 0) builder.PodAntiAffinity("zone", {{"a", "b"}});
          cluster.UpsertPod(builder.Shared());
          break;
        }
        default:
          cluster.RemovePod("default/" + pod);
      }
      ASSERT_EQ(FirstDisagreement(cluster, keys), "") << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace berth::cluster
