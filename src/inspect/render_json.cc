#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/time.h"
#include "codec/json_writer.h"
#include "framework/amount_text.h"
#include "inspect/render.h"
#include "report/explanation_json.h"
#include "report/json_fields.h"

namespace berth::inspect {

namespace {

constexpr std::string_view kZone = "topology.kubernetes.io/zone";

class ViewWriter : public report::JsonFields {
 public:
  using JsonFields::JsonFields;

  codec::JsonWriter& json() { return json_; }

  void Begin(std::string_view kind, base::Time at) {
    json_.StartObject();
    Text("apiVersion", "berth.dev/v1");
    Text("kind", kind);
    When("at", at);
  }
  void End() { json_.EndObject(); }

  // Only ever true: the absence of the field means false.
  void Mark(std::string_view key) { Flag(key, true); }
  void When(std::string_view key, base::Time time) { Text(key, api::FormatMicroTime({time})); }
  void Seconds(std::string_view key, base::Duration duration) {
    json_.Key(key);
    json_.Double(static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) / 1000);
  }
  void TextsIfAny(std::string_view key, const std::vector<std::string>& texts) {
    if (!texts.empty()) Texts(key, texts);
  }

  void Pending(const PendingPod& pod) {
    json_.StartObject();
    Text("pod", pod.pod);
    Text("uid", pod.uid);
    Text("schedulerName", pod.scheduler_name);
    Number("priority", pod.priority);
    if (pod.position > 0) Number("position", static_cast<int64_t>(pod.position));
    Number("attempts", pod.attempts);
    When("since", pod.since);
    if (pod.left) Seconds("secondsLeft", *pod.left);
    TextsIfAny("rejectedBy", pod.plugins);
    TextsIfAny("waitsFor", pod.pending_plugins);
    Text("gatedBy", pod.gating_plugin);
    Text("nominatedNode", pod.nominated_node);
    json_.EndObject();
  }

  void Attempt(const scheduler::AttemptRecord& attempt) {
    json_.StartObject();
    Number("sequence", static_cast<int64_t>(attempt.sequence));
    Text("pod", attempt.name_space + "/" + attempt.name);
    Text("uid", attempt.uid);
    Text("schedulerName", attempt.scheduler_name);
    Number("priority", attempt.priority);
    Text("outcome", NameOf(attempt.ending));
    Number("attempt", attempt.number);
    if (attempt.first_attempt) When("firstReady", *attempt.first_attempt);
    When("started", attempt.started);
    When("ended", attempt.ended);
    if (attempt.flushed) Mark("sleptTooLong");
    Text("node", attempt.node);
    if (attempt.nominated) Mark("nominated");
    Number("nodes", attempt.nodes);
    Number("feasibleNodes", attempt.feasible);
    if (attempt.score) {
      Number("score", *attempt.score);
      if (attempt.ties > 0) Number("equallyGood", attempt.ties);
    }
    Text("message", attempt.message);
    Failure(attempt);
    if (attempt.shortened) Mark("shortened");
    json_.EndObject();
  }

 private:
  void Failure(const scheduler::AttemptRecord& attempt) {
    if (!attempt.reasons.empty()) {
      List("reasons", attempt.reasons, [&](const scheduler::AttemptRecord::Reason& reason) {
        json_.StartObject();
        Text("plugin", reason.plugin);
        Text("reason", reason.reason);
        Number("nodes", reason.nodes);
        json_.EndObject();
      });
    }
    TextsIfAny("rejectedBy", attempt.plugins);
    TextsIfAny("waitsFor", attempt.pending_plugins);
    if (attempt.nominated_node.empty()) return;
    json_.Key("preemption");
    json_.StartObject();
    Text("node", attempt.nominated_node);
    List("victims", attempt.victims, [&](const scheduler::AttemptRecord::Victim& victim) {
      json_.StartObject();
      Text("pod", victim.pod);
      Number("priority", victim.priority);
      json_.EndObject();
    });
    Number("victimCount", attempt.victim_count);
    Number("disruptionBudgetViolations", attempt.pdb_violations);
    json_.EndObject();
  }
};

void WriteResources(ViewWriter& writer, const NodesView::Node& node) {
  codec::JsonWriter& json = writer.json();
  json.Key("resources");
  json.StartArray();
  const auto write = [&](std::string_view name, int64_t requested, int64_t allocatable) {
    if (requested == 0 && allocatable == 0) return;
    json.StartObject();
    writer.Text("resource", name);
    writer.Text("requested", framework::QuantityText(name, requested));
    writer.Text("allocatable", framework::QuantityText(name, allocatable));
    json.Key("share");
    json.Double(allocatable > 0 ? static_cast<double>(requested * 10000 / allocatable) / 10000 : 0.0);
    json.EndObject();
  };
  write("cpu", node.requested.milli_cpu, node.allocatable.milli_cpu);
  write("memory", node.requested.memory, node.allocatable.memory);
  write("pods", static_cast<int64_t>(node.pods), node.allocatable.allowed_pod_number);
  if (node.requested.ephemeral_storage > 0) {
    write("ephemeral-storage", node.requested.ephemeral_storage, node.allocatable.ephemeral_storage);
  }
  for (const auto& [name, allocatable] : node.allocatable.scalar) {
    write(name.str(), node.requested.Get(name), allocatable);
  }
  json.EndArray();
}

void WriteNode(ViewWriter& writer, const NodesView::Node& node) {
  codec::JsonWriter& json = writer.json();
  json.StartObject();
  writer.Text("node", node.node->metadata.name);
  if (const Symbol* zone = node.node->metadata.labels.Find(Symbol(kZone))) writer.Text("zone", zone->str());
  if (node.node->spec.unschedulable) writer.Mark("unschedulable");
  if (!node.node->spec.taints.empty()) {
    writer.List("taints", node.node->spec.taints, [&](const api::Taint& taint) { json.String(taint.ToString()); });
  }
  WriteResources(writer, node);
  if (!node.on_it.empty()) {
    writer.List("pods", node.on_it, [&](const framework::PodInfoPtr& pod) {
      json.StartObject();
      writer.Text("pod", pod->Key());
      writer.Number("priority", pod->priority());
      json.EndObject();
    });
  }
  json.EndObject();
}

// By the first rejection of each node, the most frequent first.
void WriteReasons(ViewWriter& writer, const explain::Explanation& told) {
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  for (const explain::NodeVerdict& verdict : told.nodes) {
    if (!verdict.feasible()) ++counts[{verdict.rejections.front().plugin, verdict.rejections.front().reason}];
  }
  std::vector<std::pair<std::pair<std::string, std::string>, int64_t>> ordered(counts.begin(), counts.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  writer.List("reasons", ordered, [&](const auto& entry) {
    writer.json().StartObject();
    writer.Text("plugin", entry.first.first);
    writer.Text("reason", entry.first.second);
    writer.Number("nodes", entry.second);
    writer.json().EndObject();
  });
}

void WriteNow(ViewWriter& writer, const explain::Explanation& told, size_t max_nodes) {
  const explain::Explanation trimmed = Trimmed(told, max_nodes);
  writer.json().Key("now");
  writer.json().StartObject();
  writer.Number("nodes", static_cast<int64_t>(told.nodes.size()));
  writer.Number("feasibleNodes", std::count_if(told.nodes.begin(), told.nodes.end(),
                                               [](const explain::NodeVerdict& node) { return node.feasible(); }));
  WriteReasons(writer, told);
  writer.Number("nodesLeftOut", static_cast<int64_t>(told.nodes.size() - trimmed.nodes.size()));
  if (told.cut_short) writer.Mark("cutShort");
  writer.json().Key("explanation");
  report::WriteExplanation(writer.json(), trimmed, report::Reader::kProgram);
  writer.json().EndObject();
}

}  // namespace

explain::Explanation Trimmed(const explain::Explanation& told, size_t max_nodes) {
  explain::Explanation trimmed = told;
  const auto shortage = [](const explain::NodeVerdict& verdict) {
    double sum = 0;
    for (const explain::NodeRejection& rejection : verdict.rejections) sum += 1 + rejection.Shortage();
    return sum;
  };
  std::stable_sort(trimmed.nodes.begin(), trimmed.nodes.end(),
                   [&](const explain::NodeVerdict& a, const explain::NodeVerdict& b) {
                     if (a.feasible() != b.feasible()) return a.feasible();
                     return a.feasible() ? a.total > b.total : shortage(a) < shortage(b);
                   });
  if (trimmed.nodes.size() > max_nodes) trimmed.nodes.resize(max_nodes);
  return trimmed;
}

std::string ToJson(const QueueView& view) {
  std::string out;
  codec::JsonWriter json(out);
  ViewWriter writer(json);
  writer.Begin("SchedulingQueue", view.at);
  writer.List("lanes", view.lanes, [&](const QueueView::Lane& lane) {
    json.StartObject();
    writer.Text("lane", NameOf(lane.place));
    writer.Number("total", static_cast<int64_t>(lane.total));
    writer.List("pods", lane.pods, [&](const PendingPod& pod) { writer.Pending(pod); });
    json.EndObject();
  });
  writer.End();
  return out + "\n";
}

std::string ToJson(const DecisionsView& view) {
  std::string out;
  codec::JsonWriter json(out);
  ViewWriter writer(json);
  writer.Begin("SchedulingDecisions", view.at);
  writer.Number("kept", static_cast<int64_t>(view.kept));
  writer.List("attempts", view.attempts, [&](const scheduler::AttemptRecord& attempt) { writer.Attempt(attempt); });
  writer.End();
  return out + "\n";
}

std::string ToJson(const NodesView& view) {
  std::string out;
  codec::JsonWriter json(out);
  ViewWriter writer(json);
  writer.Begin("SchedulingNodes", view.at);
  writer.Number("total", static_cast<int64_t>(view.total));
  writer.List("nodes", view.nodes, [&](const NodesView::Node& node) { WriteNode(writer, node); });
  writer.End();
  return out + "\n";
}

std::string ToEvent(const EventsView& view, std::chrono::milliseconds pause) {
  std::string data;
  codec::JsonWriter json(data);
  ViewWriter writer(json);
  writer.Begin("SchedulingEvents", view.at);
  writer.Text("about", view.about);
  json.Key("lanes");
  json.StartObject();
  for (const auto& [place, count] : view.lanes) writer.Number(NameOf(place), static_cast<int64_t>(count));
  json.EndObject();
  writer.Number("nodes", static_cast<int64_t>(view.nodes));
  writer.Number("placed", static_cast<int64_t>(view.placed));
  writer.Number("sequence", static_cast<int64_t>(view.sequence));
  writer.List("attempts", view.attempts, [&](const scheduler::AttemptRecord& attempt) { writer.Attempt(attempt); });
  writer.End();
  // The JSON contains no line breaks, so it fits into one data line.
  return fmt::format("retry: {}\nid: {}\ndata: {}\n\n", pause.count(), view.sequence, data);
}

std::string ToJson(const PodView& view, size_t max_nodes) {
  std::string out;
  codec::JsonWriter json(out);
  ViewWriter writer(json);
  writer.Begin("PodExplanation", view.at);
  writer.Text("pod", view.pod);
  writer.Text("uid", view.uid);
  writer.Text("schedulerName", view.scheduler_name);
  writer.Text("profile", view.profile);
  writer.Number("priority", view.priority);
  writer.Text("place", NameOf(view.place));
  writer.Text("node", view.node);
  writer.Text("nominatedNode", view.nominated_node);
  if (view.pending) {
    json.Key("queue");
    writer.Pending(*view.pending);
  }
  writer.List("wakeUps", view.wake_ups, [&](const WakeUp& wake_up) {
    json.StartObject();
    writer.Text("plugin", wake_up.plugin);
    writer.Texts("events", wake_up.events);
    json.EndObject();
  });
  writer.List("attempts", view.attempts, [&](const scheduler::AttemptRecord& attempt) { writer.Attempt(attempt); });
  if (view.now) WriteNow(writer, *view.now, max_nodes);
  writer.End();
  return out + "\n";
}

}  // namespace berth::inspect
