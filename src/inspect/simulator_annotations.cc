#include "inspect/simulator_annotations.h"

#include <algorithm>
#include <numeric>

#include "codec/json_writer.h"

namespace berth::inspect {

using framework::NodeInfo;

namespace {

constexpr std::string_view kPrefix = "kube-scheduler-simulator.sigs.k8s.io/";

// {"node":{"plugin":"text"}}, node by node while there is room.
class ResultText {
 public:
  explicit ResultText(size_t longest) : longest_(longest) {}

  // `write` gets the writer of the node's object. Returns false if the node did not fit.
  template <class Write>
  bool Add(std::string_view node, Write write) {
    std::string entry;
    codec::JsonWriter json(entry);
    json.StartObject();
    json.Key(node);
    json.StartObject();
    write(json);
    json.EndObject();
    json.EndObject();
    // Without the braces around it.
    if (text_.size() + entry.size() + 1 > longest_) return false;
    text_ += (text_.empty() ? "" : ",") + entry.substr(1, entry.size() - 2);
    return true;
  }
  bool empty() const { return text_.empty(); }
  std::string Take() const { return "{" + text_ + "}"; }

 private:
  const size_t longest_;
  std::string text_;
};

void WriteText(codec::JsonWriter& json, std::string_view key, std::string_view value) {
  json.Key(key);
  json.String(value);
}

// Positions in `feasible`, the best first.
std::vector<size_t> BestFirst(const engine::Evaluation& evaluation) {
  std::vector<size_t> order(evaluation.feasible.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!evaluation.totals.empty()) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return evaluation.totals[a] > evaluation.totals[b]; });
  }
  return order;
}

std::string FilterText(const engine::Evaluation& evaluation, const engine::Profile& profile, size_t longest) {
  ResultText text(longest);
  for (const size_t position : BestFirst(evaluation)) {
    const bool fitted = text.Add(evaluation.feasible[position]->name(), [&](codec::JsonWriter& json) {
      for (const auto& filter : profile.filters()) WriteText(json, filter.name, "passed");
    });
    if (!fitted) return text.Take();
  }
  const framework::NodeToStatus& statuses = evaluation.diagnosis.node_to_status;
  for (const NodeInfo* node : profile.cluster().nodes()) {
    // Nodes that PreFilter excluded were never filtered.
    if (!statuses.IsExplicit(node->index())) continue;
    const framework::Status& status = statuses.Get(node->index());
    const bool fitted = text.Add(node->name(), [&](codec::JsonWriter& json) {
      for (const auto& filter : profile.filters()) {
        const bool rejects = filter.name == status.plugin();
        WriteText(json, filter.name, rejects ? status.Message() : "passed");
        if (rejects) break;
      }
    });
    if (!fitted) break;
  }
  return text.Take();
}

template <class Value>
std::string ScoreText(const engine::Evaluation& evaluation, size_t longest, Value value) {
  ResultText text(longest);
  for (const size_t position : BestFirst(evaluation)) {
    const bool fitted = text.Add(evaluation.feasible[position]->name(), [&](codec::JsonWriter& json) {
      for (const engine::PluginScores& scores : evaluation.scores) {
        WriteText(json, scores.plugin, std::to_string(value(scores)[position]));
      }
    });
    if (!fitted) break;
  }
  return text.Take();
}

std::string Name(std::string_view what) { return std::string(kPrefix) + std::string(what); }

}  // namespace

AnnotationTexts SimulatorAnnotations(const scheduler::Attempt& attempt, const engine::Profile& profile,
                                     size_t longest) {
  const engine::Evaluation& evaluation = attempt.evaluation;
  AnnotationTexts texts;
  texts.emplace_back(Name("filter-result"), FilterText(evaluation, profile, longest));
  if (!evaluation.scores.empty()) {
    texts.emplace_back(Name("score-result"),
                       ScoreText(
                           evaluation, longest, [](const auto& scores) -> const auto& { return scores.raw; }));
    texts.emplace_back(Name("finalscore-result"),
                       ScoreText(
                           evaluation, longest, [](const auto& scores) -> const auto& { return scores.weighted; }));
  }
  const std::vector<std::string_view> preempts = profile.PluginsAt(config::ExtensionPoint::kPostFilter);
  if (!attempt.post_filter.nominated_node_name.empty() && !preempts.empty()) {
    ResultText text(longest);
    text.Add(attempt.post_filter.nominated_node_name,
             [&](codec::JsonWriter& json) { WriteText(json, preempts.front(), "preemption victim"); });
    texts.emplace_back(Name("postfilter-result"), text.Take());
  }
  return texts;
}

std::pair<std::string, std::string> SelectedNodeAnnotation(const std::string& node) {
  return {Name("selected-node"), node};
}

}  // namespace berth::inspect
