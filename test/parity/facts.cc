#include "facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/quantity.h"
#include "codec/json.h"

namespace berth::parity {

namespace {

using codec::Value;

// A set has one fact per member.
constexpr char kPresent[] = "present";
constexpr char kAbsent[] = "absent";

std::string VerdictText(std::string_view code, std::string_view plugin, std::vector<std::string> reasons) {
  std::sort(reasons.begin(), reasons.end());
  return fmt::format("{} {} [{}]", code, plugin, fmt::join(reasons, "; "));
}

}  // namespace

std::string StatusText(const framework::Status& status) {
  return VerdictText(framework::NameOf(status.code()), status.plugin(), status.reasons());
}

std::string_view TextOf(const Value& object, std::string_view key) {
  const Value* found = object.Find(key);
  return found ? found->text() : std::string_view();
}

namespace {

std::string VerdictText(const Value& verdict) {
  std::vector<std::string> reasons;
  if (const Value* list = verdict.Find("reasons")) {
    for (const Value& reason : list->items()) reasons.emplace_back(reason.text());
  }
  return VerdictText(TextOf(verdict, "code"), TextOf(verdict, "plugin"), std::move(reasons));
}

std::string VictimsText(std::vector<std::string> victims, std::string_view pdb_violations) {
  std::sort(victims.begin(), victims.end());
  return fmt::format("[{}] violating {}", fmt::join(victims, " "), pdb_violations);
}

std::string VictimsText(const Value& candidate) {
  std::vector<std::string> victims;
  if (const Value* list = candidate.Find("victims")) {
    for (const Value& victim : list->items()) victims.emplace_back(victim.text());
  }
  return VictimsText(std::move(victims), TextOf(candidate, "pdbViolations"));
}

std::string VictimsText(const framework::Victims& victims) {
  std::vector<std::string> names;
  for (const framework::PodInfoPtr& pod : victims.pods) names.push_back(pod->Key());
  return VictimsText(std::move(names), std::to_string(victims.pdb_violations));
}

void AddSet(Facts& facts, const std::string& field, const Value& list) {
  for (const Value& item : list.items()) facts[field][std::string(item.text())] = kPresent;
}

void AddByNode(Facts& facts, const std::string& field, const Value& by_plugin) {
  for (const codec::Member& plugin : by_plugin.members()) {
    for (const codec::Member& node : plugin.value.members()) {
      facts[field][fmt::format("{}/{}", plugin.key, node.key)] = node.value.text();
    }
  }
}

void AddScores(Facts& facts, const engine::Evaluation& evaluation) {
  for (const engine::PluginScores& scores : evaluation.scores) {
    for (size_t i = 0; i < evaluation.feasible.size(); ++i) {
      const std::string key = fmt::format("{}/{}", scores.plugin, evaluation.feasible[i]->name());
      facts["rawScores"][key] = std::to_string(scores.raw[i]);
      facts["scores"][key] = std::to_string(scores.weighted[i]);
    }
  }
  for (size_t i = 0; i < evaluation.totals.size(); ++i) {
    facts["total"][evaluation.feasible[i]->name()] = std::to_string(evaluation.totals[i]);
  }
  for (const uint32_t i : evaluation.best) facts["best"][evaluation.feasible[i]->name()] = kPresent;
}

// Members whose own members are quantities.
bool HoldsQuantities(std::string_view name) { return name == "consumedCapacity" || name == "resources"; }

bool IsEmptyTree(const Value& value) {
  if (value.is_object()) {
    return std::all_of(value.members().begin(), value.members().end(),
                       [](const codec::Member& member) { return IsEmptyTree(member.value); });
  }
  return value.is_null() || (value.is_array() && value.items().empty());
}

void AppendCanonical(std::string& out, const Value& value, bool quantities) {
  if (value.is_array()) {
    out += '[';
    for (const Value& item : value.items()) {
      if (out.back() != '[') out += ',';
      AppendCanonical(out, item, false);
    }
    out += ']';
    return;
  }
  if (value.is_object()) {
    std::map<std::string_view, const Value*> sorted;
    for (const codec::Member& member : value.members()) sorted[member.key] = &member.value;
    sorted.erase("lastTransitionTime");  // not recorded
    out += '{';
    for (const auto& [name, member] : sorted) {
      // Empty and absent are equivalent.
      if (member->is_null() || ((member->is_array() || member->is_object()) && IsEmptyTree(*member))) continue;
      if (out.back() != '{') out += ',';
      out += fmt::format("{}:", name);
      AppendCanonical(out, *member, HoldsQuantities(name));
    }
    out += '}';
    return;
  }
  if (quantities) {
    if (const Result<api::Quantity> amount = api::Quantity::Parse(value.text())) {
      out += fmt::format("{}n", amount->ScaledValue(api::Quantity::kNano) == INT64_MAX
                                    ? amount->ToString()
                                    : std::to_string(amount->ScaledValue(api::Quantity::kNano)));
      return;
    }
  }
  out += value.is_null() ? "null" : value.is_bool() ? (value.boolean() ? "true" : "false") : value.text();
}

// Lists and objects below a field of `bind` and the like, one fact each; the position in a list is part of the key.
void AddTree(Facts& facts, const std::string& field, const Value& tree) {
  for (const codec::Member& member : tree.members()) {
    const std::string name(member.key);
    if (name == "anyOf") continue;  // upstream picks any; the record has the first by name, as berth does
    if (name == "claims" && member.value.is_object()) {
      for (const codec::Member& claim : member.value.members()) {
        facts[field][name + " " + std::string(claim.key)] = Canonical(claim.value);
      }
    } else if (name == "preBind" || name == "reserve") {
      facts[field][name] = VerdictText(member.value);
    } else {
      facts[field][name] = Canonical(member.value);
    }
  }
}

// Upstream creates an empty claim for extended resources that device plugins serve if the pod has its own claims, and
// then fails to bind the pod. berth binds it (docs/parity.md).
bool IsUpstreamsEmptyClaim(const Value& bind) {
  const Value* failed = bind.Find("preBind");
  const Value* reasons = failed ? failed->Find("reasons") : nullptr;
  return reasons && !reasons->items().empty() &&
         reasons->items()[0].text().find("nil or empty request mappings") != std::string_view::npos;
}

void AddPostFilter(Facts& facts, const framework::PostFilterResult& result) {
  if (!result.status.ok()) {
    facts["preemptionStatus"][""] = StatusText(result.status);
    return;
  }
  facts["preemption"]["node"] = result.nominated_node_name;
  facts["preemption"]["victims"] = VictimsText(result.victims);
  for (const framework::PreemptionCandidate& candidate : result.candidates) {
    facts["preemptionCandidates"][candidate.node_name] = VictimsText(candidate.victims);
  }
}

}  // namespace

std::string Canonical(const Value& value) {
  std::string out;
  AppendCanonical(out, value, false);
  return out;
}

std::string CanonicalJson(const std::string& json) {
  const Result<codec::Document> document = codec::ParseJson(json, "ours");
  return document ? Canonical(document->root()) : json;
}

Facts FactsOf(const Value& expect) {
  Facts facts;
  for (const codec::Member& member : expect.members()) {
    const std::string field(member.key);
    const Value& value = member.value;
    if (field == "preEnqueue" || field == "preFilter" || field == "preemptionStatus") {
      facts[field][""] = VerdictText(value);
    } else if (field == "rejected") {
      for (const codec::Member& node : value.members()) facts[field][std::string(node.key)] = VerdictText(node.value);
    } else if (field == "scores" || field == "rawScores") {
      AddByNode(facts, field, value);
    } else if (field == "allocations") {
      for (const codec::Member& node : value.members()) {
        for (const codec::Member& claim : node.value.members()) {
          facts[field][fmt::format("{} {}", node.key, claim.key)] = Canonical(claim.value);
        }
      }
    } else if (field == "extendedRequests") {
      for (const codec::Member& node : value.members()) facts[field][std::string(node.key)] = Canonical(node.value);
    } else if (field == "bind" || field == "deallocation") {
      if (IsUpstreamsEmptyClaim(value)) {
        facts[field]["differs"] = "on purpose";
      } else {
        AddTree(facts, field, value);
      }
    } else if (field == "total") {
      for (const codec::Member& node : value.members()) facts[field][std::string(node.key)] = node.value.text();
    } else if (field == "preemption") {
      // Among equals upstream picks any and the record has the first by name, as berth does.
      facts[field]["node"] = TextOf(value, "node");
      facts[field]["victims"] = VictimsText(value);
    } else if (field == "preemptionCandidates") {
      for (const codec::Member& node : value.members()) facts[field][std::string(node.key)] = VictimsText(node.value);
    } else if (value.is_array()) {
      AddSet(facts, field, value);
    } else if (value.is_bool()) {
      facts[field][""] = value.boolean() ? "true" : "false";
    } else {
      facts[field][""] = value.text();
    }
  }
  return facts;
}

Facts FactsOf(const Decision& decision) {
  Facts facts;
  if (!decision.pre_enqueue.ok()) facts["preEnqueue"][""] = StatusText(decision.pre_enqueue);
  if (!decision.message.empty()) facts["message"][""] = decision.message;
  if (!decision.evaluated) return facts;

  const engine::Evaluation& evaluation = decision.evaluation;
  if (!evaluation.error.ok()) facts["schedulingError"][""] = evaluation.error.Message();
  if (constexpr std::string_view kPreFilter = "running PreFilter plugin \"";
      evaluation.error.Message().starts_with(kPreFilter)) {
    const std::string message = evaluation.error.Message();
    const size_t end = message.find('"', kPreFilter.size());
    facts["preFilter"][""] =
        VerdictText("Error", message.substr(kPreFilter.size(), end - kPreFilter.size()), {message});
  }
  if (!evaluation.pre_filter.ok()) facts["preFilter"][""] = StatusText(evaluation.pre_filter);
  if (evaluation.narrowed_to) {
    for (const std::string& name : *evaluation.narrowed_to) facts["preFilterNodes"][name] = kPresent;
  }
  for (const framework::NodeInfo* node : evaluation.feasible) facts["feasible"][node->name()] = kPresent;
  for (const auto& [name, status] : decision.rejected) {
    facts["rejected"][name] = StatusText(status);
  }
  AddScores(facts, evaluation);
  if (evaluation.nominated) facts["nominatedNodeUsed"][""] = evaluation.nominated->name();
  for (const std::string& plugin : evaluation.diagnosis.unschedulable_plugins)
    facts["unschedulablePlugins"][plugin] = kPresent;
  for (const std::string& plugin : evaluation.diagnosis.pending_plugins) facts["pendingPlugins"][plugin] = kPresent;
  if (decision.post_filter_ran) AddPostFilter(facts, decision.post_filter);
  facts.insert(decision.devices.begin(), decision.devices.end());
  return facts;
}

namespace {

// Adjusts the record and berth's result where upstream may make one of several decisions.
void AllowForChance(Facts& expected, Facts& got) {
  // The error of any node may be the one that is reported, and then no node is chosen.
  if (const auto errors = expected.find("schedulingErrors"); errors != expected.end()) {
    if (errors->second.contains(got["schedulingError"][""])) expected["schedulingError"] = got["schedulingError"];
    expected.erase(errors);
  }
  if (expected.contains("schedulingError")) {
    expected.erase("best");
    got.erase("best");
  }
  if (const auto bind = expected.find("bind"); bind != expected.end() && bind->second.contains("differs")) {
    expected.erase("bind");
    got.erase("bind");
  }
}

}  // namespace

std::vector<Difference> Compare(const Facts& recorded, const Facts& decided) {
  Facts expected = recorded;
  Facts got = decided;
  AllowForChance(expected, got);
  std::vector<Difference> differences;
  static const std::map<std::string, std::string> kNone;
  const auto keys_of = [](const Facts& facts, const std::string& field) -> const auto& {
    const auto it = facts.find(field);
    return it == facts.end() ? kNone : it->second;
  };
  Facts fields = expected;
  fields.insert(got.begin(), got.end());
  for (const auto& [field, unused] : fields) {
    const auto& theirs = keys_of(expected, field);
    const auto& ours = keys_of(got, field);
    for (const auto& [key, value] : theirs) {
      const auto it = ours.find(key);
      if (it == ours.end() || it->second != value) {
        differences.push_back({field, key, value, it == ours.end() ? kAbsent : it->second});
      }
    }
    for (const auto& [key, value] : ours) {
      if (!theirs.contains(key)) differences.push_back({field, key, kAbsent, value});
    }
  }
  return differences;
}

}  // namespace berth::parity
