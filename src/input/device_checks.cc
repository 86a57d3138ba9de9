#include "input/device_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "api/pod.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "cel/device_environment.h"
#include "input/near_names.h"

namespace berth::input {

namespace {

// The gate for lists is off by default; an expression that uses them compiles either way.
const std::shared_ptr<const cel::Environment>& SelectorEnvironment() {
  static const std::shared_ptr<const cel::Environment> environment =
      cel::NewDeviceEnvironment({.list_type_attributes = false});
  return environment;
}

// The line of the expression that has the problem, with a caret under it. Long lines are cut at both ends.
std::string PictureOf(std::string_view expression, const cel::Failure& failure) {
  constexpr size_t kShown = 100;
  for (int line = 1; line < failure.line; ++line) {
    expression.remove_prefix(std::min(expression.find('\n'), expression.size() - 1) + 1);
  }
  expression = expression.substr(0, expression.find('\n'));
  size_t before = 0;  // bytes before the problem
  for (int column = 1; column < failure.column && before < expression.size(); ++column) {
    before += std::max<size_t>(base::Utf8SequenceLength(expression.substr(before)), 1);
  }
  size_t begin = before > kShown ? before - kShown : 0;
  while (begin > 0 && (static_cast<unsigned char>(expression[begin]) & 0xC0) == 0x80) --begin;
  const std::string lead = base::Printable(expression.substr(begin, before - begin));
  // The caret is placed by visible characters, not by bytes.
  const auto width =
      std::count_if(lead.begin(), lead.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  const std::string shown = lead + base::Printable(base::Clipped(expression.substr(before), kShown));
  return fmt::format("    {}\n    {:>{}}", shown, "^", width + 1);
}

// Upstream's wording, without the frame and the picture that the command line cannot use.
std::string ReasonOf(const cel::Failure& failure) {
  std::string_view text = failure.text;
  if (const size_t error = text.find("ERROR: <input>:"); error != std::string_view::npos) {
    text.remove_prefix(error + 15);
    if (const size_t colon = text.find(": "); colon != std::string_view::npos) text.remove_prefix(colon + 2);
  }
  return std::string(text.substr(0, text.find('\n')));
}

void CheckSelectors(const std::vector<api::DeviceSelector>& selectors, const std::string& path, FieldChecks& checks) {
  for (size_t i = 0; i < selectors.size(); ++i) {
    const std::string at = fmt::format("{}.selectors[{}].cel.expression", path, i);
    if (!selectors[i].cel || selectors[i].cel->expression.empty()) {
      checks.Required(at, false);
      continue;
    }
    const std::string& expression = selectors[i].cel->expression;
    const auto compiled = cel::Compile(expression, SelectorEnvironment());
    const auto* failure = std::get_if<cel::Failure>(&compiled);
    if (!failure) continue;
    const std::string what = "the expression does not compile: " + ReasonOf(*failure);
    if (failure->line > 0) {
      checks.AddWithPicture(at, what, PictureOf(expression, *failure));
    } else {
      checks.Add(at, what);
    }
  }
}

template <class Request>
void CheckRequest(const Request& request, const std::string& path, FieldChecks& checks) {
  checks.Required(path + ".deviceClassName", !request.device_class_name.empty());
  checks.DnsName(path + ".deviceClassName", request.device_class_name);
  const std::string mode = request.allocation_mode.empty() ? "ExactCount" : request.allocation_mode;
  checks.OneOf(path + ".allocationMode", mode, {"ExactCount", "All"});
  if (request.count < 0) checks.Add(path + ".count", fmt::format("expected at least 1, found {}", request.count));
  if (mode == "All" && request.count != 0) {
    checks.Add(path + ".count", "must not be given with allocationMode All");
  }
  for (size_t i = 0; i < request.tolerations.size(); ++i) {
    const std::string& op = request.tolerations[i].op;
    checks.OneOf(fmt::format("{}.tolerations[{}].operator", path, i), op.empty() ? "Equal" : op, {"Equal", "Exists"});
    const std::string& effect = request.tolerations[i].effect;
    if (effect.empty()) continue;
    checks.OneOf(fmt::format("{}.tolerations[{}].effect", path, i), effect, {"NoSchedule", "NoExecute", "None"});
  }
  CheckSelectors(request.selectors, path, checks);
}

// In a constraint: "gpu.example.com/model".
void CheckQualifiedName(const std::string& path, const std::string& name, FieldChecks& checks) {
  if (name.find('/') == std::string::npos) {
    checks.Add(path,
               fmt::format("expected DOMAIN/NAME such as gpu.example.com/model, found \"{}\"", base::Clipped(name)));
  }
}

void CheckConstraint(const api::DeviceConstraint& constraint, const std::string& path,
                     const std::set<std::string, std::less<>>& requests, FieldChecks& checks) {
  for (size_t i = 0; i < constraint.requests.size(); ++i) {
    if (requests.contains(constraint.requests[i])) continue;
    checks.Add(fmt::format("{}.requests[{}]", path, i),
               fmt::format("the claim has no request \"{}\"", base::Clipped(constraint.requests[i])));
  }
  if (constraint.match_attribute) {
    CheckQualifiedName(path + ".matchAttribute", *constraint.match_attribute, checks);
  } else if (constraint.distinct_attribute) {
    CheckQualifiedName(path + ".distinctAttribute", *constraint.distinct_attribute, checks);
  } else {
    checks.Add(path, "expected matchAttribute or distinctAttribute, found neither");
  }
}

using PoolKey = std::pair<std::string, std::string>;  // driver, name

// The counters that the slices of each pool define, by the name of the set.
std::map<PoolKey, std::map<std::string, std::set<std::string>>> CountersOf(const ClusterDraft& draft) {
  std::map<PoolKey, std::map<std::string, std::set<std::string>>> counters;
  for (const DraftObject& found : draft.objects()) {
    const auto* slice = found.object.As<api::ResourceSlice>();
    if (!slice) continue;
    auto& sets = counters[{slice->spec.driver, slice->spec.pool.name}];
    for (const api::CounterSet& set : slice->spec.shared_counters) {
      for (const auto& [name, counter] : set.counters) sets[set.name].insert(name);
    }
  }
  return counters;
}

struct Missing {
  const DraftObject* object;
  std::string path;
  std::string text;
};

void FindMissingCounters(const ClusterDraft& draft, std::vector<Missing>& missing) {
  const auto counters = CountersOf(draft);
  for (const DraftObject& found : draft.objects()) {
    const auto* slice = found.object.As<api::ResourceSlice>();
    if (!slice) continue;
    const auto& sets = counters.at({slice->spec.driver, slice->spec.pool.name});
    for (size_t d = 0; d < slice->spec.devices.size(); ++d) {
      const auto& consumed = slice->spec.devices[d].consumes_counters;
      for (size_t c = 0; c < consumed.size(); ++c) {
        const std::string path = fmt::format("spec.devices[{}].consumesCounters[{}]", d, c);
        const std::string pool = fmt::format("no slice of pool {}/{}", slice->spec.driver, slice->spec.pool.name);
        const auto set = sets.find(consumed[c].counter_set);
        if (set == sets.end()) {
          std::vector<std::string> names;
          for (const auto& [name, unused] : sets) names.push_back(name);
          missing.push_back(
              {&found, path + ".counterSet",
               fmt::format("{}.counterSet: {} has a counter set \"{}\": {}", path, pool,
                           base::Clipped(consumed[c].counter_set), NearNames(consumed[c].counter_set, names))});
          continue;
        }
        for (const auto& [name, amount] : consumed[c].counters) {
          if (set->second.contains(name)) continue;
          missing.push_back(
              {&found, fmt::format("{}.counters[{}]", path, name),
               fmt::format("{}.counters[{}]: {} has that counter in its set \"{}\": {}", path, base::Clipped(name),
                           pool, consumed[c].counter_set, NearNames(name, {set->second.begin(), set->second.end()}))});
        }
      }
    }
  }
}

std::vector<std::string> NamesOf(api::Kind kind, const ClusterDraft& draft, std::string_view name_space = {}) {
  std::vector<std::string> names;
  for (const DraftObject& found : draft.objects()) {
    const api::ObjectMeta& metadata = found.object.metadata();
    if (found.object.kind() == kind && metadata.namespace_.str() == name_space) names.push_back(metadata.name);
  }
  return names;
}

void FindMissingClasses(const ClusterDraft& draft, std::vector<Missing>& missing) {
  const std::vector<std::string> classes = NamesOf(api::Kind::kDeviceClass, draft);
  if (classes.empty()) return;  // the kind was not dumped, which is reported once
  const auto look = [&](const DraftObject& found, const std::string& name, const std::string& path) {
    if (name.empty() || draft.Find(api::Kind::kDeviceClass, name)) return;
    missing.push_back({&found, path + ".deviceClassName",
                       fmt::format("{}.deviceClassName: device class \"{}\" does not exist: {}", path,
                                   base::Clipped(name), NearNames(name, classes))});
  };
  for (const DraftObject& found : draft.objects()) {
    const auto* claim = found.object.As<api::ResourceClaim>();
    const auto* made = found.object.As<api::ResourceClaimTemplate>();
    if ((!claim && !made) || (claim && claim->status.allocation)) continue;
    const api::ResourceClaimSpec& spec = claim ? claim->spec : made->spec.spec;
    for (size_t i = 0; i < spec.devices.requests.size(); ++i) {
      const api::DeviceRequest& request = spec.devices.requests[i];
      const std::string path = fmt::format("{}.devices.requests[{}]", claim ? "spec" : "spec.spec", i);
      if (request.exactly) look(found, request.exactly->device_class_name, path + ".exactly");
      for (size_t a = 0; a < request.first_available.size(); ++a) {
        look(found, request.first_available[a].device_class_name, fmt::format("{}.firstAvailable[{}]", path, a));
      }
    }
  }
}

void FindMissingClaims(const ClusterDraft& draft, std::vector<Missing>& missing) {
  for (const DraftObject& found : draft.objects()) {
    const auto* pod = found.object.As<api::Pod>();
    if (!pod || !pod->spec.node_name.empty() || api::IsTerminated(*pod)) continue;
    for (size_t i = 0; i < pod->spec.resource_claims.size(); ++i) {
      const api::PodResourceClaim& entry = pod->spec.resource_claims[i];
      const bool by_template = entry.resource_claim_template_name.has_value();
      const auto& known = pod->status.resource_claim_statuses;
      if (by_template &&
          std::any_of(known.begin(), known.end(), [&](const auto& status) { return status.name == entry.name; })) {
        continue;
      }
      if (!by_template && !entry.resource_claim_name) continue;
      const api::Kind kind = by_template ? api::Kind::kResourceClaimTemplate : api::Kind::kResourceClaim;
      const std::string& name = by_template ? *entry.resource_claim_template_name : *entry.resource_claim_name;
      const std::string_view name_space = pod->metadata.namespace_.str();
      if (draft.Find(kind, fmt::format("{}/{}", name_space, name))) continue;
      const std::string path =
          fmt::format("spec.resourceClaims[{}].{}", i, by_template ? "resourceClaimTemplateName" : "resourceClaimName");
      missing.push_back(
          {&found, path,
           fmt::format("{}: there is no {} {}/{}, and the pod waits for it: {}", path, api::InfoOf(kind).name,
                       name_space, base::Clipped(name), NearNames(name, NamesOf(kind, draft, name_space)))});
    }
  }
}

}  // namespace

void CheckClaimSpec(const api::ResourceClaimSpec& spec, const std::string& path, FieldChecks& checks) {
  std::set<std::string, std::less<>> names;
  for (size_t i = 0; i < spec.devices.requests.size(); ++i) {
    const api::DeviceRequest& request = spec.devices.requests[i];
    const std::string at = fmt::format("{}.devices.requests[{}]", path, i);
    checks.Required(at + ".name", !request.name.empty());
    checks.DnsLabel(at + ".name", request.name);
    if (!names.insert(request.name).second) checks.Add(at + ".name", "is that of an earlier request");
    if (request.exactly.has_value() == !request.first_available.empty()) {
      checks.Add(at, fmt::format("expected one of exactly and firstAvailable, found {}",
                                 request.exactly ? "both" : "neither"));
    }
    if (request.exactly) CheckRequest(*request.exactly, at + ".exactly", checks);
    for (size_t a = 0; a < request.first_available.size(); ++a) {
      const std::string inner = fmt::format("{}.firstAvailable[{}]", at, a);
      checks.Required(inner + ".name", !request.first_available[a].name.empty());
      names.insert(request.name + "/" + request.first_available[a].name);
      CheckRequest(request.first_available[a], inner, checks);
    }
  }
  for (size_t i = 0; i < spec.devices.constraints.size(); ++i) {
    CheckConstraint(spec.devices.constraints[i], fmt::format("{}.devices.constraints[{}]", path, i), names, checks);
  }
}

void CheckDeviceClass(const api::DeviceClass& device_class, FieldChecks& checks) {
  CheckSelectors(device_class.spec.selectors, "spec", checks);
}

void CheckDeviceReferences(ClusterDraft& draft) {
  std::vector<Missing> problems, warnings;
  FindMissingCounters(draft, problems);
  FindMissingClasses(draft, warnings);
  FindMissingClaims(draft, warnings);
  for (const Missing& found : problems) {
    if (found.object->is_new) {
      draft.Problem(*found.object, found.path, found.text);
    } else {
      draft.Warn(*found.object, found.path, found.text + "; nothing is allocated from the pool");
    }
  }
  for (const Missing& found : warnings) draft.Warn(*found.object, found.path, found.text);
}

}  // namespace berth::input
