// The report as JSON, and as YAML of the same tree.
#include <cmath>

#include "codec/json_writer.h"
#include "codec/yaml_writer.h"
#include "framework/amount_text.h"
#include "report/explanation_json.h"
#include "report/json_fields.h"
#include "report/report.h"

namespace berth::report {

namespace {

class ReportWriter : JsonFields {
 public:
  ReportWriter(codec::JsonWriter& json, Reader reader) : JsonFields(json), reader_(reader) {}

  void Write(const sim::SimulationReport& report) {
    json_.StartObject();
    Text("apiVersion", "berth.dev/v1");
    Text("kind", "SimulationReport");
    json_.Key("summary");
    Summary(report);
    List("pods", report.pods, [&](const sim::PodReport& pod) { Pod(pod); });
    List("preempted", report.preempted, [&](const sim::PodReport& pod) { Pod(pod); });
    List("nodes", report.utilisation.nodes, [&](const sim::NodeUse& node) { Node(report.utilisation, node); });
    if (!report.rollouts.empty()) {
      List("rollouts", report.rollouts, [&](const sim::RolloutReport& rollout) { Rollout(rollout); });
    }
    if (reader_ == Reader::kProgram) {
      Texts("warnings", report.warnings);
      Texts("notes", report.notes);
    }
    if (!report.explanations.empty()) {
      List("explanations", report.explanations,
           [&](const explain::Explanation& told) { WriteExplanation(json_, told, reader_); });
    }
    json_.EndObject();
  }

 private:
  // Quantities for programs; the page shows them to people.
  std::string AmountOf(std::string_view resource, int64_t amount) const {
    return reader_ == Reader::kPage ? framework::AmountText(resource, amount)
                                    : framework::QuantityText(resource, amount);
  }
  // Four digits; further ones are noise.
  void Share(double share) {
    json_.Key("share");
    json_.Double(std::round(share * 10000) / 10000);
  }

  void Summary(const sim::SimulationReport& report) {
    json_.StartObject();
    Count("nodes", report.nodes);
    Count("boundBefore", report.bound_before);
    if (!report.lost.empty()) Count("onMissingNodes", report.lost.size());
    Count("scheduled", report.Count(sim::PodOutcome::kScheduled));
    Count("pending", report.Count(sim::PodOutcome::kPending));
    Count("gated", report.Count(sim::PodOutcome::kGated));
    Count("notOurs", report.Count(sim::PodOutcome::kForeign));
    Count("preempted", report.preempted.size());
    List("utilisation", report.utilisation.resources, [&](const sim::ResourceUse& use) { Resource(use); });
    List("zones", report.utilisation.zones, [&](const sim::ZoneUse& zone) { Zone(zone); });
    Count("placedSpread", report.utilisation.PlacedSpread());
    json_.EndObject();
  }

  void Rollout(const sim::RolloutReport& rollout) {
    json_.StartObject();
    Text("workload", rollout.workload);
    Count("wanted", rollout.wanted);
    Count("updated", rollout.updated);
    Count("oldLeft", rollout.old_left);
    Flag("complete", rollout.complete());
    json_.EndObject();
  }

  void Resource(const sim::ResourceUse& use) {
    json_.StartObject();
    Text("resource", use.resource);
    Text("requested", AmountOf(use.resource, use.total.requested));
    Text("allocatable", AmountOf(use.resource, use.total.allocatable));
    Share(use.total.share());
    const auto node = [&](std::string_view key, const sim::NodeShare& share) {
      if (share.node.empty()) return;
      json_.Key(key);
      json_.StartObject();
      Text("node", share.node);
      Share(share.share);
      json_.EndObject();
    };
    node("lowest", use.lowest);
    node("median", use.median);
    node("highest", use.highest);
    json_.EndObject();
  }

  void Zone(const sim::ZoneUse& zone) {
    json_.StartObject();
    TextEvenIfEmpty("zone", zone.zone);
    Count("nodes", zone.nodes);
    Count("pods", zone.pods);
    Count("placed", zone.placed);
    json_.EndObject();
  }

  void Node(const sim::Utilisation& utilisation, const sim::NodeUse& node) {
    json_.StartObject();
    Text("node", node.node);
    Text("zone", node.zone);
    json_.Key("resources");
    json_.StartArray();
    for (size_t i = 0; i < node.amounts.size(); ++i) {
      const std::string& resource = utilisation.resources[i].resource;
      if (node.amounts[i].allocatable == 0 && node.amounts[i].requested == 0) continue;
      json_.StartObject();
      Text("resource", resource);
      Text("requested", AmountOf(resource, node.amounts[i].requested));
      Text("allocatable", AmountOf(resource, node.amounts[i].allocatable));
      Share(node.amounts[i].share());
      json_.EndObject();
    }
    json_.EndArray();
    if (reader_ == Reader::kPage) Texts("pods", node.pods);
    json_.EndObject();
  }

  void Pod(const sim::PodReport& pod) {
    json_.StartObject();
    Text("pod", pod.key);
    Text("owner", pod.owner);
    Text("outcome", NameOf(pod.outcome));
    Text("node", pod.node);
    Text("message", pod.message);
    Text("nominatedNode", pod.nominated_node);
    Text("preemptedBy", pod.preempted_by);
    if (pod.outcome == sim::PodOutcome::kScheduled) {
      Count("feasibleNodes", pod.feasible_nodes);
      if (pod.scored) Number("score", pod.score);
      if (pod.preempting) Flag("byPreemption", true);
      if (!pod.runner_up.empty()) {
        json_.Key("runnerUp");
        json_.StartObject();
        Text("node", pod.runner_up);
        Number("score", pod.runner_up_score);
        Number("margin", pod.score - pod.runner_up_score);
        json_.EndObject();
      }
      if (!pod.devices.empty()) List("devices", pod.devices, [&](const sim::PodDevice& device) { Device(device); });
    }
    json_.EndObject();
  }

  void Device(const sim::PodDevice& device) {
    json_.StartObject();
    Text("claim", device.claim);
    Text("request", device.request);
    Text("driver", device.driver);
    Text("pool", device.pool);
    Text("device", device.device);
    if (!device.consumed.empty()) {
      json_.Key("consumedCapacity");
      json_.StartObject();
      for (const auto& [name, amount] : device.consumed) Text(name, amount.ToString());
      json_.EndObject();
    }
    json_.EndObject();
  }

  const Reader reader_;
};

}  // namespace

std::string ToJson(const sim::SimulationReport& report) {
  std::string out;
  codec::JsonWriter json(out, /*pretty=*/true);
  ReportWriter(json, Reader::kProgram).Write(report);
  return out + "\n";
}

std::string ToPageData(const sim::SimulationReport& report) {
  std::string out;
  codec::JsonWriter json(out);
  ReportWriter(json, Reader::kPage).Write(report);
  return out;
}

std::string ToYaml(const sim::SimulationReport& report) { return codec::JsonToYaml(ToJson(report)); }

}  // namespace berth::report
