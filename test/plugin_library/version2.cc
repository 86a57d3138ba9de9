// What came with version 2 of the ABI: what-ifs that change cycle data, PostFilter, custom resources, remarks.
#include <berth_plugin.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

// At most one pod of a "team" in each zone. PreFilter counts them over the whole cluster, so that preemption's what-ifs
// have to be followed: evicting the pod of the team on n1 makes room on every node of that zone.
class OnePerZone : public berth::library::Plugin {
 public:
  static constexpr const char* kName = "OnePerZone";

  OnePerZone(Instance& instance, std::string_view)
      : taken_(instance.AddReason(BERTH_UNSCHEDULABLE, "node(s) in a zone of the team")) {}

  Status PreFilter(Call& call) const {
    const std::string_view team = call.pod().Label("team");
    if (team.empty()) return Status::Skip();
    auto counts = std::make_unique<std::map<std::string, int>>();
    const Nodes nodes = call.AllNodes();
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (!nodes->live[i]) continue;
      for (uint32_t k = 0; k < nodes->pod_count[i]; ++k) {
        const berth_pod other = nodes.PodOn(i, k);
        if (Pod(other).Label("team") == team) ++(*counts)[std::string(nodes.Label(i, "zone"))];
      }
    }
    call.SetPreFilterData(std::move(counts));
    return {};
  }
  void Filter(Call& call, const Nodes& nodes, std::span<uint8_t> verdicts) const {
    const auto& counts = *call.PreFilterData<std::map<std::string, int>>();
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const auto found = counts.find(std::string(nodes.Label(i, "zone")));
      verdicts[i] = found != counts.end() && found->second > 0 ? taken_ : 0;
    }
  }
  Status AddPod(Call& call, const Pod& other, const Nodes& node) const { return Follow(call, other, node, +1); }
  Status RemovePod(Call& call, const Pod& other, const Nodes& node) const { return Follow(call, other, node, -1); }
  void Explain(Call& call, const Nodes& node) const {
    call.AddRemark("the team has a pod in zone " + std::string(node.Label(0, "zone")) + " already");
  }

 private:
  static Status Follow(Call& call, const Pod& other, const Nodes& node, int change) {
    auto* counts = call.MutablePreFilterData<std::map<std::string, int>>();
    if (counts != nullptr && other.Label("team") == call.pod().Label("team")) {
      (*counts)[std::string(node.Label(0, "zone"))] += change;
    }
    return {};
  }

  uint8_t taken_;
};

// Makes room by evicting the pod with the label "spare", whatever its priority, wherever that is enough.
class TakeSpare : public berth::library::Plugin {
 public:
  static constexpr const char* kName = "TakeSpare";
  TakeSpare(Instance&, std::string_view args) : wrong_(args.find("wrong") != args.npos) {}

  Status PostFilter(Call& call, const Nodes& nodes, std::span<const berth_code> codes) const {
    if (wrong_) call.Nominate("nowhere");
    if (wrong_) return {};
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (codes[i] != BERTH_UNSCHEDULABLE) continue;
      for (uint32_t k = 0; k < nodes->pod_count[i]; ++k) {
        const berth_pod other = nodes.PodOn(i, k);
        if (Pod(other).Label("spare").empty()) continue;
        const berth_string uid = other.uid;
        if (call.TryWithout(berth::library::ToView(nodes.names()[i]), {&uid, 1}) != BERTH_SUCCESS) continue;
        call.Nominate(berth::library::ToView(nodes.names()[i]));
        call.AddVictim(berth::library::ToView(uid));
        return {};
      }
    }
    return Status::Unschedulable("nothing spare");
  }

 private:
  const bool wrong_;
};

}  // namespace

BERTH_PLUGIN_LIBRARY(OnePerZone, TakeSpare)
