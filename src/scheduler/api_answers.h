// ApiAnswers: what the API and extenders answered to one binding cycle, call by call, in the order of the calls. With
// them the cycle can be run again without an API, and does the same to the state that belongs to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/resource_claim.h"
#include "base/result.h"
#include "framework/status.h"

namespace berth::scheduler {

struct ApiAnswer {
  enum class Call : uint8_t {
    kBind = 1,
    kUpdateVolume,
    kUpdateVolumeClaim,
    kAwait,
    kGetClaim,
    kCreateClaim,
    kUpdateClaim,
    kUpdateClaimStatus,
    kSetExtendedResourceClaim,
    kSetNodeAllocatableClaims,
    kExtenderBind,
    kObject,     // ApiWriter::Call
    kCancelled,  // not an answer, and the last: preemption took the pod back before it was bound
  };
  Call call = Call::kBind;
  framework::Status status{};                         // of calls that are answered by one
  std::optional<Error> error{};                       // of the others, when they failed
  std::shared_ptr<const api::ResourceClaim> claim{};  // of those that give a claim
  std::string body{};                                 // of kObject
  // Of kObject: an object that no plugin watches, which may hold anything. What was answered is nobody's business, so
  // that the cycle cannot be run again.
  bool withheld = false;
};
using ApiAnswers = std::vector<ApiAnswer>;

// Where the answers of the binding cycle that runs on this thread are kept; null: nowhere. A call during which the
// thread may turn to another cycle has to set it again when it returns.
inline thread_local ApiAnswers* running_answers = nullptr;

}  // namespace berth::scheduler
