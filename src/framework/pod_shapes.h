// PodShapes: the shapes of placed pods, one for all pods of a template. Separate from pod_shape.h, so that plugins do
// not include what the table is made of.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "framework/pod_shape.h"

namespace berth::framework {

// Not thread-safe; owned by the cluster view. A shape may outlive it.
class PodShapes {
 public:
  // The shape that all pods with the template of `pod` share.
  std::shared_ptr<const PodShape> Of(const api::Pod& pod, const PodRequestOptions& options);

  // How many are kept; some of them may no longer be used by any pod.
  size_t size() const { return shapes_.size(); }

 private:
  using ShapePtr = std::shared_ptr<const PodShape>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view pod_template) const { return std::hash<std::string_view>()(pod_template); }
    size_t operator()(const ShapePtr& shape) const { return (*this)(shape->pod_template); }
  };
  struct Equal {
    using is_transparent = void;
    static std::string_view TextOf(std::string_view pod_template) { return pod_template; }
    static std::string_view TextOf(const ShapePtr& shape) { return shape->pod_template; }
    bool operator()(const auto& a, const auto& b) const { return TextOf(a) == TextOf(b); }
  };

  void DropUnused();

  boost::unordered_flat_set<ShapePtr, Hash, Equal> shapes_;
  // Unused shapes are dropped when the table has doubled: a constant cost per shape, and never more unused shapes than
  // used ones.
  size_t drop_at_ = 64;
  std::string template_;  // of the current pod; kept to reuse its memory
};

}  // namespace berth::framework
