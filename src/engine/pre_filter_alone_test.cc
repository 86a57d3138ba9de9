// A plugin with a PreFilter, a signature and no Filter cannot declare what its answer depends on. The lane asks it for
// every pod, so that it keeps no stale answer, whatever the plugin reads.
#include <gtest/gtest.h>

#include "engine/evaluator.h"
#include "engine/testing/scripted_plugins.h"
#include "engine/testing/world.h"
#include "testing/builders.h"

namespace berth::engine {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;
using framework::CycleState;
using framework::PodInfo;
using framework::Status;
using Kind = Evaluator::Decision::Kind;

enum class Mood { kPass, kSkip, kReject, kNarrow };

// Reads something that no change log records.
class Moody final : public testing::Named, public framework::PreFilterPlugin, public framework::SignPlugin {
 public:
  Moody(std::string name, const Mood* mood, size_t* asked) : Named(std::move(name)), mood_(mood), asked_(asked) {}

  framework::PreFilterResult PreFilter(CycleState&, const PodInfo&) const override {
    ++*asked_;
    framework::PreFilterResult result;
    if (*mood_ == Mood::kSkip) result.status = Status::Skip();
    if (*mood_ == Mood::kReject) result.status = Status::Unschedulable("not in the mood");
    if (*mood_ == Mood::kNarrow) result.node_names = {"n1"};
    return result;
  }
  bool Sign(const PodInfo&, framework::SignatureBuilder&) const override { return true; }

 private:
  const Mood* mood_;
  size_t* asked_;
};

class PreFilterAloneTest : public ::testing::Test {
 protected:
  PreFilterAloneTest() {
    testing::Add<Moody>(registry_, "Moody", &mood_, &asked_);
    for (const char* name : {"n1", "n2", "n3"}) {
      world_.cluster.UpsertNode(MakeNode(name).Capacity("cpu", "2").Shared());
    }
    profile_ = world_.MakeProfile(testing::ProfileOf({"Moody"}), registry_);
    evaluator_ = std::make_unique<Evaluator>(*profile_, world_.cluster, Evaluator::Options{.verify = true});
  }
  Kind Decide(const char* pod) { return evaluator_->Decide(*MakePod(pod).Info(), world_.random).kind; }

  Mood mood_ = Mood::kPass;
  size_t asked_ = 0;
  testing::World world_;
  framework::Registry registry_ = testing::MinimalRegistry();
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Evaluator> evaluator_;
};

TEST_F(PreFilterAloneTest, IsAskedForEveryPodAndNeverAnsweredFromMemory) {
  ASSERT_EQ(Decide("a"), Kind::kChosen);
  const size_t before = asked_;
  ASSERT_EQ(Decide("b"), Kind::kChosen);
  EXPECT_GT(asked_, before) << "the lane kept an answer";
  for (const Mood mood : {Mood::kReject, Mood::kNarrow}) {
    mood_ = mood;
    EXPECT_NE(Decide("c"), Kind::kChosen) << "chosen as if nothing had changed";
    mood_ = Mood::kPass;
    EXPECT_EQ(Decide("d"), Kind::kChosen);
    mood_ = Mood::kSkip;
    EXPECT_EQ(Decide("e"), Kind::kChosen);
    mood_ = Mood::kPass;
    EXPECT_EQ(Decide("f"), Kind::kChosen);
  }
}

}  // namespace
}  // namespace berth::engine
