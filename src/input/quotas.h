// ResourceQuota: pods that are yet to be created and that the API server would refuse, as their namespace has used up
// what it may ask for. What pods of the input ask for already is counted; a quota's status is not needed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/pod.h"
#include "input/cluster_draft.h"
#include "input/rollout.h"

namespace berth::input {

struct RefusedPod {
  std::shared_ptr<const api::Pod> pod;
  std::string message;  // in the API server's words
};

// Takes refused pods out of the draft and out of the rollouts; of these, older pods have made room for newer ones.
std::vector<RefusedPod> EnforceQuotas(ClusterDraft& draft, std::vector<Rollout>& rollouts);

// Asked for one pod after the other: empty, and the pod is charged, or why it may not be created.
using QuotaGate = std::function<std::string(const api::Pod& pod)>;
// The quotas of a cluster, with what its pods take of them.
QuotaGate MakeQuotaGate(const std::vector<api::Object>& objects);

}  // namespace berth::input
