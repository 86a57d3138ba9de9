// For tests: everything a profile needs, and an API that only records its calls.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cluster/cluster.h"
#include "engine/profile.h"

namespace berth::engine::testing {

// Answers Success unless told otherwise.
class RecordingApi final : public framework::SimpleApiWriter {
 public:
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override {
    calls.push_back("bind " + pod.name() + " to " + node_name);
    return bind_answer;
  }
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) override {
    calls.push_back("evict " + victim.name() + " for " + preemptor.name());
    return {};
  }
  framework::Status SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) override {
    calls.push_back("nominate " + pod.name() + " to " + (node_name.empty() ? "nothing" : node_name));
    return {};
  }
  framework::Status UnreserveResourceClaim(const api::ResourceClaim& claim, const framework::PodInfo& pod) override {
    calls.push_back("unreserve " + claim.metadata.name + " for " + pod.name());
    return {};
  }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return {}; }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return {};
  }

  std::vector<std::string> calls;
  framework::Status bind_answer;
};

struct World {
  explicit World(uint64_t seed = 1) : random(seed) {}
  World(const World&) = delete;

  Environment environment() { return {cluster, gates, clock, random, api, waiting_pods, posted}; }
  std::unique_ptr<Profile> MakeProfile(const config::Profile& config, const framework::Registry& registry) {
    Result<std::unique_ptr<Profile>> profile = Profile::Create(config, registry, environment());
    CHECK_WHY(profile.ok(), profile.ok() ? "" : profile.error().message.c_str());
    return std::move(*profile);
  }

  config::FeatureGates gates;
  cluster::Cluster cluster{gates};
  base::FakeClock clock{base::Time(std::chrono::hours(1000))};
  base::Random random;
  RecordingApi api;
  framework::WaitingPods waiting_pods;
  framework::PostedWork posted;
};

}  // namespace berth::engine::testing
