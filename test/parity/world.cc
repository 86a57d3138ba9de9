#include "world.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/time.h"
#include "cluster/apply.h"
#include "config/load.h"
#include "framework/diagnosis.h"
#include "plugins/registry.h"

namespace berth::parity {

using framework::Status;

// Nothing is written while judging.
class World::NoWrites final : public framework::ApiWriter {
 public:
  Status Bind(const framework::PodInfo&, const std::string&) override { return Status::Success(); }
  Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return Status::Success(); }
  Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return Status::Success(); }
  Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return Status::Success(); }
  Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return Status::Success();
  }
};

// Later than every time in the recordings, as they demand.
World::World() : clock_(*api::ParseTime("2100-01-01T00:00:00Z")), api_(std::make_unique<NoWrites>()) {}

World::~World() = default;

Result<std::unique_ptr<World>> World::Create(const codec::Value& recorded) {
  std::unique_ptr<World> world(new World);
  if (const codec::Value* gates = recorded.Find("featureGates")) {
    for (const codec::Member& gate : gates->members()) {
      if (Result<void> set = world->gates_.Set(gate.key, gate.value.boolean()); !set) return set.error();
    }
  }
  world->cluster_ = std::make_unique<cluster::Cluster>(world->gates_);
  if (Result<void> loaded = world->Load(recorded); !loaded) return loaded.error();

  const codec::Value* given = recorded.Find("config");
  Result<config::KubeSchedulerConfiguration> configuration =
      given ? config::Load(*given, world->gates_) : config::DefaultConfiguration(world->gates_);
  if (!configuration) return configuration.error();
  const framework::Registry registry = plugins::InTreeRegistry();
  const engine::Environment environment{*world->cluster_, world->gates_, world->clock_,
                                        world->random_,   *world->api_,  world->waiting_pods_};
  for (const config::Profile& config : configuration->profiles) {
    Result<std::unique_ptr<engine::Profile>> profile = engine::Profile::Create(config, registry, environment);
    if (!profile) return profile.error();
    ProfileSlot slot{std::move(*profile), nullptr};
    slot.evaluator = std::make_unique<engine::Evaluator>(*slot.profile, *world->cluster_,
                                                         engine::Evaluator::Options{.verify = true});
    world->profiles_[config.scheduler_name] = std::move(slot);
  }
  return world;
}

Result<void> World::Load(const codec::Value& recorded) {
  api::DecodedObjects decoded;
  std::vector<codec::Diagnostic> problems;
  if (const codec::Value* objects = recorded.Find("objects")) {
    for (const codec::Value& object : objects->items()) api::DecodeObjects(object, {}, decoded, problems);
  }
  if (Result<void> ok = codec::ToResult("objects", problems); !ok) return ok;
  if (!decoded.unknown.empty()) return Error::Unsupported("object of unknown kind " + decoded.unknown.front().kind);

  // As if every kind had been listed by namespace and name; nodes before the pods on them is of no consequence.
  std::stable_sort(decoded.objects.begin(), decoded.objects.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.object.kind(), api::KeyOf(a.object.metadata())) <
           std::make_pair(b.object.kind(), api::KeyOf(b.object.metadata()));
  });
  for (const api::LocatedObject& located : decoded.objects) {
    if (const auto* pod = located.object.As<api::Pod>()) uid_by_key_[api::KeyOf(pod->metadata)] = pod->metadata.uid;
    cluster::Apply(*cluster_, located.object);
  }
  return {};
}

Result<std::shared_ptr<const api::Pod>> World::DecodePod(const codec::Value& value) {
  api::DecodedObjects decoded;
  std::vector<codec::Diagnostic> problems;
  api::DecodeObjects(value, {}, decoded, problems);
  if (Result<void> ok = codec::ToResult("pod", problems); !ok) return ok.error();
  std::shared_ptr<const api::Pod> pod =
      decoded.objects.empty() ? nullptr : decoded.objects.front().object.Share<api::Pod>();
  if (!pod) return Error::InvalidArgument("expected a Pod");
  return pod;
}

Result<Decision> World::Decide(const codec::Value& value) {
  Result<std::shared_ptr<const api::Pod>> pod = DecodePod(value);
  if (!pod) return pod.error();
  const std::string& name = (*pod)->spec.scheduler_name;
  const auto slot = profiles_.find(name.empty() ? "default-scheduler" : name);
  if (slot == profiles_.end()) return Error::NotFound(fmt::format("no profile is named \"{}\"", name));
  const framework::PodInfoPtr info = cluster_->MakePodInfo(*pod);
  const engine::Profile& profile = *slot->second.profile;

  Decision decision;
  decision.pre_enqueue = profile.RunPreEnqueue(*info);
  if (!decision.pre_enqueue.ok()) return decision;
  if (cluster_->nodes().empty()) {
    decision.message = framework::kNoNodesMessage;
    return decision;
  }
  framework::CycleState state = profile.NewCycleState();
  state.exhaustive_preemption = true;
  decision.evaluated = true;
  // The short way too: it ends the program when the two disagree.
  (void)slot->second.evaluator->Decide(*info, random_);
  decision.evaluation = engine::EvaluateFromScratch(profile, state, *info, engine::Scope::kEverything);
  for (const framework::NodeInfo* node : cluster_->nodes()) {
    const framework::NodeToStatus& statuses = decision.evaluation.diagnosis.node_to_status;
    if (statuses.IsExplicit(node->index())) decision.rejected[node->name()] = statuses.Get(node->index());
  }
  if (decision.evaluation.error.ok() && decision.evaluation.feasible.empty()) {
    framework::Diagnosis& diagnosis = decision.evaluation.diagnosis;
    if (profile.has_post_filter()) {
      decision.post_filter_ran = true;
      decision.post_filter = profile.RunPostFilter(state, *info, diagnosis.node_to_status);
      diagnosis.post_filter_message = decision.post_filter.status.Message();
    }
    decision.message = framework::FitErrorMessage(diagnosis, cluster_->nodes().size());
  }
  return decision;
}

Result<void> World::Bind(const codec::Value& value, const std::string& node_name,
                         const std::vector<std::string>& deleted) {
  for (const std::string& key : deleted) cluster_->RemovePod(uid_by_key_[key]);
  Result<std::shared_ptr<const api::Pod>> pod = DecodePod(value);
  if (!pod) return pod.error();
  api::Pod bound = **pod;
  bound.spec.node_name = node_name;
  bound.status.phase = "Running";
  if (bound.metadata.creation_timestamp)
    bound.status.start_time = *bound.metadata.creation_timestamp + std::chrono::seconds(1);
  uid_by_key_[api::KeyOf(bound.metadata)] = bound.metadata.uid;
  cluster_->UpsertPod(std::make_shared<const api::Pod>(std::move(bound)));
  return {};
}

}  // namespace berth::parity
