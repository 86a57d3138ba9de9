#include "preemption/extenders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace berth::preemption {
namespace {

using berth::testing::MakePod;
using framework::PreemptionCandidate;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Candidates = std::vector<PreemptionCandidate>;

class Scripted final : public framework::PreemptionExtender {
 public:
  using Answer = std::function<Result<Candidates>(Candidates)>;
  Scripted(Answer answer, bool ignorable) : answer_(std::move(answer)), ignorable_(ignorable) {}

  std::string_view name() const override { return "scripted"; }
  bool IsInterested(const framework::PodInfo& pod) const override { return pod.name() == "p"; }
  bool IsIgnorable() const override { return ignorable_; }
  bool SupportsPreemption() const override { return answer_ != nullptr; }
  Result<Candidates> ProcessPreemption(const framework::PodInfo&, std::span<const PreemptionCandidate> candidates,
                                       const framework::ClusterView&) override {
    return answer_({candidates.begin(), candidates.end()});
  }

 private:
  const Answer answer_;
  const bool ignorable_;
};

Scripted::Answer Strike(std::string node) {
  return [node](Candidates candidates) -> Result<Candidates> {
    std::erase_if(candidates, [&](const PreemptionCandidate& candidate) { return candidate.node_name == node; });
    return candidates;
  };
}

Scripted::Answer SpareAllOn(std::string node) {
  return [node](Candidates candidates) -> Result<Candidates> {
    for (PreemptionCandidate& candidate : candidates) {
      if (candidate.node_name == node) candidate.victims.pods.clear();
    }
    return candidates;
  };
}

Scripted::Answer Fail() {
  return [](Candidates) -> Result<Candidates> { return Error::Unavailable("down"); };
}

class ExtendersTest : public ::testing::Test {
 protected:
  // The names of those left of n1, n2 and n3, or the error.
  std::vector<std::string> Ask(std::vector<Scripted> extenders, std::string_view pod = "p") {
    Candidates candidates;
    for (const char* name : {"n1", "n2", "n3"}) candidates.push_back({name, {.pods = {MakePod("victim").Info()}}});
    std::vector<framework::PreemptionExtender*> list;
    for (Scripted& extender : extenders) list.push_back(&extender);
    const auto left = AskExtenders(list, *MakePod(pod).Info(), std::move(candidates), handle_.cluster());
    if (!left) return {left.error().message};
    std::vector<std::string> names;
    for (const PreemptionCandidate& candidate : *left) names.push_back(candidate.node_name);
    return names;
  }

  const berth::testing::FakeHandle handle_;
};

TEST_F(ExtendersTest, EachSeesWhatTheOnesBeforeLeft) {
  EXPECT_THAT(Ask({}), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(Ask({{Strike("n1"), false}, {Strike("n3"), false}}), ElementsAre("n2"));
  EXPECT_THAT(Ask({{Strike("n1"), false}, {nullptr, false}}), ElementsAre("n2", "n3"));
  EXPECT_THAT(Ask({{Strike("n1"), false}}, "other"), ElementsAre("n1", "n2", "n3")) << "nobody is interested";
  EXPECT_THAT(Ask({{Strike("n1"), false}, {Strike("n2"), false}, {Strike("n3"), false}, {Fail(), false}}), IsEmpty())
      << "the last has nothing to be asked about";
}

TEST_F(ExtendersTest, TroubleWithOneThatMayBeIgnoredIsNone) {
  EXPECT_THAT(Ask({{Fail(), false}, {Strike("n1"), false}}), ElementsAre("down"));
  EXPECT_THAT(Ask({{Fail(), true}, {Strike("n1"), false}}), ElementsAre("n2", "n3"));
  EXPECT_THAT(Ask({{SpareAllOn("n2"), false}}), ElementsAre("expected at least one victim pod on node \"n2\""));
  EXPECT_THAT(Ask({{SpareAllOn("n2"), true}}), ElementsAre("n1", "n3"));
}

TEST_F(ExtendersTest, OnlyThoseWithAVerbAndAnInterestHaveASay) {
  Scripted silent(nullptr, false);
  Scripted strict(Strike("n1"), false);
  framework::PreemptionExtender* const only_silent[] = {&silent};
  framework::PreemptionExtender* const both[] = {&silent, &strict};
  EXPECT_FALSE(AnyHasASay(only_silent, *MakePod("p").Info()));
  EXPECT_TRUE(AnyHasASay(both, *MakePod("p").Info()));
  EXPECT_FALSE(AnyHasASay(both, *MakePod("other").Info()));
}

}  // namespace
}  // namespace berth::preemption
