#include "framework/node_to_status.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace berth::framework {
namespace {

Status Reason(unsigned number) { return Status::Unschedulable("reason " + std::to_string(number)); }

TEST(NodeToStatus, NodesWithoutAStatusOfTheirOwnShareOne) {
  NodeToStatus statuses;
  statuses.SetAbsent(Reason(7));
  statuses.Set(2, Reason(1));
  EXPECT_EQ(statuses.Get(0), Reason(7));
  EXPECT_EQ(statuses.Get(2), Reason(1));
  EXPECT_EQ(statuses.Get(1000), Reason(7));
  EXPECT_EQ(statuses.explicit_count(), 1u);
}

// Shared and copied assignments behave the same, however many nodes get another status afterwards; and the owner of the
// shared vector sees no change.
TEST(NodeToStatus, SharedGroupsAreLikeCopiedOnes) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto shared = std::make_shared<std::vector<uint8_t>>();
    std::vector<NodeToStatus::Group> groups = {{Reason(0), 0}, {Reason(1), 0}, {Reason(2), 0}};
    for (int node = 0; node < 40; ++node) {
      shared->push_back(static_cast<uint8_t>(random() % 4));
      if (shared->back() != 0) ++groups[shared->back() - 1].nodes;
    }
    const std::vector<uint8_t> before = *shared;
    NodeToStatus mine;
    mine.Assign(shared, groups);
    NodeToStatus twin;
    twin.Assign(std::vector<NodeToStatus::GroupId>(before.begin(), before.end()), groups);
    for (int step = 0; step < 30; ++step) {
      for (NodeIndex node = 0; node < 50; ++node) {
        ASSERT_EQ(mine.IsExplicit(node), twin.IsExplicit(node));
        ASSERT_EQ(mine.Get(node), twin.Get(node));
      }
      ASSERT_EQ(mine.explicit_count(), twin.explicit_count());
      ASSERT_EQ(mine.groups().size(), twin.groups().size());
      for (size_t i = 0; i < mine.groups().size(); ++i) ASSERT_EQ(mine.groups()[i].nodes, twin.groups()[i].nodes);
      const auto node = static_cast<NodeIndex>(random() % 45);
      const Status status = Reason(static_cast<unsigned>(random() % 5));
      mine.Set(node, status);
      twin.Set(node, status);
    }
    EXPECT_EQ(*shared, before);
  }
}

}  // namespace
}  // namespace berth::framework
