// ApiAnswers: the responses of the API server and of extenders to one binding cycle, in the order of the calls. With
// them the cycle can be run again without an API server, with the same effect on the scheduler's state.
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
    kCancelled,  // not a response, and the last entry: preemption cancelled the cycle before the pod was bound
  };
  Call call = Call::kBind;
  framework::Status status{};                         // the response, for calls that return a Status
  std::optional<Error> error{};                       // for other calls that failed
  std::shared_ptr<const api::ResourceClaim> claim{};  // for calls that return a claim
  std::string body{};                                 // for kObject
  // For kObject: the object is of a resource that no plugin watches, so it may be confidential and is not stored. The
  // cycle cannot be run again.
  bool withheld = false;
};
using ApiAnswers = std::vector<ApiAnswer>;

// Where responses to the binding cycle on this thread are stored; null if they are not. A call during which the thread
// may run another cycle must set it again before it returns.
inline thread_local ApiAnswers* running_answers = nullptr;

}  // namespace berth::scheduler
