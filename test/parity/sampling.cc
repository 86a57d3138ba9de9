#include "sampling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "api/object.h"
#include "config/load.h"
#include "engine/node_sampling.h"
#include "engine/testing/world.h"
#include "framework/diagnosis.h"
#include "plugins/registry.h"

namespace berth::parity {

namespace {

template <class T>
Result<std::shared_ptr<const T>> Decode(const codec::Value& value) {
  api::DecodedObjects decoded;
  std::vector<codec::Diagnostic> problems;
  api::DecodeObjects(value, {}, decoded, problems);
  if (Result<void> ok = codec::ToResult("object", problems); !ok) return ok.error();
  if (decoded.objects.empty()) return Error::InvalidArgument("expected an object");
  std::shared_ptr<const T> object = decoded.objects.front().object.Share<T>();
  if (!object) return Error::InvalidArgument("an object of another kind than expected");
  return object;
}

std::optional<int32_t> Percentage(const codec::Value& recorded, std::string_view key) {
  const codec::Value* value = recorded.Find(key);
  if (!value || value->is_null()) return std::nullopt;
  return static_cast<int32_t>(std::strtol(std::string(value->text()).c_str(), nullptr, 10));
}

Facts ExpectedFacts(const codec::Value& expect) {
  Facts facts;
  for (const codec::Member& member : expect.members()) {
    auto& fact = facts[std::string(member.key)];
    if (member.key == "totals") {
      for (const codec::Member& total : member.value.members()) fact[std::string(total.key)] = total.value.text();
    } else if (member.value.is_array()) {
      std::vector<std::string> names;
      for (const codec::Value& name : member.value.items()) names.emplace_back(name.text());
      fact[""] = fmt::format("{}", fmt::join(names, " "));
    } else {
      fact[""] = member.value.text();
    }
  }
  return facts;
}

Facts FactsOf(const engine::Evaluation& evaluation, size_t next_start, size_t node_count) {
  Facts facts;
  std::vector<std::string> found;
  for (const framework::NodeInfo* node : evaluation.sampled->found) found.push_back(node->name());
  facts["feasible"][""] = fmt::format("{}", fmt::join(found, " "));
  facts["evaluated"][""] = std::to_string(evaluation.sampled->evaluated);
  facts["nextStartNodeIndex"][""] = std::to_string(next_start);
  if (found.empty()) facts["message"][""] = framework::FitErrorMessage(evaluation.diagnosis, node_count);
  if (found.empty()) return facts;
  std::vector<std::string> best;
  for (const uint32_t position : evaluation.best) best.push_back(evaluation.feasible[position]->name());
  facts["best"][""] = fmt::format("{}", fmt::join(best, " "));
  if (found.size() < 2) return facts;
  for (size_t i = 0; i < evaluation.totals.size(); ++i) {
    facts["totals"][evaluation.feasible[i]->name()] = std::to_string(evaluation.totals[i]);
  }
  return facts;
}

}  // namespace

bool IsSamplingEpisode(const codec::Value& recorded) { return recorded.Find("nodes") && recorded.Find("steps"); }

Result<NamedDifferences> RunSamplingEpisode(const codec::Value& recorded) {
  engine::testing::World world;
  config::KubeSchedulerConfiguration configuration = config::DefaultConfiguration(world.gates);
  configuration.node_sampling = config::kUpstreamSampling;
  configuration.percentage_of_nodes_to_score = Percentage(recorded, "percentageOfNodesToScore");
  config::Profile& config = configuration.profiles.front();
  config.percentage_of_nodes_to_score = Percentage(recorded, "profilePercentageOfNodesToScore");
  const std::unique_ptr<engine::Profile> profile = world.MakeProfile(config, plugins::InTreeRegistry());
  const std::optional<engine::SamplingRule> rule = engine::SamplingRule::Of(configuration, config);
  engine::NodeSampler sampler(world.cluster);
  for (const codec::Value& node : recorded.Find("nodes")->items()) {
    Result<std::shared_ptr<const api::Node>> decoded = Decode<api::Node>(node);
    if (!decoded) return decoded.error();
    world.cluster.UpsertNode(*decoded);
  }

  NamedDifferences steps;
  const codec::Value* name = recorded.Find("name");
  for (const codec::Value& step : recorded.Find("steps")->items()) {
    const codec::Value* pod = step.Find("pod");
    const codec::Value* expect = step.Find("expect");
    if (!pod || !expect) return Error::InvalidArgument(fmt::format("step {} has no pod or no expect", steps.size()));
    Result<std::shared_ptr<const api::Pod>> decoded = Decode<api::Pod>(*pod);
    if (!decoded) return decoded.error();
    framework::CycleState state = profile->NewCycleState();
    const framework::PodInfoPtr info = world.cluster.MakePodInfo(*decoded);
    const engine::Evaluation evaluation = sampler.Evaluate(*profile, *rule, state, *info, engine::Scope::kDecide);
    if (!evaluation.sampled) return Error::InvalidArgument(fmt::format("step {}: no node was looked at", steps.size()));
    const Facts got = FactsOf(evaluation, sampler.next_start(), world.cluster.nodes().size());
    steps.emplace_back(fmt::format("{}#{}", name ? name->text() : "unnamed", steps.size()),
                       Compare(ExpectedFacts(*expect), got));
    const codec::Value* applied = step.Find("applied");
    if (!applied || applied->is_null()) continue;
    api::Pod bound = **decoded;
    bound.spec.node_name = applied->text();
    world.cluster.UpsertPod(std::make_shared<const api::Pod>(std::move(bound)));
  }
  return steps;
}

}  // namespace berth::parity
