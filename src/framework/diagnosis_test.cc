#include "framework/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FitErrorMessage, CountsReasonsAndSortsThemAsText) {
  Diagnosis diagnosis;
  for (int i = 0; i < 10; ++i) {
    diagnosis.node_to_status.Set(10 + i, Status::Unschedulable("Insufficient cpu"));
  }
  diagnosis.node_to_status.Set(1, Status(Code::kUnschedulable, {"Insufficient cpu", "Insufficient memory"}));
  diagnosis.node_to_status.Set(2, Status::UnschedulableAndUnresolvable("node(s) were unschedulable"));
  diagnosis.node_to_status.Set(3, Status::UnschedulableAndUnresolvable("node(s) were unschedulable"));
  EXPECT_EQ(FitErrorMessage(diagnosis, 13),
            "0/13 nodes are available: 1 Insufficient memory, 11 Insufficient cpu, 2 node(s) were unschedulable.");
  diagnosis.post_filter_message = "preemption: no luck";
  EXPECT_EQ(FitErrorMessage(diagnosis, 13),
            "0/13 nodes are available: 1 Insufficient memory, 11 Insufficient cpu, 2 node(s) were unschedulable. "
            "preemption: no luck");
}

TEST(FitErrorMessage, AbsentNodesShareOneStatus) {
  Diagnosis diagnosis;
  diagnosis.node_to_status.Set(0, Status::Unschedulable("full"));
  EXPECT_EQ(FitErrorMessage(diagnosis, 5), "0/5 nodes are available: 1 full.") << "without reasons by default";
  diagnosis.node_to_status.SetAbsent(Status::UnschedulableAndUnresolvable("didn't match"));
  EXPECT_EQ(FitErrorMessage(diagnosis, 5), "0/5 nodes are available: 1 full, 4 didn't match.");
  EXPECT_EQ(FitErrorMessage(diagnosis, 1), "0/1 nodes are available: 1 full.");
}

TEST(FitErrorMessage, PreFilterMessageStandsAlone) {
  Diagnosis diagnosis;
  EXPECT_EQ(FitErrorMessage(diagnosis, 2), "0/2 nodes are available:");
  diagnosis.pre_filter_message = "no such claim";
  diagnosis.node_to_status.SetAbsent(Status::UnschedulableAndUnresolvable("no such claim"));
  EXPECT_EQ(FitErrorMessage(diagnosis, 2), "0/2 nodes are available: no such claim.");
  diagnosis.post_filter_message = "preemption: not helpful";
  EXPECT_EQ(FitErrorMessage(diagnosis, 2), "0/2 nodes are available: no such claim. preemption: not helpful");
}

TEST(NodeToStatus, AbsentNodesCannotBeHelpedByDefault) {
  NodeToStatus statuses;
  statuses.Set(0, Status::Unschedulable("full"));
  EXPECT_EQ(statuses.Get(0).code(), Code::kUnschedulable);
  EXPECT_EQ(statuses.Get(1).code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_THAT(statuses.absent().reasons(), IsEmpty());
  EXPECT_TRUE(statuses.IsExplicit(0));
  EXPECT_FALSE(statuses.IsExplicit(1));
}

TEST(NodeToStatus, ASecondVerdictReplacesTheFirst) {
  NodeToStatus statuses;
  const Status full = Status::Unschedulable("full");
  for (NodeIndex node : {4, 2, 7}) statuses.Set(node, full);
  EXPECT_EQ(statuses.groups().size(), 1u) << "one object, one group";
  statuses.Set(2, Status::Unschedulable("tainted"));
  EXPECT_EQ(statuses.Get(2).Message(), "tainted");
  EXPECT_EQ(statuses.explicit_count(), 3u);
  Diagnosis diagnosis;
  diagnosis.node_to_status = statuses;
  EXPECT_EQ(FitErrorMessage(diagnosis, 3), "0/3 nodes are available: 1 tainted, 2 full.");
  for (NodeIndex node : {4, 7}) diagnosis.node_to_status.Set(node, Status::Unschedulable("gone"));
  EXPECT_EQ(FitErrorMessage(diagnosis, 3), "0/3 nodes are available: 1 tainted, 2 gone.");
}

TEST(Diagnosis, NotesThePluginsOfRejections) {
  Diagnosis diagnosis;
  diagnosis.AddPluginStatus(Status::Unschedulable("x").WithPlugin("Fit"));
  diagnosis.AddPluginStatus(Status::UnschedulableAndUnresolvable("x").WithPlugin("Affinity"));
  diagnosis.AddPluginStatus(Status::Pending("x").WithPlugin("Claims"));
  diagnosis.AddPluginStatus(Status::Unschedulable("nobody's"));
  diagnosis.AddPluginStatus(Status::Error("x").WithPlugin("Broken"));
  diagnosis.AddPluginStatus(Status::Success());
  EXPECT_THAT(diagnosis.unschedulable_plugins, ElementsAre("Affinity", "Claims", "Fit"));
  EXPECT_THAT(diagnosis.pending_plugins, ElementsAre("Claims"));
}

}  // namespace
}  // namespace berth::framework
