// PreferPool: half of the points for nodes of the pod's own pool, the other half for memory that is free.
//
// A pod belongs to a pool by its label "pool", a node by the same label (another key with args: {"label": "…"}).
#include <algorithm>
#include <berth_plugin.hpp>
#include <stdexcept>
#include <string>

class PreferPool : public berth::library::Plugin {
 public:
  static constexpr const char* kName = "PreferPool";
  static constexpr auto kScoreDependsOn = BERTH_ON_NODE_AND_PODS;

  PreferPool(Instance& instance, std::string_view args_json)
      : label_(LabelFrom(args_json)), key_(instance.LabelKey(label_)) {}

  // All that Score reads from a pod: pods that agree on it share its answers.
  bool Sign(Call& call) const {
    call.Sign("PreferPool", call.pod().Label(label_));
    call.Sign("PreferPool memory", std::to_string(call.pod()->request_memory));
    return true;
  }

  void Score(Call& call, const Nodes& nodes, std::span<int64_t> scores) const {
    const std::string_view wanted = call.pod().Label(label_);
    const int64_t needed = call.pod()->request_memory;
    const auto pools = nodes.Labels(key_);
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const int64_t total = nodes->allocatable_memory[i];
      const int64_t free = std::max<int64_t>(0, total - nodes->requested_memory[i] - needed);
      scores[i] = total == 0 ? 0 : free * 50 / total;
      if (!wanted.empty() && pools[i] == wanted) scores[i] += 50;
    }
  }

 private:
  // Enough for one string; a plugin with more arguments wants a JSON parser.
  static std::string LabelFrom(std::string_view args) {
    if (args.empty()) return "pool";
    constexpr std::string_view kKey = "\"label\":\"";
    const size_t begin = args.find(kKey);
    const size_t end = begin == args.npos ? begin : args.find('"', begin + kKey.size());
    if (end == args.npos) throw std::invalid_argument("args: expected {\"label\":\"KEY\"}");
    return std::string(args.substr(begin + kKey.size(), end - begin - kKey.size()));
  }

  std::string label_;
  const berth_label_key* key_;
};

BERTH_PLUGIN_LIBRARY(PreferPool)
