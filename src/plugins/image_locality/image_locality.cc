#include "plugins/image_locality/image_locality.h"

#include <algorithm>

#include "plugins/args.h"
#include "plugins/signature_text.h"

namespace berth::plugins {
namespace {

using framework::PodInfo;

constexpr int64_t kMebibyte = 1024 * 1024;
// Below this sum, having the images is worth nothing; above it (per container), more adds no points.
constexpr int64_t kMinThreshold = 23 * kMebibyte;
constexpr int64_t kMaxThresholdPerContainer = 1000 * kMebibyte;

// Calls visit(image) for every image the pod runs or mounts, as written.
template <class Visit>
void ForEachImage(const api::PodSpec& spec, Visit&& visit) {
  for (const api::Container& container : spec.init_containers) visit(container.image);
  for (const api::Container& container : spec.containers) visit(container.image);
  for (const api::Volume& volume : spec.volumes) {
    if (const auto& image = volume.from().image) visit(image->reference);
  }
}

bool HasTag(std::string_view image) {
  const size_t colon = image.rfind(':');
  const size_t slash = image.rfind('/');
  return colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
}

// Nodes list images by full name, where no tag means "latest".
std::string Normalized(const std::string& image) { return HasTag(image) ? image : image + ":latest"; }
const framework::ImageState* FindOn(const framework::NodeInfo& node, const std::string& image) {
  return HasTag(image) ? node.FindImage(image) : node.FindImage(Normalized(image));
}

}  // namespace

Result<std::unique_ptr<framework::Plugin>> ImageLocality::Create(const config::PluginArgs& args,
                                                                 framework::Handle& handle) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new ImageLocality(handle));
}

framework::ScoreResult ImageLocality::Score(const framework::CycleState&, const PodInfo& pod,
                                            const framework::NodeInfo& node) const {
  const api::PodSpec& spec = pod.pod().spec;
  const double node_count = static_cast<double>(handle_.cluster().nodes().size());
  int64_t sum = 0;
  ForEachImage(spec, [&](const std::string& image) {
    const framework::ImageState* found = FindOn(node, image);
    if (!found) return;
    const double spread = static_cast<double>(found->node_count) / node_count;
    sum += static_cast<int64_t>(static_cast<double>(found->size) * spread);
  });

  // Image volumes add to the sum but do not raise the ceiling.
  const int64_t containers = static_cast<int64_t>(spec.init_containers.size() + spec.containers.size());
  const int64_t ceiling = kMaxThresholdPerContainer * containers;
  if (sum < kMinThreshold) {
    sum = kMinThreshold;
  } else if (sum > ceiling) {
    sum = ceiling;
  }
  return framework::kMaxNodeScore * (sum - kMinThreshold) / (ceiling - kMinThreshold);
}

// Only known for images that no node has, without looking at nodes.
std::optional<int64_t> ImageLocality::ScoreOfEveryNode(const framework::CycleState&, const PodInfo& pod) const {
  bool found = false;
  ForEachImage(pod.pod().spec,
               [&](const std::string& image) { found = found || handle_.cluster().HasImage(Normalized(image)); });
  return found ? std::nullopt : std::optional<int64_t>(0);
}

bool ImageLocality::ScoreRange(const framework::CycleState& state, const PodInfo& pod, const framework::NodeColumns&,
                               framework::NodeIndex, std::span<int64_t> scores) const {
  const std::optional<int64_t> score = ScoreOfEveryNode(state, pod);
  if (score) std::fill(scores.begin(), scores.end(), *score);
  return score.has_value();
}

bool ImageLocality::Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const {
  const api::PodSpec& spec = pod.pod().spec;
  std::string text = NewSignatureText();
  AppendField(text, static_cast<int64_t>(spec.init_containers.size() + spec.containers.size()));
  ForEachImage(spec, [&](const std::string& image) { AppendField(text, image); });
  signature.Add("images", text);
  return true;
}

}  // namespace berth::plugins
