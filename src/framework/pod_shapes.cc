#include "framework/pod_shapes.h"

#include <algorithm>
#include <iterator>

#include "api/pod_packing.h"

namespace berth::framework {

std::shared_ptr<const PodShape> PodShapes::Of(const api::Pod& pod, const PodRequestOptions& options) {
  template_.clear();
  api::AppendPodTemplate(pod, template_);
  if (const auto it = shapes_.find(std::string_view(template_)); it != shapes_.end()) return *it;

  auto shape = std::make_shared<PodShape>(PodShape::Of(pod, options));
  shape->labels = pod.metadata.labels;
  std::copy_if(pod.spec.volumes.begin(), pod.spec.volumes.end(), std::back_inserter(shape->volumes),
               [](const api::Volume& volume) { return volume.source != nullptr; });
  shape->pod_template.assign(template_.data(), template_.size());
  if (shapes_.size() >= drop_at_) DropUnused();
  shapes_.insert(shape);
  return shape;
}

// No other thread can take a new reference to a shape that only the table holds.
void PodShapes::DropUnused() {
  boost::unordered::erase_if(shapes_, [](const ShapePtr& shape) { return shape.use_count() == 1; });
  drop_at_ = std::max<size_t>(64, 2 * shapes_.size());
}

}  // namespace berth::framework
