#include "live/cluster_follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/scheduling_kinds.h"

namespace berth::live {

namespace {

// With nothing to read it still takes a turn from time to time, for work that only waits for time to pass.
constexpr base::Duration kFollowerNap = std::chrono::milliseconds(200);
// If access is denied this soon after the start, the permissions are missing; later it may be temporary.
constexpr base::Duration kRightsSettle = std::chrono::seconds(30);

std::set<api::Kind> FollowedKinds(const config::FeatureGates& gates) {
  std::set<api::Kind> kinds(std::begin(client::kSchedulingKinds), std::end(client::kSchedulingKinds));
  if (gates.Enabled("DRADeviceTaintRules")) kinds.insert(api::Kind::kDeviceTaintRule);
  return kinds;
}

}  // namespace

class ClusterFollower::CustomSink final : public client::ChangeSink {
 public:
  CustomSink(ClusterFollower& owner, framework::EventResource resource) : owner_(owner), resource_(resource) {}

  void OnListing(api::Kind, std::vector<client::ObjectChange> changes) override { Add(std::move(changes), false); }
  void OnChanges(api::Kind, std::vector<client::ObjectChange> changes) override { Add(std::move(changes), true); }
  void OnNotServed(api::Kind) override { Add({}, true); }

 private:
  void Add(std::vector<client::ObjectChange> changes, bool is_whole) {
    const auto shared = std::make_shared<std::vector<client::ObjectChange>>(std::move(changes));
    owner_.Post([this, shared, is_whole] { owner_.ApplyCustom(resource_, *shared, is_whole); });
  }

  ClusterFollower& owner_;
  const framework::EventResource resource_;
};

ClusterFollower::ClusterFollower(FollowerOptions options, FollowerEnvironment environment)
    : options_(std::move(options)),
      environment_(environment),
      transport_(environment_.transport),
      client_(transport_, environment_.io, environment_.clock, {.protobuf = options_.protobuf}),
      unlisted_(FollowedKinds(options_.gates)) {}

ClusterFollower::~ClusterFollower() { Detach(); }

void ClusterFollower::Detach() {
  for (auto& reflector : reflectors_) reflector->Stop();
}

Result<std::unique_ptr<ClusterFollower>> ClusterFollower::Create(FollowerOptions options,
                                                                 const framework::Registry& registry,
                                                                 FollowerEnvironment environment) {
  std::unique_ptr<ClusterFollower> follower(new ClusterFollower(std::move(options), environment));
  if (Result<void> made = follower->Make(registry); !made) return made.error();
  return follower;
}

Result<void> ClusterFollower::Make(const framework::Registry& registry) {
  scheduler::Driver::Options options;
  options.scheduler.seed = options_.seed;
  options.tap = options_.tap;
  options.on_posted = [this] { mailbox_.Post([] {}); };
  // Extenders are never called here: they are other programs, and some of them keep state.
  Result<std::unique_ptr<scheduler::Driver>> made = scheduler::Driver::Create(
      options_.configuration, registry, options_.gates, environment_.clock, api_, *this, std::move(options));
  if (!made) return made.error();
  driver_ = *std::move(made);
  for (const auto& [number, watched] : driver_->cluster().custom_objects().watched()) unlisted_custom_.insert(number);
  MakeReflectors();
  return {};
}

void ClusterFollower::MakeReflectors() {
  for (const api::Kind kind : unlisted_) {
    client::ReflectorOptions options{.kind = kind};
    if (kind == api::Kind::kPod) options.field_selector = client::kLivePods;
    options.always_served = client::IsAlwaysServed(kind);
    options.whole_list = client::HasManyObjects(kind);
    options.seed = static_cast<uint64_t>(kind);
    AddReflector(std::move(options), std::string(api::InfoOf(kind).resource), *this);
  }
  for (const auto& [number, watched] : driver_->cluster().custom_objects().watched()) {
    client::ReflectorOptions options{.kind = api::Kind::kCustomObject};
    options.custom = client::CustomSource{.resource = watched.resource, .keep_json = watched.keep_json};
    custom_sinks_.push_back(std::make_unique<CustomSink>(*this, number));
    AddReflector(std::move(options), watched.resource.Text(), *custom_sinks_.back());
  }
}

void ClusterFollower::AddReflector(client::ReflectorOptions options, const std::string& name,
                                   client::ChangeSink& sink) {
  options.on_problem = [this, name](const Error& error, int http_status) {
    Post([this, name, error, http_status] { OnProblem(name, error, http_status); });
  };
  reflectors_.push_back(std::make_unique<client::Reflector>(client_, environment_.io, sink, std::move(options)));
}

void ClusterFollower::Start() {
  started_ = Now();
  for (auto& reflector : reflectors_) reflector->Start(client::Reflector::From::kLatest);
}

Result<void> ClusterFollower::Run() {
  Start();
  while (!stopping_ && !failure_) {
    if (mailbox_.empty()) mailbox_.WaitFor(kFollowerNap);
    Turn();
  }
  if (failure_) return *failure_;
  return {};
}

void ClusterFollower::Turn() {
  if (!mailbox_.empty()) mailbox_.RunAll();
  if (!synced_) return CheckPatience();
  TakeCheckpoint();
  if (options_.on_turn) options_.on_turn();
}

void ClusterFollower::Stop() {
  stopping_ = true;
  mailbox_.Post([] {});
}

// A scheduler takes its checkpoints before a step; a follower has no steps.
void ClusterFollower::TakeCheckpoint() {
  if (options_.tap == nullptr) return;
  if (options_.tap->WantsCheckpoint() && driver_->IsAtRest()) options_.tap->OnCheckpoint(driver_->TakeCheckpoint());
  options_.tap->OnStep(Now());
}

void ClusterFollower::CheckPatience() {
  if (failure_ || Now() - started_ < options_.patience) return;
  failure_ = Error::Unavailable(fmt::format("the cluster cannot be read: {}", MissingKinds()));
}

std::string ClusterFollower::MissingKinds() const {
  // One sentence for all kinds with the same error: usually it is the server's.
  std::map<std::string, std::string> resources;  // by error
  for (const auto& reflector : reflectors_) {
    const client::ReflectorState state = reflector->state();
    if (state.synced) continue;
    std::string& names = resources[state.last_error.empty() ? "no answer yet" : state.last_error];
    names += (names.empty() ? "" : ", ") + state.resource;
  }
  std::string text;
  for (const auto& [error, names] : resources) text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", error, names);
  return text;
}

void ClusterFollower::OnProblem(const std::string& what, const Error& error, int http_status) {
  const bool is_early = !synced_ || Now() - started_ < kRightsSettle;
  if ((http_status != 401 && http_status != 403) || !is_early || failure_) return;
  failure_ = Error::InvalidArgument(
      fmt::format("the cluster does not show {} to this user, who needs the rights to list and watch them: {}", what,
                  error.message));
}

void ClusterFollower::OnListing(api::Kind kind, std::vector<client::ObjectChange> changes) {
  Add(kind, std::move(changes), false);
}

void ClusterFollower::OnChanges(api::Kind kind, std::vector<client::ObjectChange> changes) {
  Add(kind, std::move(changes), true);
}

void ClusterFollower::Add(api::Kind kind, std::vector<client::ObjectChange> changes, bool is_whole) {
  const base::Time now = Now();
  const auto shared = std::make_shared<std::vector<client::ObjectChange>>(std::move(changes));
  Post([this, kind, now, shared, is_whole] {
    for (client::ObjectChange& change : *shared) {
      Apply({now, change.type == client::ObjectChange::Type::kDeleted, std::move(change.object)});
    }
    if (is_whole) MarkListed(kind);
  });
}

void ClusterFollower::OnNotServed(api::Kind kind) {
  Post([this, kind] { MarkListed(kind); });
}

void ClusterFollower::Apply(const FollowedChange& change) {
  NoteOthers(change);
  if (options_.apply) return options_.apply(*driver_, change);
  change.deleted ? driver_->Remove(change.object) : driver_->Put(change.object);
}

void ClusterFollower::NoteOthers(const FollowedChange& change) {
  const api::Pod* pod = change.object.As<api::Pod>();
  if (pod == nullptr) return;
  const bool is_pending = !change.deleted && pod->spec.node_name.empty();
  if (!is_pending || driver_->Serves(pod->spec.scheduler_name)) {
    pods_of_others_.erase(pod->metadata.uid);
    return;
  }
  pods_of_others_[pod->metadata.uid] = std::as_const(*driver_).cluster().MakePodInfo(change.object.Share<api::Pod>());
}

void ClusterFollower::ApplyCustom(framework::EventResource resource, const std::vector<client::ObjectChange>& changes,
                                  bool is_whole) {
  for (const client::ObjectChange& change : changes) {
    if (change.type == client::ObjectChange::Type::kDeleted) {
      driver_->RemoveCustom(resource, change.object.metadata());
    } else {
      driver_->PutCustom(resource, change.object.Share<api::CustomObject>());
    }
  }
  if (is_whole && unlisted_custom_.erase(resource) > 0) CheckSynced();
}

void ClusterFollower::MarkListed(api::Kind kind) {
  if (unlisted_.erase(kind) > 0) CheckSynced();
}

void ClusterFollower::CheckSynced() {
  if (!unlisted_.empty() || !unlisted_custom_.empty()) return;
  synced_ = true;
  if (options_.on_synced) options_.on_synced();
}

}  // namespace berth::live
