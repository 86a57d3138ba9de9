// NodeToStatus: why each node was rejected. Feasible nodes are not in it; nodes that PreFilter ruled out are absent and
// share one status.
#pragma once

#include <map>
#include <string>

#include "framework/status.h"

namespace berth::framework {

class NodeToStatus {
 public:
  NodeToStatus() : absent_(Code::kUnschedulableAndUnresolvable, {}) {}

  void Set(const std::string& node_name, Status status) { statuses_[node_name] = std::move(status); }
  const Status& Get(const std::string& node_name) const {
    const auto it = statuses_.find(node_name);
    return it == statuses_.end() ? absent_ : it->second;
  }
  void SetAbsent(Status status) { absent_ = std::move(status); }
  const Status& absent() const { return absent_; }
  bool IsExplicit(const std::string& node_name) const { return statuses_.count(node_name) > 0; }

  const std::map<std::string, Status>& explicit_nodes() const { return statuses_; }

 private:
  std::map<std::string, Status> statuses_;
  Status absent_;
};

}  // namespace berth::framework
