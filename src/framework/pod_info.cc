#include "framework/pod_info.h"

#include <utility>

#include "framework/pod_shapes.h"

namespace berth::framework {

const AffinityTerms PodInfo::kNoTerms;

PodInfo::PodInfo(Private, const api::Pod& pod, std::shared_ptr<const PodShape> shape,
                 std::shared_ptr<const api::Pod> kept)
    : identity_(api::PodIdentity::Of(pod)),
      namespace_symbol_(pod.metadata.namespace_),
      shape_(std::move(shape)),
      pod_(std::move(kept)),
      labels_(pod_ ? &pod_->metadata.labels : &shape_->labels) {}

PodInfoPtr PodInfo::Make(std::shared_ptr<const api::Pod> pod, const PodRequestOptions& options) {
  auto shape = std::make_shared<const PodShape>(PodShape::Of(*pod, options));
  const api::Pod& object = *pod;
  return std::make_shared<const PodInfo>(Private(), object, std::move(shape), std::move(pod));
}

PodInfoPtr PodInfo::Pack(const api::Pod& pod, const PodRequestOptions& options, PodShapes& shapes) {
  return std::make_shared<const PodInfo>(Private(), pod, shapes.Of(pod, options), nullptr);
}

std::string PodInfo::Key() const {
  std::string key(namespace_symbol_.str());
  if (!key.empty()) key += '/';
  return key += identity_.name;
}

bool PodInfo::has_affinity_terms() const {
  if (!shape_->terms) return false;
  const AffinityTerms& terms = *shape_->terms;
  return !terms.required_affinity.empty() || !terms.required_anti_affinity.empty() ||
         !terms.preferred_affinity.empty() || !terms.preferred_anti_affinity.empty();
}

std::shared_ptr<const api::Pod> PodInfo::shared_pod() const {
  return pod_ ? pod_ : std::make_shared<const api::Pod>(api::UnpackPod(shape_->pod_template, identity_));
}

const api::Pod& PodInfo::Unpacked() const {
  const api::Pod* known = unpacked_.load(std::memory_order_acquire);
  if (known == nullptr) {
    const auto* fresh = new api::Pod(api::UnpackPod(shape_->pod_template, identity_));
    // Another thread may have decoded it first; all callers must get the same object.
    if (unpacked_.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
  }
  return *known;
}

}  // namespace berth::framework
