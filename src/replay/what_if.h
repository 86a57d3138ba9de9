// WhatIf: replays a recording under another configuration. Nodes, volumes and all other objects change as recorded, and
// pods are created and deleted as recorded; only placements are decided again. Bindings and evictions take effect
// immediately.
//
// Pods with volume or device claims that another component must serve keep their recorded node: the recording does not
// say what provisioners and drivers would have done for another node. A pod that the recorded scheduler evicted is
// deleted at the recorded time.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "config/feature_gates.h"
#include "config/types.h"
#include "framework/handle.h"
#include "framework/registry.h"
#include "record/format.h"
#include "replay/records.h"
#include "scheduler/driver.h"
#include "sim/comparison.h"

namespace berth::replay {

class WhatIf final : private framework::SimpleApiWriter, private scheduler::DriverObserver {
 public:
  // The registry need not outlive the call.
  static Result<std::unique_ptr<WhatIf>> Create(const record::Header& header,
                                                const config::KubeSchedulerConfiguration& configuration,
                                                const framework::Registry& registry, const config::FeatureGates& gates);
  ~WhatIf() override;

  void Apply(const Input& input);
  // The recorded result, and that under the other configuration, for every pod that was pending in either.
  sim::RunOutcome Recorded() const;
  sim::RunOutcome Decided() const;
  // Number of pods that kept their recorded node.
  size_t left_alone() const { return left_alone_.size(); }

 private:
  // A pod that was pending at some point.
  struct Placed {
    std::string key;
    std::string owner;
    sim::PodReport recorded;
    sim::PodReport decided;
  };

  explicit WhatIf(const config::FeatureGates& gates) : gates_(gates), recorded_cluster_(gates_) {}
  void Begin(const scheduler::Checkpoint& checkpoint);
  void Put(const api::Object& object);
  void PutPod(const std::shared_ptr<const api::Pod>& pod);
  void Remove(const api::Object& object);
  void GiveCustom(const record::RecordedCustom& custom, bool is_there);
  void Note(const Decision& decision);
  Placed& EntryOf(const api::Pod& pod);

  // framework::ApiWriter: every call succeeds immediately.
  framework::Status Bind(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status Evict(const framework::PodInfo& victim, const framework::PodInfo& preemptor) override;
  framework::Status SetNominatedNode(const framework::PodInfo& pod, const std::string& node_name) override;
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return {}; }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return {};
  }

  // scheduler::DriverObserver
  void OnFailed(const scheduler::Attempt& attempt, const framework::PodInfo& newest) override;

  const config::FeatureGates gates_;
  base::FakeClock clock_;
  std::unique_ptr<scheduler::Driver> driver_;
  cluster::Cluster recorded_cluster_;
  std::map<std::string, Placed> pods_;          // by UID
  std::map<std::string, std::string> node_of_;  // the placements of this run, by UID
  std::set<std::string> evicted_;               // by this run
  std::set<std::string> left_alone_;
};

}  // namespace berth::replay
