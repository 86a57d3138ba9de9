#include "framework/node_info.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace berth::framework {
namespace {

constexpr std::string_view kAnyAddress = "0.0.0.0";

bool SamePod(const PodInfo& a, const PodInfo& b) {
  if (!a.uid().empty() || !b.uid().empty()) return a.uid() == b.uid();
  return a.namespace_() == b.namespace_() && a.name() == b.name();
}

// The last pod fills the gap: the order of pods means nothing. Null when the pod is not there.
PodInfoPtr TakeOut(std::vector<PodInfoPtr>& pods, const PodInfo& wanted) {
  // Searches from the end: on what-if copies, the pods added last are removed first.
  auto found = std::find_if(pods.rbegin(), pods.rend(), [&](const PodInfoPtr& pod) { return pod.get() == &wanted; });
  // Usually it is the very same object; only otherwise are pods compared.
  if (found == pods.rend()) {
    found = std::find_if(pods.rbegin(), pods.rend(), [&](const PodInfoPtr& pod) { return SamePod(*pod, wanted); });
  }
  if (found == pods.rend()) return nullptr;
  const auto it = std::prev(found.base());
  std::swap(*it, pods.back());
  PodInfoPtr taken = std::move(pods.back());
  pods.pop_back();
  return taken;
}

}  // namespace

bool HostPorts::Conflicts(const HostPort& wanted) const {
  for (const HostPort& used : ports_) {
    if (used.port != wanted.port || used.protocol != wanted.protocol) continue;
    if (used.ip == wanted.ip || used.ip == kAnyAddress || wanted.ip == kAnyAddress) return true;
  }
  return false;
}

// A set, as upstream: if two pods were bound to one port behind the scheduler's back, the first to go frees it.
void HostPorts::Add(const HostPort& port) {
  if (port.port > 0 && std::find(ports_.begin(), ports_.end(), port) == ports_.end()) ports_.push_back(port);
}

void HostPorts::Remove(const HostPort& port) {
  const auto it = std::find(ports_.begin(), ports_.end(), port);
  if (it != ports_.end()) ports_.erase(it);
}

NodeInfo::NodeInfo(std::shared_ptr<const api::Node> node, NodeIndex index) : index_(index) { SetNode(std::move(node)); }

const ImageState* NodeInfo::FindImage(std::string_view normalized_name) const {
  const auto it = std::lower_bound(images_.begin(), images_.end(), normalized_name,
                                   [](const auto& image, std::string_view name) { return image.first.str() < name; });
  return it != images_.end() && it->first == normalized_name ? it->second.get() : nullptr;
}

void NodeInfo::AddPod(PodInfoPtr pod) {
  if (pod->has_affinity_terms()) pods_with_affinity_.push_back(pod);
  if (!pod->required_anti_affinity_terms().empty()) pods_with_required_anti_affinity_.push_back(pod);
  requested_.Add(pod->requests());
  // A pod that "requests" pods takes only its own place, which pods().size() counts.
  requested_.allowed_pod_number = 0;
  non_zero_milli_cpu_ = WrappingAdd(non_zero_milli_cpu_, pod->non_zero_milli_cpu());
  non_zero_memory_ = WrappingAdd(non_zero_memory_, pod->non_zero_memory());
  for (const HostPort& port : pod->host_ports()) used_ports_.Add(port);
  pods_.push_back(std::move(pod));
  Bump();
}

bool NodeInfo::RemovePod(const PodInfo& pod) {
  // Subtract what was added, not what `pod` says now: it may be a later version.
  const PodInfoPtr gone = TakeOut(pods_, pod);
  if (!gone) return false;
  if (gone->has_affinity_terms()) TakeOut(pods_with_affinity_, *gone);
  if (!gone->required_anti_affinity_terms().empty()) TakeOut(pods_with_required_anti_affinity_, *gone);
  SubtractPod(*gone);
  Bump();
  return true;
}

void NodeInfo::SubtractPod(const PodInfo& pod) {
  requested_.Subtract(pod.requests());
  requested_.allowed_pod_number = 0;
  non_zero_milli_cpu_ = WrappingSubtract(non_zero_milli_cpu_, pod.non_zero_milli_cpu());
  non_zero_memory_ = WrappingSubtract(non_zero_memory_, pod.non_zero_memory());
  for (const HostPort& port : pod.host_ports()) used_ports_.Remove(port);
}

void NodeInfo::SetNode(std::shared_ptr<const api::Node> node) {
  node_ = std::move(node);
  allocatable_ = Resource::From(node_->status.allocatable);
  Bump();
}

void NodeInfo::SetImages(std::vector<std::pair<Symbol, std::shared_ptr<const ImageState>>> images) {
  images_ = std::move(images);
  std::stable_sort(images_.begin(), images_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto last =
      std::unique(images_.begin(), images_.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  images_.erase(last, images_.end());
  Bump();
}

void NodeInfo::Bump() {
  static std::atomic<uint64_t> last_generation{0};
  generation_ = last_generation.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace berth::framework
