#include "framework/handle.h"

#include <concepts>
#include <utility>

namespace berth::framework {
namespace {

// In the live scheduler these change what belongs to the scheduling thread, without a lock, while PreBind, Bind and
// PostBind run on other threads. So they must not compile there.
template <class Writer>
concept HasSchedulingThreadCalls = requires(Writer& api, const PodInfo& pod) {
  api.Evict(pod, pod);
}
|| requires(Writer& api, const PodInfo& pod) { api.EvictAll({}, pod); }
|| requires(Writer& api, const PodInfo& pod) { api.IsEvictingFor(pod); }
|| requires(Writer& api, const PodInfo& pod) { api.SetNominatedNode(pod, ""); }
|| requires(Writer& api, const PodInfo& pod, const api::ResourceClaim& claim) {
  api.UnreserveResourceClaim(claim, pod);
};

static_assert(!HasSchedulingThreadCalls<decltype(std::declval<BindingHandle&>().api())>);
static_assert(HasSchedulingThreadCalls<decltype(std::declval<Handle&>().api())>);

}  // namespace
}  // namespace berth::framework
