// Two plugins that together serve every point there is, through the C++ wrapper: what each does shows in where pods go.
#include <algorithm>
#include <berth_plugin.hpp>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

// Pods wait for the label "ready", go only to nodes of their "zone", and are never put on a node called "…-broken".
class Everything : public berth::library::Plugin {
 public:
  static constexpr const char* kName = "Everything";
  static constexpr berth_event kEvents[] = {{BERTH_POD, BERTH_UPDATE_POD_LABEL}, {BERTH_NODE, BERTH_ADD}};
  static constexpr auto kNormalization = BERTH_NORMALIZE_OWN;

  Everything(Instance& instance, std::string_view args)
      : zone_(instance.LabelKey("zone")), elsewhere_(instance.AddReason(BERTH_UNSCHEDULABLE, "node(s) are elsewhere")) {
    if (args.find("refuse") != args.npos) throw std::invalid_argument("args: asked to refuse");
  }

  Status PreEnqueue(Call& call) const {
    return call.pod().Label("ready") == "no" ? Status::Pending("waits to be ready") : Status();
  }
  Status PreFilter(Call& call) const {
    if (call.pod().Label("zone").empty()) return Status::Skip();
    call.SetPreFilterData(std::make_unique<std::string>(call.pod().Label("zone")));
    return {};
  }
  void Filter(Call& call, const Nodes& nodes, std::span<uint8_t> verdicts) const {
    const auto zones = nodes.Labels(zone_);
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      verdicts[i] = zones[i] == *call.PreFilterData<std::string>() ? 0 : elsewhere_;
    }
  }
  Status PreScore(Call& call, const Nodes& feasible) const {
    call.SetPreScoreData(std::make_unique<size_t>(feasible.size()));
    return {};
  }
  void Score(Call&, const Nodes& nodes, std::span<int64_t> scores) const {
    for (uint32_t i = 0; i < nodes.size(); ++i) scores[i] = -static_cast<int64_t>(nodes.names()[i].size);
  }
  // The longest name wins.
  void Normalize(Call& call, const Nodes& nodes, std::span<int64_t> scores) const {
    if (*call.PreScoreData<size_t>() != nodes.size()) throw std::logic_error("other nodes than PreScore saw");
    for (int64_t& score : scores) score = std::min<int64_t>(100, -score);
  }
  Status Reserve(Call&, std::string_view node) {
    return node.ends_with("-broken") ? Status::Unschedulable("node " + std::string(node) + " is broken") : Status();
  }
  void Unreserve(Call&, std::string_view) {}
  Status Permit(Call& call, std::string_view) {
    return call.pod().Annotation("permit") == "never" ? Status::Unschedulable("never permitted") : Status();
  }

 private:
  const berth_label_key* zone_;
  uint8_t elsewhere_;
};

// By name, backwards.
class Backwards : public berth::library::Plugin {
 public:
  static constexpr const char* kName = "Backwards";
  Backwards(Instance&, std::string_view) {}
  bool QueueLess(const Pod& a, int64_t, const Pod& b, int64_t) const { return a.name() > b.name(); }
};

}  // namespace

BERTH_PLUGIN_LIBRARY(Everything, Backwards)
