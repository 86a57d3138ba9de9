#include "report/explanation_json.h"

#include <string_view>

#include "report/json_fields.h"

namespace berth::report {

namespace {

class ExplanationWriter : JsonFields {
 public:
  ExplanationWriter(codec::JsonWriter& json, Reader reader) : JsonFields(json), reader_(reader) {}

  void Write(const explain::Explanation& told) {
    json_.StartObject();
    Text("pod", told.pod);
    Text("node", told.node);
    Text("runnerUp", told.runner_up);
    Text("message", told.message);
    if (!told.pre_filter.empty()) {
      json_.Key("preFilter");
      json_.StartObject();
      Text("plugin", told.pre_filter_plugin);
      Text("reason", told.pre_filter);
      json_.EndObject();
    }
    List("scorePlugins", told.score_plugins, [&](const explain::WeightedPlugin& plugin) {
      json_.StartObject();
      Text("plugin", plugin.name);
      Number("weight", plugin.weight);
      json_.EndObject();
    });
    List("nodes", told.nodes, [&](const explain::NodeVerdict& verdict) { Verdict(told, verdict); });
    if (told.preemption) Preemption(*told.preemption);
    if (told.node.empty()) {
      List("wouldFitWith", told.remedies, [&](const explain::ProvenRemedy& remedy) {
        json_.StartObject();
        Text("node", remedy.node);
        Texts("changes", remedy.changes);
        json_.EndObject();
      });
      if (!told.hints.empty()) Texts("hints", told.hints);
    }
    json_.EndObject();
  }

 private:
  void Verdict(const explain::Explanation& told, const explain::NodeVerdict& verdict) {
    json_.StartObject();
    Text("node", verdict.node);
    Flag("feasible", verdict.feasible());
    if (!verdict.feasible()) {
      List("rejections", verdict.rejections, [&](const explain::NodeRejection& rejection) {
        json_.StartObject();
        Text("plugin", rejection.plugin);
        Text("reason", rejection.reason);
        Text("detail", rejection.Detail());
        json_.EndObject();
      });
    }
    if (!verdict.points.empty()) {
      Number("score", verdict.total);
      json_.Key("scores");
      json_.StartArray();
      for (size_t i = 0; i < verdict.points.size(); ++i) Points(told.score_plugins[i], verdict.points[i]);
      json_.EndArray();
    }
    json_.EndObject();
  }

  void Points(const explain::WeightedPlugin& plugin, const explain::PluginPoints& points) {
    if (reader_ == Reader::kPage) {
      json_.StartArray();
      for (const int64_t value : {points.raw, points.normalised, points.weighted}) json_.Int64(value);
      json_.EndArray();
      return;
    }
    json_.StartObject();
    Text("plugin", plugin.name);
    Number("raw", points.raw);
    Number("normalised", points.normalised);
    Number("weighted", points.weighted);
    json_.EndObject();
  }

  void Preemption(const framework::PreemptionExplanation& story) {
    json_.Key("preemption");
    json_.StartObject();
    Text("notEligible", story.not_eligible);
    List("trials", story.trials, [&](const framework::PreemptionTrial& trial) {
      json_.StartObject();
      Text("node", trial.node);
      Flag("wouldFit", trial.would_fit);
      if (trial.would_fit) {
        Flag("chosen", trial.chosen);
        List("victims", trial.victims, [&](const framework::NamedVictim& victim) {
          json_.StartObject();
          Text("pod", victim.pod);
          Number("priority", victim.priority);
          json_.EndObject();
        });
        Number("disruptionBudgetViolations", trial.pdb_violations);
      }
      Text("verdict", trial.verdict);
      json_.EndObject();
    });
    Number("nodesNotHelpful", static_cast<int64_t>(story.not_helpful));
    json_.EndObject();
  }

  const Reader reader_;
};

}  // namespace

void WriteExplanation(codec::JsonWriter& json, const explain::Explanation& told, Reader reader) {
  ExplanationWriter(json, reader).Write(told);
}

}  // namespace berth::report
