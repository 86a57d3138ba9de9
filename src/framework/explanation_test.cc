#include "framework/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/label_text.h"
#include "testing/builders.h"

namespace berth::framework {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using ::testing::IsEmpty;

TEST(Finding, IsWordedFromItsPartsWithoutAText) {
  EXPECT_EQ((Finding{"fuel", "5", "2", ""}.Text()), "asks for fuel 5, has 2");
  EXPECT_EQ((Finding{"fuel", "5", "", ""}.Text()), "asks for fuel 5, has none");
  EXPECT_EQ((Finding{"a licence", "", "", ""}.Text()), "asks for a licence, has none");
  EXPECT_EQ((Finding{"fuel", "5", "2", "needs three more"}.Text()), "needs three more");
}

TEST(Remedy, LeavesWhatItWasMadeFromAlone) {
  const auto pod = MakePod("p").Shared();
  const auto node = MakeNode("n").Shared();
  const Remedy nothing(pod, node);
  Remedy remedy = nothing;
  remedy.ChangePod({"label a pod", "pod", 0.5},
                   [](api::Pod& changed) { changed.metadata.labels.Set(Symbol("a"), Symbol("b")); });
  remedy.ChangeNode({"cordon", "cordon"}, [](api::Node& changed) { changed.spec.unschedulable = true; });
  remedy.ChangeObjects({"make a class", "class"}, [](Objects& objects) {
    objects.storage_classes.Upsert(std::make_shared<const api::StorageClass>(berth::testing::MakeStorageClass("new")));
  });
  EXPECT_TRUE(remedy.pod()->metadata.labels.Contains(Symbol("a")));
  EXPECT_TRUE(remedy.node()->spec.unschedulable);
  EXPECT_DOUBLE_EQ(remedy.cost(), 2.5);
  Objects objects;
  remedy.ApplyTo(objects);
  EXPECT_NE(objects.storage_classes.Find("new"), nullptr);

  EXPECT_EQ(nothing.pod(), pod);
  EXPECT_EQ(nothing.node(), node);
  EXPECT_FALSE(node->spec.unschedulable);
  EXPECT_THAT(nothing.steps(), IsEmpty());
  EXPECT_FALSE(nothing.changes_pod() || nothing.changes_node() || nothing.changes_objects());
}

TEST(RejectionExplainer, TellsByDefaultWhatTheStatusCarries) {
  const NodeInfo node = MakeNode("n").Capacity("cpu", "4").Info({MakePod("a").Request("cpu", "3").Info()});
  const Status status(Code::kUnschedulable, {"Insufficient cpu"}, {{CpuName(), 2000, 3000, 4000}});
  const std::vector<Finding> findings = RejectionExplainer().Findings(status, node);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].Text(), "needs 2 cpu, 1 free of 4; 3 held by default/a");
  EXPECT_THAT(RejectionExplainer().Findings(Status::Unschedulable("no"), node), IsEmpty());
  EXPECT_THAT(RejectionExplainer().Remedies(node, Remedy(nullptr, nullptr)), IsEmpty());
}

}  // namespace
}  // namespace berth::framework
