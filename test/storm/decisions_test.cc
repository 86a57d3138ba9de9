#include "storm/decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/write_bodies.h"
#include "scheduler/testing/driver_fixture.h"

namespace berth::storm {
namespace {

using berth::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// A driver whose turns are watched.
class DecisionsTest : public scheduler::testing::DriverTest {
 protected:
  void Turn() {
    decisions_.BeginTurn();
    StepAll();
    decisions_.EndTurn(*driver_);
  }
  void Deliver(api::Kind kind, uint64_t revision) { decisions_.NoteDelivery({kind, revision}); }
  static http::Request Binding(const std::string& name, const std::string& node) {
    return {.method = "POST",
            .path = "/api/v1/namespaces/default/pods/" + name + "/binding",
            .body = client::BindingJson(MakePod(name).Obj(), node)};
  }
  void Send(const std::string& name, const std::string& node) { decisions_.NoteRequest(Binding(name, node)); }

  std::vector<std::string> broken_;
  std::vector<SentBinding> sent_;
  Decisions decisions_{
      world_.clock,
      [this](std::string invariant, std::string, std::vector<std::string>) { broken_.push_back(std::move(invariant)); },
      [this](const SentBinding& binding) { sent_.push_back(binding); }};
};

TEST_F(DecisionsTest, WhatWasDeliveredATenthOfASecondBeforeIsKnown) {
  PutNode("n1", "4");
  Put(MakePod("web").Request("cpu", "1"));
  Deliver(api::Kind::kNode, 7);
  Deliver(api::Kind::kPod, 8);
  world_.clock.Advance(150ms);
  Deliver(api::Kind::kPod, 9);
  Turn();
  world_.clock.Advance(2s);
  Deliver(api::Kind::kNode, 20);
  Turn();
  Send("web", "n1");
  EXPECT_THAT(broken_, IsEmpty());
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].uid, "default/web");
  EXPECT_EQ(sent_[0].node, "n1");
  EXPECT_EQ(sent_[0].nodes_seen, 7U);
  EXPECT_EQ(sent_[0].pods_seen, 8U) << "9 may not have been read";
  EXPECT_EQ(sent_[0].age, 2s);
}

TEST_F(DecisionsTest, AnotherNodeThanTheChosenOneIsReported) {
  PutNode("n1", "4");
  Put(MakePod("web").Request("cpu", "1"));
  Turn();
  Send("web", "n2");
  EXPECT_THAT(broken_, ElementsAre("a pod is bound where it was decided"));
}

TEST_F(DecisionsTest, AnAttemptThatHasEndedBindsNothing) {
  PutNode("n1", "4");
  Put(MakePod("web").Request("cpu", "1"));
  Turn();
  Finish(0, framework::Status::Error("no"));
  Remove(MakePod("web").Request("cpu", "1"));
  Turn();
  Send("web", "n1");
  EXPECT_THAT(broken_, ElementsAre("a pod is bound where it was decided"));
}

TEST_F(DecisionsTest, ASuccessThatWasAnsweredIsKnownWhenThePodIsBoundAgain) {
  PutNode("n1", "4");
  Put(MakePod("web").Request("cpu", "1"));
  Deliver(api::Kind::kPod, 8);
  world_.clock.Advance(1s);
  Turn();
  Send("web", "n1");
  decisions_.NoteAnswer(Binding("web", "n1"), 504);
  Send("web", "n1");
  decisions_.NoteAnswer(Binding("web", "n1"), 201);
  Send("web", "n1");
  ASSERT_EQ(sent_.size(), 3U);
  EXPECT_EQ(sent_[0].bound_knowing, std::nullopt);
  EXPECT_EQ(sent_[1].bound_knowing, std::nullopt) << "a 504 says nothing";
  EXPECT_EQ(sent_[2].bound_knowing, 8U);
}

TEST_F(DecisionsTest, APodThatThePictureHasAsBoundIsNotBoundAgain) {
  PutNode("n1", "4");
  Put(MakePod("web").Request("cpu", "1").Node("n1"));
  Turn();
  Remove(MakePod("web").Request("cpu", "1"));
  Put(MakePod("web").Request("cpu", "1"));
  Turn();
  Send("web", "n1");
  EXPECT_THAT(broken_, ElementsAre("no pod is bound twice"));
}

}  // namespace
}  // namespace berth::storm
