#include "licences.h"

#include <berth/testing.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace example {
namespace {

using berth::Error;
using berth::api::CustomObject;
using berth::framework::CycleState;
using berth::framework::EventResource;
using berth::framework::ObjectCall;
using berth::framework::PodInfoPtr;
using berth::framework::QueueingHint;
using berth::testing::AskHint;
using berth::testing::FakeHandle;
using berth::testing::MakePlugin;
using berth::testing::MakePod;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LicencesTest : public ::testing::Test {
 protected:
  LicencesTest() : plugin(MakePlugin<Licences>(handle)) {
    for (const auto& [number, watched] : handle.custom_objects().watched()) {
      (watched.resource.resource == "licencepools" ? pools : grants) = number;
    }
  }

  static PodInfoPtr PodOf(const char* name, const char* licence) {
    return MakePod(name).Label("example.com/licence", licence).Info();
  }
  static CustomObject ObjectOf(const std::string& name_space, const std::string& name, const std::string& json) {
    CustomObject object;
    object.metadata.name = name;
    object.metadata.namespace_ = berth::Symbol(name_space);
    object.json = json;
    return object;
  }
  void AddPool(const char* name, int seats) {
    handle.AddCustom(pools, ObjectOf("", name, R"({"spec":{"seats":)" + std::to_string(seats) + "}}"));
  }
  void AddGrant(const char* pod, const std::string& pool) {
    handle.AddCustom(grants,
                     ObjectOf("default", std::string(pod) + "-licence", R"({"spec":{"pool":")" + pool + R"("}})"));
  }
  std::string Verdict(const PodInfoPtr& pod) { return plugin->PreFilter(state, *pod).status.Message(); }

  FakeHandle handle;
  CycleState state;
  std::unique_ptr<Licences> plugin;
  EventResource pools{};
  EventResource grants{};
};

TEST_F(LicencesTest, PodsWithoutALicenceAreNoneOfItsBusiness) {
  EXPECT_TRUE(plugin->PreFilter(state, *MakePod("p").Info()).status.IsSkip());
}

TEST_F(LicencesTest, SeatsAreCounted) {
  EXPECT_THAT(Verdict(PodOf("a", "solver")), HasSubstr("there is no licence pool solver"));
  AddPool("solver", 2);
  EXPECT_EQ(Verdict(PodOf("a", "solver")), "");
  AddGrant("a", "solver");
  AddGrant("z", "other");
  EXPECT_EQ(Verdict(PodOf("b", "solver")), "");
  ASSERT_TRUE(plugin->Reserve(state, *PodOf("b", "solver"), "n").ok());
  EXPECT_EQ(Verdict(PodOf("c", "solver")), "all 2 seat(s) of licence solver are taken");
  // The grant comes, and is the same seat.
  AddGrant("b", "solver");
  AddPool("solver", 3);
  EXPECT_EQ(Verdict(PodOf("c", "solver")), "");
  // An attempt that goes wrong gives its seat back.
  ASSERT_TRUE(plugin->Reserve(state, *PodOf("c", "solver"), "n").ok());
  EXPECT_NE(Verdict(PodOf("d", "solver")), "");
  plugin->Unreserve(state, *PodOf("c", "solver"), "n");
  EXPECT_EQ(Verdict(PodOf("d", "solver")), "");
}

TEST_F(LicencesTest, TheGrantIsWrittenBeforeThePodIsBound) {
  handle.api().on_call = [](const ObjectCall&) { return std::string("{}"); };
  EXPECT_TRUE(plugin->PreBindPreFlight(state, *MakePod("p").Info(), "n").status.IsSkip());
  ASSERT_TRUE(plugin->PreBind(handle, state, *PodOf("a", "solver"), "n").ok());
  ASSERT_THAT(handle.api().calls, SizeIs(1));
  const ObjectCall& call = handle.api().calls.front();
  EXPECT_EQ(call.verb, ObjectCall::Verb::kCreate);
  EXPECT_EQ(call.resource.Text(), "licencegrants.v1.example.com");
  EXPECT_THAT(call.body, HasSubstr(R"("spec":{"pool":"solver"})"));

  handle.api().on_call = [](const ObjectCall&) { return Error::AlreadyExists("there"); };
  EXPECT_TRUE(plugin->PreBind(handle, state, *PodOf("a", "solver"), "n").ok()) << "an earlier attempt wrote it";
  handle.api().on_call = [](const ObjectCall&) { return Error::Unavailable("no answer"); };
  EXPECT_TRUE(plugin->PreBind(handle, state, *PodOf("a", "solver"), "n").IsError());
}

TEST_F(LicencesTest, AnEventTellsOfTheSeat) {
  plugin->PostBind(handle, state, *MakePod("p").Info(), "n");
  EXPECT_THAT(handle.events, IsEmpty());
  plugin->PostBind(handle, state, *PodOf("a", "solver"), "n");
  ASSERT_THAT(handle.events, SizeIs(1));
  EXPECT_EQ(handle.events.front().note, "Got a seat of licence solver");
  EXPECT_EQ(handle.events.front().regarding.name, "a");
}

TEST_F(LicencesTest, OnlyTheRightSeatWakesAPod) {
  const CustomObject pool = ObjectOf("", "solver", "{}");
  EXPECT_EQ(AskHint(*plugin, pools, *PodOf("a", "solver"), {}, &pool), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, pools, *PodOf("a", "other"), {}, &pool), QueueingHint::kSkip);
  const CustomObject grant = ObjectOf("default", "z-licence", R"({"spec":{"pool":"solver"}})");
  EXPECT_EQ(AskHint(*plugin, grants, *PodOf("a", "solver"), &grant, {}), QueueingHint::kQueue);
  EXPECT_EQ(AskHint(*plugin, grants, *PodOf("a", "other"), &grant, {}), QueueingHint::kSkip);
}

}  // namespace
}  // namespace example
