#include "world.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/time.h"
#include "cluster/apply.h"
#include "cluster/stores.h"
#include "codec/json_writer.h"
#include "config/load.h"
#include "dra/inventory.h"
#include "framework/diagnosis.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/registry.h"

namespace berth::parity {

namespace {

const plugins::CycleClaims* ClaimsOf(const engine::Profile& profile, const framework::CycleState& state) {
  const auto* plugin =
      dynamic_cast<const plugins::DynamicResources*>(profile.FindPlugin(plugins::DynamicResources::kName));
  return plugin ? plugin->ClaimsOf(state) : nullptr;
}

void AddWrites(std::map<std::string, std::string>& facts, const std::vector<ClaimApi::Write>& writes,
               const std::string& key) {
  std::string text = "[";
  for (const ClaimApi::Write& write : writes) {
    text += fmt::format("{}{{object:{}", text.size() > 1 ? "," : "", write.object);
    if (!write.patch.empty()) text += ",patch:" + CanonicalJson(write.patch);
    text += ",resource:" + write.resource;
    if (!write.subresource.empty()) text += ",subresource:" + write.subresource;
    text += ",verb:" + write.verb + "}";
  }
  if (!writes.empty() || key == "writes") facts[key] = text + "]";
}

}  // namespace

// Later than every time in the recordings, as they require.
World::World() : clock_(*api::ParseTime("2100-01-01T00:00:00Z")), api_(clock_) {}

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
  const engine::Environment environment{*world->cluster_, world->gates_,        world->clock_, world->random_,
                                        world->api_,      world->waiting_pods_, world->posted_};
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

  // As if every kind had been listed by namespace and name; that nodes precede their pods has no effect.
  std::stable_sort(decoded.objects.begin(), decoded.objects.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.object.kind(), api::KeyOf(a.object.metadata())) <
           std::make_pair(b.object.kind(), api::KeyOf(b.object.metadata()));
  });
  for (const api::LocatedObject& located : decoded.objects) {
    if (const auto* pod = located.object.As<api::Pod>()) uid_by_key_[api::KeyOf(pod->metadata)] = pod->metadata.uid;
    cluster::Apply(*cluster_, located.object);
  }
  if (const codec::Value* flights = recorded.Find("inFlight")) {
    for (const codec::Value& claim : flights->items()) {
      api::DecodedObjects in_flight;
      api::DecodeObjects(claim, {}, in_flight, problems);
      if (Result<void> ok = codec::ToResult("inFlight", problems); !ok) return ok;
      cluster_->inventory().claims().SetInFlight(in_flight.objects.front().object.Share<api::ResourceClaim>());
    }
  }
  return {};
}

Result<void> World::Apply(const codec::Value& object) {
  api::DecodedObjects decoded;
  std::vector<codec::Diagnostic> problems;
  api::DecodeObjects(object, {}, decoded, problems);
  if (Result<void> ok = codec::ToResult("changes", problems); !ok) return ok;
  for (const api::LocatedObject& located : decoded.objects) {
    if (const auto* pod = located.object.As<api::Pod>()) uid_by_key_[api::KeyOf(pod->metadata)] = pod->metadata.uid;
    cluster::Apply(*cluster_, located.object);
  }
  return {};
}

Result<void> World::Delete(const codec::Value& named) {
  const auto text = [&](std::string_view key) {
    const codec::Value* found = named.Find(key);
    return found ? std::string(found->text()) : std::string();
  };
  const std::string kind = text("kind");
  if (kind == "Pod") {
    cluster_->RemovePod(uid_by_key_[text("namespace") + "/" + text("name")]);
    return {};
  }
  if (kind == "Node") {
    cluster_->RemoveNode(text("name"));
    return {};
  }
  for (const api::KindInfo& info : api::AllKinds()) {
    if (info.name != kind) continue;
    cluster::VisitStore(cluster_->objects(), info.kind,
                        [&](auto& store) { store.Erase(info.namespaced ? text("namespace") : "", text("name")); });
    return {};
  }
  return Error::Unsupported("deletion of unknown kind " + kind);
}

Result<void> World::Change(const codec::Value& changes) {
  for (const codec::Value& change : changes.items()) {
    if (const codec::Value* object = change.Find("apply")) {
      if (Result<void> applied = Apply(*object); !applied) return applied;
    } else if (const codec::Value* named = change.Find("delete")) {
      if (Result<void> deleted = Delete(*named); !deleted) return deleted;
    }
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
  api_.Start(cluster_->objects().resource_claims);
  // The incremental evaluation too: it aborts the program if the two disagree.
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
    const std::vector<ClaimApi::Write> writes = api_.TakeWrites();
    if (!writes.empty()) AddWrites(decision.devices["deallocation"], writes, "writes");
    for (const auto& [key, text] : api_.ChangedClaims()) {
      decision.devices["deallocation"]["claims " + key] = CanonicalJson(text);
    }
  }
  AddAllocations(profile, state, decision);
  if (decision.evaluation.fits()) RunBinding(*slot->second.profile, state, *info, decision);
  return decision;
}

void World::AddAllocations(const engine::Profile& profile, const framework::CycleState& state,
                           Decision& decision) const {
  const plugins::CycleClaims* cycle = ClaimsOf(profile, state);
  if (!cycle) return;
  for (const framework::NodeInfo* node : decision.evaluation.feasible) {
    const auto here = cycle->nodes.find(node->name());
    if (here == cycle->nodes.end()) continue;
    size_t next = 0;
    for (const dra::ClaimPtr& claim : cycle->claims) {
      if (claim->status.allocation || next >= here->second.results.size()) continue;
      decision.devices["allocations"][node->name() + " " + api::KeyOf(claim->metadata)] =
          CanonicalJson(AllocationText(here->second.results[next++], clock_.Now()));
    }
    if (!here->second.extended_claim) continue;
    std::string text = "{\"requests\":[";
    for (const api::DeviceRequest& request : here->second.extended_claim->spec.devices.requests) {
      text += (text.back() == '[' ? "" : ",") + codec::EncodeJson(request);
    }
    text += "],\"mappings\":[";
    for (const api::ContainerExtendedResourceRequest& mapping : here->second.mappings) {
      text += (text.back() == '[' ? "" : ",") + codec::EncodeJson(mapping);
    }
    decision.devices["extendedRequests"][node->name()] = CanonicalJson(text + "]}");
  }
}

void World::RunBinding(engine::Profile& profile, framework::CycleState& state, const framework::PodInfo& pod,
                       Decision& decision) {
  if (!ClaimsOf(profile, state)) return;
  const engine::Evaluation& evaluation = decision.evaluation;
  const framework::NodeInfo* chosen = evaluation.nominated;
  for (const uint32_t i : evaluation.best) {
    if (!chosen || (!evaluation.nominated && evaluation.feasible[i]->name() < chosen->name())) {
      chosen = evaluation.feasible[i];
    }
  }
  std::map<std::string, std::string>& facts = decision.devices["bind"];
  facts["node"] = chosen->name();
  const framework::Status reserved = profile.RunReserve(state, pod, chosen->name());
  framework::Status bound = reserved;
  if (bound.ok()) bound = profile.RunPreBind(state, pod, chosen->name());
  AddWrites(facts, api_.TakeWrites(), "writes");
  if (!bound.ok()) facts[reserved.ok() ? "preBind" : "reserve"] = StatusText(bound);
  // Nothing stays in flight from one decision to the next.
  const bool waits = api_.waits;
  if (!bound.ok()) {
    profile.RunUnreserve(state, pod, chosen->name());
    AddWrites(facts, api_.TakeWrites(), "unreserve");
  }
  for (const auto& [key, text] : api_.ChangedClaims()) facts["claims " + key] = CanonicalJson(text);
  if (waits) facts["waiting"] = "true";
  if (!api_.events.empty()) {
    std::string text = "[";
    for (const ClaimApi::Noted& event : api_.events) {
      text += fmt::format("{}{{action:{},note:{},reason:{},type:Normal}}", text.size() > 1 ? "," : "", event.action,
                          event.note, event.reason);
    }
    facts["events"] = text + "]";
  }
  extended_status_ = api_.extended_status;
  if (api_.extended_status && bound.ok()) {
    facts["extendedResourceClaimStatus"] = CanonicalJson(codec::EncodeJson(*api_.extended_status));
  }
  if (!api_.node_allocatable.empty() && bound.ok()) {
    std::string text = "[";
    for (const auto& status : api_.node_allocatable) text += (text.size() > 1 ? "," : "") + codec::EncodeJson(status);
    facts["nodeAllocatableResourceClaimStatuses"] = CanonicalJson(text + "]");
  }
  // The cluster's claims have not changed: what was written went to a separate API server.
  for (const auto& [key, claim] : cluster_->objects().resource_claims) {
    cluster_->inventory().claims().Restore(key.first, key.second);
  }
}

void World::Evict(const std::vector<std::string>& deleted) {
  for (const std::string& key : deleted) cluster_->RemovePod(uid_by_key_[key]);
}

Result<void> World::Bind(const codec::Value& value, const std::string& node_name) {
  Result<std::shared_ptr<const api::Pod>> pod = DecodePod(value);
  if (!pod) return pod.error();
  api::Pod bound = **pod;
  bound.spec.node_name = node_name;
  bound.status.phase = "Running";
  if (extended_status_) bound.status.extended_resource_claim_status = extended_status_;
  if (bound.metadata.creation_timestamp)
    bound.status.start_time = *bound.metadata.creation_timestamp + std::chrono::seconds(1);
  uid_by_key_[api::KeyOf(bound.metadata)] = bound.metadata.uid;
  cluster_->UpsertPod(std::make_shared<const api::Pod>(std::move(bound)));
  return {};
}

}  // namespace berth::parity
