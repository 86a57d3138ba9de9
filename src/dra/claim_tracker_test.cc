#include "dra/claim_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "dra/testing/devices.h"

namespace berth::dra {
namespace {

using namespace testing;  // NOLINT: builders

class ClaimTrackerTest : public ::testing::Test {
 protected:
  bool IsTaken(const std::string& device) {
    const DeviceId id = devices_.Acquire({kDriver, "n1"}, device);
    const bool taken = devices_.IsAllocated(id);
    devices_.Release(id);
    return taken;
  }
  ClaimPtr Allocated(const std::string& device, const std::string& version) {
    return MakeAllocated("c", "n1", {device}, version);
  }
  ClaimPtr Plain(const std::string& version) {
    auto claim = MakeClaim("c");
    claim->metadata.resource_version = version;
    return claim;
  }

  AllocatedDevices devices_{true};
  ClaimTracker claims_{devices_};
};

TEST_F(ClaimTrackerTest, AnAssumedClaimStandsUntilTheServerKnowsAsMuch) {
  claims_.Put(Plain("5"));
  claims_.Assume(Allocated("g0", "7"));
  EXPECT_TRUE(IsTaken("g0"));
  claims_.Put(Plain("6"));  // on its way since before
  EXPECT_TRUE(IsTaken("g0"));
  EXPECT_TRUE(claims_.Find("default", "c")->status.allocation.has_value());
  claims_.Put(Plain("8"));
  EXPECT_FALSE(IsTaken("g0"));
}

TEST_F(ClaimTrackerTest, AnOlderVersionOrAnotherClaimIsNotAssumed) {
  claims_.Put(Plain("5"));
  claims_.Assume(Allocated("g0", "4"));
  EXPECT_FALSE(IsTaken("g0"));
  auto other = MakeAllocated("c", "n1", {"g0"}, "9");
  other->metadata.uid = "another";
  claims_.Assume(other);
  EXPECT_FALSE(IsTaken("g0"));
}

// A pod was bound to devices whose reservation was being ended: what the server reported meanwhile still had it.
TEST_F(ClaimTrackerTest, AReservationThatIsBeingEndedIsNotTrustedUntilTheServerReportsItsEnd) {
  const auto version = [this](const std::string& number, bool reserved) {
    auto claim = std::make_shared<api::ResourceClaim>(*Allocated("g0", number));
    if (reserved) claim->status.reserved_for.push_back({"", "pods", "p", "uid-p"});
    return claim;
  };
  claims_.Put(version("5", false));
  claims_.NoteUnreserved(*version("7", true), "uid-p");
  EXPECT_TRUE(claims_.IsBeingUnreserved("uid-c", "uid-p"));
  EXPECT_FALSE(claims_.IsBeingUnreserved("uid-c", "uid-q"));
  claims_.Put(version("6", false));  // from before the reservation
  claims_.Put(version("7", true));
  EXPECT_TRUE(claims_.IsBeingUnreserved("uid-c", "uid-p"));
  claims_.Put(version("8", false));
  EXPECT_FALSE(claims_.IsBeingUnreserved("uid-c", "uid-p"));
  claims_.NoteUnreserved(*version("9", true), "uid-p");
  claims_.Remove(*version("9", true));
  EXPECT_FALSE(claims_.IsBeingUnreserved("uid-c", "uid-p"));
}

// Storm seed 17489: a pod was bound although the end of its reservation was on its way: the write of another pod that
// shares the claim was taken for its own.
TEST_F(ClaimTrackerTest, AReservationWasTrustedBecauseAnotherPodOfTheClaimWasGivenOne) {
  auto claim = std::make_shared<api::ResourceClaim>(*Allocated("g0", "7"));
  claim->status.reserved_for.push_back({"", "pods", "p", "uid-p"});
  claims_.Put(claim);
  claims_.NoteUnreserved(*claim, "uid-p");
  auto written = std::make_shared<api::ResourceClaim>(*Allocated("g0", "8"));
  written->status.reserved_for = {{"", "pods", "p", "uid-p"}, {"", "pods", "q", "uid-q"}};
  claims_.Assume(written);
  EXPECT_TRUE(claims_.IsBeingUnreserved("uid-c", "uid-p"));
}

TEST_F(ClaimTrackerTest, AReservationThatWasWrittenAgainIsTrusted) {
  const auto version = [this](const std::string& number) {
    auto claim = std::make_shared<api::ResourceClaim>(*Allocated("g0", number));
    claim->status.reserved_for.push_back({"", "pods", "p", "uid-p"});
    return claim;
  };
  claims_.Put(version("5"));
  claims_.NoteUnreserved(*version("5"), "uid-p");
  claims_.Put(version("6"));
  EXPECT_TRUE(claims_.IsBeingUnreserved("uid-c", "uid-p")) << "somebody else's write says nothing about ours";
  claims_.Assume(version("7"));
  EXPECT_FALSE(claims_.IsBeingUnreserved("uid-c", "uid-p"));
  claims_.Put(version("7"));
  EXPECT_TRUE(claims_.IsAtRest()) << "nothing is left that would keep a recording from its next checkpoint";
}

TEST_F(ClaimTrackerTest, DevicesInFlightAreTaken) {
  claims_.Put(Plain("1"));
  claims_.SetInFlight(Allocated("g0", "1"));
  EXPECT_TRUE(claims_.IsInFlight("uid-c"));
  EXPECT_TRUE(IsTaken("g0"));
  // Written, and known to be: no moment in between at which the device looks free.
  claims_.Assume(Allocated("g0", "2"));
  EXPECT_TRUE(claims_.EndFlight("uid-c"));
  EXPECT_TRUE(IsTaken("g0"));
  EXPECT_FALSE(claims_.EndFlight("uid-c"));
  claims_.Restore("default", "c");
  EXPECT_FALSE(IsTaken("g0"));
}

TEST_F(ClaimTrackerTest, ADeletedClaimGivesItsDevicesBack) {
  claims_.Put(Allocated("g0", "1"));
  claims_.Put(Allocated("g1", "2"));
  EXPECT_FALSE(IsTaken("g0"));
  EXPECT_TRUE(IsTaken("g1"));
  claims_.Remove(*Plain("3"));
  EXPECT_FALSE(IsTaken("g1"));
  EXPECT_EQ(claims_.Find("default", "c"), nullptr);
}

TEST_F(ClaimTrackerTest, SaysWhenDevicesHaveBecomeFree) {
  claims_.Put(Plain("5"));
  claims_.SetInFlight(Allocated("g0", "5"));
  EXPECT_FALSE(claims_.TakeFreed());
  claims_.EndFlight("uid-c");
  EXPECT_TRUE(claims_.TakeFreed()) << "given up";
  EXPECT_FALSE(claims_.TakeFreed()) << "said once";

  claims_.SetInFlight(Allocated("g0", "5"));
  claims_.Land("uid-c", Allocated("g0", "7"));
  EXPECT_FALSE(claims_.TakeFreed()) << "written: they are the claim's";
  EXPECT_TRUE(IsTaken("g0"));
  claims_.Put(Allocated("g0", "7"));
  EXPECT_FALSE(claims_.TakeFreed());
  claims_.Put(Plain("8"));
  EXPECT_TRUE(claims_.TakeFreed()) << "deallocated";

  claims_.SetInFlight(Allocated("g0", "8"));
  claims_.Land("uid-c", Allocated("g0", "7"));
  EXPECT_TRUE(claims_.TakeFreed()) << "written, and taken away since";

  claims_.Put(Allocated("g0", "9"));
  claims_.Put(Allocated("g1", "10"));
  EXPECT_TRUE(claims_.TakeFreed()) << "other devices than before";
  claims_.Remove(*Allocated("g1", "10"));
  EXPECT_TRUE(claims_.TakeFreed()) << "gone";
}

TEST_F(ClaimTrackerTest, WhatBindingPostsIsAppliedWhenSomebodyLooks) {
  claims_.Put(Plain("1"));
  claims_.Post({.written = Allocated("g0", "2"), .ended_flight = ""});
  EXPECT_FALSE(IsTaken("g0"));
  claims_.CatchUp();
  EXPECT_TRUE(IsTaken("g0"));
}

TEST_F(ClaimTrackerTest, IsAtRestWhenItKnowsNothingButWhatWasReported) {
  EXPECT_TRUE(claims_.IsAtRest());
  claims_.Put(Plain("1"));
  EXPECT_TRUE(claims_.IsAtRest());
  claims_.SetInFlight(Allocated("g0", "1"));
  EXPECT_FALSE(claims_.IsAtRest());
  claims_.Apply({.written = Allocated("g0", "2"), .ended_flight = Plain("1")->metadata.uid});
  EXPECT_FALSE(claims_.IsAtRest()) << "written, and not reported yet";
  claims_.Put(Allocated("g0", "2"));
  EXPECT_TRUE(claims_.IsAtRest());
  claims_.NoteUnreserved(*Allocated("g0", "2"), "pod");
  EXPECT_FALSE(claims_.IsAtRest());
}

// Storm seeds 21 and 36: nothing ended the assumption, so that no recording could begin until the claim changed again.
TEST_F(ClaimTrackerTest, AClaimStayedAssumedWhenTheServerHadReportedItBeforeItsAnswer) {
  claims_.Put(Plain("1"));
  claims_.SetInFlight(Allocated("g0", "1"));
  claims_.Put(Allocated("g0", "2"));
  claims_.Apply({.written = Allocated("g0", "2"), .ended_flight = Plain("1")->metadata.uid});
  EXPECT_TRUE(IsTaken("g0"));
  EXPECT_TRUE(claims_.IsAtRest());
}

// Storm seed 74: the write of such an end meets a conflict, after which nothing is left to be ended.
TEST_F(ClaimTrackerTest, TheEndOfAReservationThatWasOverWasWaitedForForEver) {
  auto reserved = std::make_shared<api::ResourceClaim>(*Allocated("g0", "2"));
  reserved->status.reserved_for.push_back({"", "pods", "p", "uid-p"});
  claims_.Put(Allocated("g0", "3"));
  claims_.NoteUnreserved(*reserved, "uid-p");
  EXPECT_FALSE(claims_.IsBeingUnreserved("uid-c", "uid-p"));
  EXPECT_TRUE(claims_.IsAtRest());
  claims_.Remove(*Allocated("g0", "3"));
  claims_.NoteUnreserved(*reserved, "uid-p");
  EXPECT_FALSE(claims_.IsBeingUnreserved("uid-c", "uid-p"));
}

TEST_F(ClaimTrackerTest, SharesAddUpAndGo) {
  const auto share = [&](const std::string& name, int64_t amount) {
    auto claim = MakeAllocated(name, "n1", {"g0"});
    claim->status.allocation->devices.results[0].share_id = name;
    claim->status.allocation->devices.results[0].consumed_capacity.Set("memory", api::Quantity::FromInt(amount));
    return claim;
  };
  const DeviceId id = devices_.Acquire({kDriver, "n1"}, "g0");
  claims_.Put(share("a", 3));
  claims_.Put(share("b", 4));
  EXPECT_FALSE(devices_.IsDedicated(id));
  ASSERT_NE(devices_.Consumed(id), nullptr);
  EXPECT_EQ(devices_.Consumed(id)->Find("memory")->Value(), 7);
  claims_.Remove(*share("a", 3));
  EXPECT_EQ(devices_.Consumed(id)->Find("memory")->Value(), 4);
  claims_.Remove(*share("b", 4));
  EXPECT_EQ(devices_.Consumed(id), nullptr);
  EXPECT_FALSE(devices_.IsAllocated(id));
}

TEST_F(ClaimTrackerTest, FindsTheClaimThatWasMadeForAPodsExtendedResources) {
  auto claim = MakeClaim("web-extended-resources-abcde");
  claim->metadata.annotations.Set(std::string(kExtendedResourceClaimAnnotation), "true");
  claim->metadata.owner_references = {{"v1", "Pod", "web", "uid-web", true}};
  claims_.Put(claim);
  EXPECT_EQ(claims_.FindExtendedClaimOf("default", "web", "uid-web"), claim);
  EXPECT_EQ(claims_.FindExtendedClaimOf("default", "web", "uid-other"), nullptr);
  claims_.Remove(*claim);
  EXPECT_EQ(claims_.FindExtendedClaimOf("default", "web", "uid-web"), nullptr);
}

// A claim that was made for a pod's extended resources lost its owner and was deleted. The next attempt of the pod
// looked at it all the same, and crashed.
TEST_F(ClaimTrackerTest, APodsExtendedClaimWasLookedUpAfterItWasDeletedWithoutItsOwner) {
  const auto version = [](const std::string& number, std::vector<api::OwnerReference> owners) {
    auto claim = MakeClaim("web-extended-resources-abcde");
    claim->metadata.resource_version = number;
    claim->metadata.annotations.Set(std::string(kExtendedResourceClaimAnnotation), "true");
    claim->metadata.owner_references = std::move(owners);
    return claim;
  };
  claims_.Put(version("1", {{"v1", "Pod", "web", "uid-web", true}}));
  claims_.Put(version("2", {}));
  claims_.Remove(*version("2", {}));
  EXPECT_EQ(claims_.FindExtendedClaimOf("default", "web", "uid-web"), nullptr);
  claims_.Put(version("3", {}));
  claims_.Put(version("4", {{"v1", "Pod", "web", "uid-web", true}}));
  EXPECT_NE(claims_.FindExtendedClaimOf("default", "web", "uid-web"), nullptr) << "given an owner later";
}

// The index by owner finds what a look at every claim finds, whatever became of annotation and owners.
TEST_F(ClaimTrackerTest, FindsTheSameExtendedClaimsAsALookAtEachOfThem) {
  base::Random random(9);
  std::map<std::string, ClaimPtr> newest;
  const auto some_version = [&](const std::string& name, int number) {
    auto claim = MakeClaim(name);
    claim->metadata.resource_version = std::to_string(number);
    if (random.Below(4) != 0) claim->metadata.annotations.Set(std::string(kExtendedResourceClaimAnnotation), "true");
    for (size_t i = random.Below(3); i > 0; --i) {
      const std::string pod = "p" + std::to_string(random.Below(3));
      claim->metadata.owner_references.push_back({"v1", "Pod", pod, "uid-" + pod, random.Below(4) != 0});
    }
    return claim;
  };
  const auto belongs_to = [](const api::ResourceClaim& claim, const std::string& pod) {
    const auto& owners = claim.metadata.owner_references;
    return !claim.metadata.annotations.empty() &&
           std::any_of(owners.begin(), owners.end(), [&](const api::OwnerReference& owner) {
             return owner.name == pod && owner.controller.value_or(false);
           });
  };
  for (int step = 1; step <= 3000; ++step) {
    const std::string name = "c" + std::to_string(random.Below(4));
    const auto known = newest.find(name);
    const size_t roll = random.Below(10);
    if (roll < 5) {
      claims_.Put(newest[name] = some_version(name, step));
    } else if (roll < 7 && known != newest.end()) {
      claims_.Assume(known->second = some_version(name, step));
      if (roll == 6) claims_.Put(known->second);
    } else if (known != newest.end()) {
      claims_.Remove(*known->second);
      newest.erase(known);
    }
    for (const std::string pod : {"p0", "p1", "p2"}) {
      const bool exists =
          std::any_of(newest.begin(), newest.end(), [&](const auto& claim) { return belongs_to(*claim.second, pod); });
      const ClaimPtr found = claims_.FindExtendedClaimOf("default", pod, "uid-" + pod);
      ASSERT_EQ(found != nullptr, exists) << "step " << step << ", pod " << pod;
      ASSERT_TRUE(!found || (found == newest[found->metadata.name] && belongs_to(*found, pod)));
    }
  }
}

}  // namespace
}  // namespace berth::dra
