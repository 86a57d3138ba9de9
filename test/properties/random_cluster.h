// Small random clusters: a handful of nodes and pods of every variety that the default plugins consider, and a history
// of changes to them. A change is a few small numbers, so that RapidCheck can shrink a failing history.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/testing/world.h"
#include "testing/builders.h"

namespace berth::properties {

enum class ChangeKind { kUpsertNode, kRemoveNode, kBindPod, kDeletePod, kNominate, kWithdraw };

struct Change {
  ChangeKind kind = ChangeKind::kUpsertNode;
  uint32_t node = 0;
  uint32_t pod = 0;
  uint32_t variety = 0;  // which node or pod exactly
};
std::ostream& operator<<(std::ostream& out, const Change& change);

rc::Gen<Change> AnyChange();
rc::Gen<std::vector<Change>> AnyHistory(size_t longest);
rc::Gen<uint32_t> AnyVariety();

std::shared_ptr<const api::Node> NodeOf(uint32_t number, uint32_t variety);
testing::PodBuilder PodOf(const std::string& name, uint32_t variety);

// A cluster with the default profile, and a model of it: just the API objects.
class RandomCluster {
 public:
  RandomCluster();

  void Apply(const Change& change);
  // Starts with a few nodes, so that not every history has to create some first.
  void AddFirstNodes(const std::vector<uint32_t>& varieties);

  engine::Profile& profile() { return *profile_; }
  cluster::Cluster& cluster() { return world_.cluster; }
  const std::map<std::string, std::shared_ptr<const api::Node>>& nodes() const { return nodes_; }
  const std::map<std::string, std::shared_ptr<const api::Pod>>& bound_pods() const { return bound_pods_; }

 private:
  std::shared_ptr<const api::Pod> WithoutTakenPorts(testing::PodBuilder pod) const;

  engine::testing::World world_;
  std::unique_ptr<engine::Profile> profile_;
  std::map<std::string, std::shared_ptr<const api::Node>> nodes_;      // by name
  std::map<std::string, std::shared_ptr<const api::Pod>> bound_pods_;  // by UID
};

}  // namespace berth::properties
