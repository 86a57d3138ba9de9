#include "explain/explain_remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "explain/explain_topology.h"
#include "framework/amount_text.h"
#include "plugins/pod_topology_spread/spread_constraint.h"

namespace berth::explain {

using framework::NodeInfo;

namespace {

constexpr size_t kMaxTold = 3;
constexpr size_t kMaxTried = 24;

// A pod and a node as they would have to be, the changes in words, and how much that asks for.
struct Proposal {
  std::string node;
  api::Pod pod;
  api::Node changed_node;
  bool pod_changed = false;
  bool node_changed = false;
  bool hopeless = false;
  std::vector<std::string> changes;
  std::vector<std::string> kinds;  // of the changes: equal kinds differ only in numbers or in the node
  double cost = 0;                 // a whole change counts 1; a smaller request, the part that it gives up
};

// Takes `excess` off the containers' requests, the largest first. False when they do not ask for that much.
bool ReduceRequests(api::Pod& pod, const Symbol& resource, int64_t excess) {
  const bool is_cpu = resource == framework::CpuName();
  std::vector<api::Quantity*> requests;
  for (api::Container& container : pod.spec.containers) {
    if (api::Quantity* request = container.resources.requests.Find(resource)) requests.push_back(request);
  }
  std::stable_sort(requests.begin(), requests.end(), [](const auto* a, const auto* b) { return *b < *a; });
  for (api::Quantity* request : requests) {
    const int64_t amount = is_cpu ? request->MilliValue() : request->Value();
    const int64_t less = std::min(excess, amount);
    *request = is_cpu ? api::Quantity::FromMilli(amount - less, request->format())
                      : api::Quantity::FromInt(amount - less, request->format());
    excess -= less;
  }
  return excess <= 0;
}

class Proposer {
 public:
  Proposer(const engine::Profile& profile, const framework::PodInfo& pod)
      : profile_(profile), pod_(pod), topology_(profile, pod) {}

  // Nothing when there is no remedy for some rejection.
  std::optional<Proposal> For(const NodeInfo& node, const NodeVerdict& verdict) const {
    Proposal proposal{node.name(), pod_.pod(), node.node()};
    for (const Rejection& rejection : verdict.rejections) {
      const size_t before = proposal.changes.size();
      Remedy(rejection, node, proposal);
      if (proposal.hopeless || proposal.changes.size() == before) return std::nullopt;
    }
    return proposal;
  }

 private:
  void Remedy(const Rejection& rejection, const NodeInfo& node, Proposal& proposal) const {
    if (rejection.plugin == "NodeResourcesFit") return FewerResources(node, proposal);
    if (rejection.plugin == "TaintToleration") return Tolerate(node, proposal);
    if (rejection.plugin == "NodeAffinity") return LabelNode(node, proposal);
    if (rejection.plugin == "PodTopologySpread") return AllowSkew(node, proposal);
    if (rejection.plugin == "InterPodAffinity") return DropAntiAffinity(proposal);
    if (rejection.plugin == "NodePorts") return DropPorts(node, proposal);
    if (rejection.plugin == "NodeUnschedulable") {
      proposal.changed_node.spec.unschedulable = false;
      // The taint that goes with it.
      std::erase_if(proposal.changed_node.spec.taints,
                    [](const api::Taint& taint) { return taint.key == "node.kubernetes.io/unschedulable"; });
      proposal.node_changed = true;
      Note(proposal, "uncordon", fmt::format("uncordon {}", node.name()), 1);
    }
  }

  static void GiveUp(Proposal& proposal) { proposal.hopeless = true; }
  static void Note(Proposal& proposal, std::string kind, std::string change, double cost) {
    proposal.kinds.push_back(std::move(kind));
    proposal.changes.push_back(std::move(change));
    proposal.cost += cost;
  }

  void FewerResources(const NodeInfo& node, Proposal& proposal) const {
    const framework::Resource& wanted = pod_.requests();
    std::vector<Symbol> names = {framework::CpuName(), framework::MemoryName(), framework::EphemeralStorageName()};
    for (const auto& [name, amount] : wanted.scalar) names.push_back(name);
    for (const Symbol& name : names) {
      const int64_t free = node.allocatable().Get(name) - node.requested().Get(name);
      const int64_t needed = wanted.Get(name);
      if (needed <= free || free <= 0) continue;
      if (!ReduceRequests(proposal.pod, name, needed - free)) continue;
      proposal.pod_changed = true;
      const std::string_view text = name.str();
      Note(proposal, fmt::format("{} request", text),
           fmt::format("{} request {} -> {}", text, framework::AmountText(text, needed), ExactText(text, free)),
           static_cast<double>(needed - free) / static_cast<double>(needed));
    }
  }

  // Rounded text would promise more than there is.
  static std::string ExactText(std::string_view resource, int64_t amount) {
    const std::string text = framework::AmountText(resource, amount);
    const auto parsed = api::Quantity::Parse(text);
    const bool exact = parsed && (resource == "cpu" ? parsed->MilliValue() : parsed->Value()) == amount;
    return exact ? text : framework::QuantityText(resource, amount);
  }

  void Tolerate(const NodeInfo& node, Proposal& proposal) const {
    const bool comparisons = profile_.gates().Enabled("TaintTolerationComparisonOperators");
    for (const api::Taint& taint : node.taints()) {
      if (!api::ForbidsScheduling(taint)) continue;
      if (api::AnyTolerates(proposal.pod.spec.tolerations, taint, comparisons)) continue;
      proposal.pod.spec.tolerations.push_back(
          {.key = taint.key, .op = api::TolerationEqual(), .value = taint.value, .effect = taint.effect});
      proposal.pod_changed = true;
      Note(proposal, taint.ToString(), fmt::format("tolerate {}", taint.ToString()), 1);
    }
  }

  void SetLabel(const Symbol& key, const Symbol& value, Proposal& proposal) const {
    proposal.changed_node.metadata.labels.Set(key, value);
    proposal.node_changed = true;
    Note(proposal, fmt::format("label {}", key.str()),
         fmt::format("label {}={} on {}", key.str(), value.str(), proposal.node), 1);
  }

  // For nodeSelector, and for the first affinity term that labels can satisfy. Labels that say where a node is are left
  // alone: a node cannot be talked into another zone.
  void LabelNode(const NodeInfo& node, Proposal& proposal) const {
    const auto may_set = [](const Symbol& key) {
      const std::string_view text = key.str();
      return !text.starts_with("topology.kubernetes.io/") && !text.starts_with("failure-domain.beta.kubernetes.io/") &&
             text != "kubernetes.io/hostname" && text != "kubernetes.io/arch" && text != "kubernetes.io/os";
    };
    for (const auto& [key, value] : pod_.pod().spec.node_selector) {
      const Symbol* found = node.labels().Find(key);
      if (found && *found == value) continue;
      if (!may_set(key)) return GiveUp(proposal);
      SetLabel(key, value, proposal);
    }
    const api::NodeSelector* required = plugins::RequiredNodeSelector(pod_.pod());
    if (!required) return;
    const auto compiled = api::CompiledNodeSelector::CompileLazily(*required);
    if (compiled.Match(node.labels(), node.name()) == api::NodeMatch::kMatch || compiled.terms().empty()) return;
    using Operator = api::Requirement::Operator;
    for (const api::Requirement& requirement : compiled.terms().front().labels().requirements()) {
      if (requirement.Matches(node.labels())) continue;
      const bool names_value = requirement.op() == Operator::kIn || requirement.op() == Operator::kEquals ||
                               requirement.op() == Operator::kDoubleEquals;
      if (!names_value || !may_set(requirement.key())) return GiveUp(proposal);
      SetLabel(requirement.key(), requirement.values().front(), proposal);
    }
  }

  // By as little as it takes.
  void AllowSkew(const NodeInfo& node, Proposal& proposal) const {
    size_t position = 0;  // among the hard constraints
    for (api::TopologySpreadConstraint& constraint : proposal.pod.spec.topology_spread_constraints) {
      if (constraint.when_unsatisfiable != plugins::kDoNotSchedule) continue;
      const std::optional<int64_t> needed = topology_.NeededSkew(position++, node);
      if (!needed) return GiveUp(proposal);
      const int32_t before = constraint.max_skew;
      if (*needed <= before) continue;
      constraint.max_skew = static_cast<int32_t>(std::min<int64_t>(*needed, INT32_MAX));
      proposal.pod_changed = true;
      Note(proposal, "maxSkew",
           fmt::format("maxSkew {} -> {} by {}", before, constraint.max_skew, constraint.topology_key.str()), 1);
    }
  }

  static void DropAntiAffinity(Proposal& proposal) {
    auto& affinity = proposal.pod.spec.affinity;
    if (!affinity || !affinity->pod_anti_affinity) return;
    auto& terms = affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution;
    if (terms.empty()) return;
    const size_t count = terms.size();
    terms.clear();
    proposal.pod_changed = true;
    Note(proposal, "anti-affinity",
         count == 1 ? "no required anti-affinity" : fmt::format("none of the {} required anti-affinity terms", count),
         1);
  }

  static void DropPorts(const NodeInfo& node, Proposal& proposal) {
    for (api::Container& container : proposal.pod.spec.containers) {
      for (api::ContainerPort& port : container.ports) {
        const framework::HostPort wanted{.ip = port.host_ip.empty() ? "0.0.0.0" : port.host_ip,
                                         .protocol = port.protocol.empty() ? "TCP" : port.protocol,
                                         .port = port.host_port};
        if (port.host_port <= 0 || !node.used_ports().Conflicts(wanted)) continue;
        port.host_port = 0;
        proposal.pod_changed = true;
        Note(proposal, "host port", fmt::format("no host port {}/{}", wanted.port, wanted.protocol), 1);
      }
    }
  }

  const engine::Profile& profile_;
  const framework::PodInfo& pod_;
  const TopologyDetails topology_;
};

// Whether the filters accept the changed pod on the changed node.
bool Fits(const engine::Profile& profile, cluster::Cluster& cluster, const framework::PodInfo& pod,
          const Proposal& proposal) {
  const framework::NodeInfo* node = cluster.Find(proposal.node);
  const std::shared_ptr<const api::Node> original = node->shared_node();
  if (proposal.node_changed) cluster.UpsertNode(std::make_shared<const api::Node>(proposal.changed_node));
  const framework::PodInfoPtr changed =
      proposal.pod_changed ? cluster.MakePodInfo(std::make_shared<const api::Pod>(proposal.pod)) : nullptr;
  const framework::PodInfo& tried = changed ? *changed : pod;
  framework::CycleState state = profile.NewCycleState();
  const engine::PreFilterOutcome outcome = profile.RunPreFilter(state, tried);
  const bool fits = outcome.status.ok() && (!outcome.node_names || outcome.node_names->contains(proposal.node)) &&
                    profile.RunFilterWithNominatedPods(state, tried, *node).ok();
  if (proposal.node_changed) cluster.UpsertNode(original);
  return fits;
}

}  // namespace

void FindRemedies(const engine::Profile& profile, cluster::Cluster& cluster, const framework::PodInfo& pod,
                  Explanation& told) {
  const Proposer proposer(profile, pod);
  std::vector<Proposal> proposals;
  for (const NodeVerdict& verdict : told.nodes) {
    if (std::optional<Proposal> proposal = proposer.For(*cluster.Find(verdict.node), verdict)) {
      proposals.push_back(*std::move(proposal));
    }
  }
  std::stable_sort(proposals.begin(), proposals.end(),
                   [](const Proposal& a, const Proposal& b) { return a.cost < b.cost; });
  std::set<std::vector<std::string>> seen;
  for (const Proposal& proposal : proposals) {
    if (told.remedies.size() == kMaxTold || told.remedies_tried == kMaxTried) break;
    if (seen.contains(proposal.kinds)) continue;
    ++told.remedies_tried;
    if (!Fits(profile, cluster, pod, proposal)) continue;
    seen.insert(proposal.kinds);
    told.remedies.push_back({proposal.node, proposal.changes});
  }
}

}  // namespace berth::explain
