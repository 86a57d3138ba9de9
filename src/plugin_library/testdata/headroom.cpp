// The library's side of headroom_bench.cc: the rules of headroom.h behind the C ABI.
#include "headroom.h"

#include <berth_plugin.hpp>

namespace {

class Headroom : public berth::library::Plugin {
 public:
  static constexpr const char* kName = "Headroom";
  static constexpr auto kFilterDependsOn = BERTH_ON_NODE_AND_PODS;
  static constexpr auto kScoreDependsOn = BERTH_ON_NODE_AND_PODS;

  Headroom(Instance& instance, std::string_view)
      : zone_(instance.LabelKey("zone")),
        verdicts_{0, instance.AddReason(BERTH_UNSCHEDULABLE, "too little memory"),
                  instance.AddReason(BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, "another zone")} {}

  void Filter(Call& call, const Nodes& nodes, std::span<uint8_t> verdicts) const {
    const auto zones = nodes.Labels(zone_);
    const std::string_view wanted = call.pod().Label("zone");
    const int64_t needed = call.pod()->request_memory;
    // The id of the pod's zone in this batch is determined at the first node that has it.
    headroom::ZoneId zone;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const bool same = zone.Is(zones.id(i), [&](int32_t id) { return zones.value(id) == wanted; });
      verdicts[i] = verdicts_[headroom::Judge(nodes->allocatable_memory[i], nodes->requested_memory[i], needed, same)];
    }
  }

  void Score(Call& call, const Nodes& nodes, std::span<int64_t> scores) const {
    const int64_t needed = call.pod()->request_memory;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      scores[i] = headroom::Points(nodes->allocatable_memory[i], nodes->requested_memory[i], needed);
    }
  }

 private:
  const berth_label_key* zone_;
  uint8_t verdicts_[3];
};

}  // namespace

BERTH_PLUGIN_LIBRARY(Headroom)
