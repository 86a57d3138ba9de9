#include "client/testing/fake_coordination_server.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "api/object.h"
#include "client/lease_candidate_json.h"
#include "client/testing/fake_node_server.h"
#include "codec/json.h"

namespace berth::client::testing {
namespace {

using http::testing::FakeCallPtr;

constexpr base::Duration kElectionDuration = std::chrono::seconds(5);
constexpr int32_t kAssignedSeconds = 5;

std::string WatchFrame(std::string_view type, std::string_view json) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, json);
}

std::string InitialEventsEnd(uint64_t version) {
  return WatchFrame("BOOKMARK",
                    fmt::format(R"({{"apiVersion":"coordination.k8s.io/v1beta1","kind":"LeaseCandidate","metadata":)"
                                R"({{"resourceVersion":"{}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}})",
                                version));
}

bool HasAnswered(const api::LeaseCandidateSpec& spec) { return !spec.ping_time || *spec.renew_time >= *spec.ping_time; }

// Whether the first is preferred as leader.
bool IsBetter(const api::LeaseCandidate& a, const api::LeaseCandidate& b) {
  const auto rank = [](const api::LeaseCandidate& candidate) {
    return std::tie(candidate.spec.emulation_version, candidate.spec.binary_version,
                    candidate.metadata.creation_timestamp);
  };
  return rank(a) < rank(b);
}

}  // namespace

void FakeCoordinationServer::Handle(const FakeCallPtr& call) {
  call->request().path.find("/leasecandidates") != std::string::npos ? HandleCandidates(call) : HandleLease(call);
}

void FakeCoordinationServer::HandleLease(const FakeCallPtr& call) {
  const http::Request& request = call->request();
  const auto answer = [&](int status) { call->Answer(status, api::EncodeJson(api::MakeObject(*lease))); };
  if (request.method == "GET") {
    return lease ? answer(200) : call->Answer(404, StatusJson(404, "NotFound", "no lease"));
  }
  const Result<codec::Document> document = codec::ParseJson(request.body, "lease");
  Result<api::DecodedObjects> decoded = api::DecodeObjects(*document, {});
  api::Lease sent = *decoded->objects.at(0).object.As<api::Lease>();
  const bool is_new = request.method == "POST";
  if (is_new ? lease.has_value() : !lease || sent.metadata.resource_version != lease->metadata.resource_version) {
    return call->Answer(409, StatusJson(409, is_new ? "AlreadyExists" : "Conflict", "it has been modified"));
  }
  sent.metadata.resource_version = std::to_string(++version_);
  lease = std::move(sent);
  lease_writes.push_back(request.method + " " + request.body);
  answer(is_new ? 201 : 200);
}

void FakeCoordinationServer::HandleCandidates(const FakeCallPtr& call) {
  const http::Request& request = call->request();
  if (!serves_candidates) return call->Answer(404, StatusJson(404, "NotFound", "no such resource"));
  if (request.method != "GET") return WriteCandidate(call);
  std::string name = Parameter(request, "fieldSelector");
  name = name.substr(name.find('=') + 1);
  if (Parameter(request, "watch") == "true") return Watch(call, name);
  std::string items;
  if (candidates.contains(name)) items = EncodeLeaseCandidate(candidates.at(name));
  call->Answer(200, fmt::format(R"({{"kind":"LeaseCandidateList","apiVersion":"coordination.k8s.io/v1beta1",)"
                                R"("metadata":{{"resourceVersion":"{}"}},"items":[{}]}})",
                                version_, items));
}

void FakeCoordinationServer::Watch(const FakeCallPtr& call, const std::string& name) {
  call->Head(200, {{"content-type", "application/json"}});
  if (Parameter(call->request(), "sendInitialEvents") == "true") {
    if (candidates.contains(name)) call->Data(WatchFrame("ADDED", EncodeLeaseCandidate(candidates.at(name))));
    call->Data(InitialEventsEnd(version_));
  } else {
    const uint64_t from = std::strtoull(Parameter(call->request(), "resourceVersion").c_str(), nullptr, 10);
    for (const Change& change : history_) {
      if (change.name == name && change.version > from) call->Data(WatchFrame(change.type, change.json));
    }
  }
  watchers_.push_back({call, name});
}

void FakeCoordinationServer::WriteCandidate(const FakeCallPtr& call) {
  const http::Request& request = call->request();
  api::LeaseCandidate sent = *DecodeLeaseCandidate(request.body);
  const auto known = candidates.find(sent.metadata.name);
  const bool is_new = request.method == "POST";
  if (!is_new && known == candidates.end()) return call->Answer(404, StatusJson(404, "NotFound", "no candidate"));
  if (is_new ? known != candidates.end() : known->second.metadata.resource_version != sent.metadata.resource_version) {
    return call->Answer(409, StatusJson(409, is_new ? "AlreadyExists" : "Conflict", "it has been modified"));
  }
  if (is_new) {
    sent.metadata.uid = fmt::format("uid-{}", version_);
    sent.metadata.creation_timestamp = std::chrono::floor<std::chrono::seconds>(clock_.Now());
  }
  const std::string name = sent.metadata.name;
  candidate_writes.push_back(request.method + " " + request.body);
  Put(std::move(sent));
  call->Answer(is_new ? 201 : 200, EncodeLeaseCandidate(candidates.at(name)));
}

void FakeCoordinationServer::Put(api::LeaseCandidate candidate) {
  const std::string name = candidate.metadata.name;
  const char* type = candidates.contains(name) ? "MODIFIED" : "ADDED";
  candidate.metadata.resource_version = std::to_string(++version_);
  const std::string json = EncodeLeaseCandidate(candidate);
  candidates.insert_or_assign(name, std::move(candidate));
  Tell({version_, type, name, json});
}

void FakeCoordinationServer::Delete(const std::string& candidate) {
  auto gone = candidates.extract(candidate);
  gone.mapped().metadata.resource_version = std::to_string(++version_);
  Tell({version_, "DELETED", candidate, EncodeLeaseCandidate(gone.mapped())});
}

void FakeCoordinationServer::Tell(Change change) {
  for (const Watcher& watcher : watchers_) {
    if (watcher.name == change.name) watcher.call->Data(WatchFrame(change.type, change.json));
  }
  history_.push_back(std::move(change));
}

void FakeCoordinationServer::BreakWatches() {
  for (const Watcher& watcher : std::exchange(watchers_, {})) watcher.call->End(Error::Unavailable("reset"));
}

// ---- The controller.

void FakeCoordinationServer::Assign(const std::string& holder) {
  if (!lease) {
    lease.emplace();
    lease->metadata.name = "scheduler";
    lease->metadata.namespace_ = Symbol("kube-system");
  }
  lease->metadata.resource_version = std::to_string(++version_);
  lease->spec.holder_identity = holder;
  lease->spec.preferred_holder.reset();
  lease->spec.acquire_time.reset();
  lease->spec.renew_time = api::MicroTime{clock_.Now()};
  lease->spec.lease_duration_seconds = kAssignedSeconds;
  lease->spec.strategy = "OldestEmulationVersion";
}

void FakeCoordinationServer::Prefer(const std::string& holder) {
  lease->metadata.resource_version = std::to_string(++version_);
  lease->spec.preferred_holder = holder;
  lease->spec.strategy = "OldestEmulationVersion";
}

void FakeCoordinationServer::Ping(const std::string& candidate) {
  api::LeaseCandidate pinged = candidates.at(candidate);
  pinged.spec.ping_time = api::MicroTime{clock_.Now()};
  Put(std::move(pinged));
}

bool FakeCoordinationServer::IsLeaseExpired() const {
  return lease->spec.renew_time->time + std::chrono::seconds(*lease->spec.lease_duration_seconds) < clock_.Now();
}

// Whether all pings have been answered or have timed out.
bool FakeCoordinationServer::PingAsNeeded() {
  const base::Time now = clock_.Now();
  bool can_vote = true;
  std::vector<std::string> silent;
  for (const auto& [name, candidate] : candidates) {
    const api::LeaseCandidateSpec& spec = candidate.spec;
    const bool ping_is_new = spec.ping_time && spec.ping_time->time + kElectionDuration > now;
    if (ping_is_new && !HasAnswered(spec)) can_vote = false;
    if ((ping_is_new && !HasAnswered(spec)) || spec.renew_time->time + kElectionDuration > now) continue;
    if (!spec.ping_time || (!ping_is_new && HasAnswered(spec))) silent.push_back(name);
  }
  for (const std::string& name : silent) Ping(name);
  return can_vote && silent.empty();
}

void FakeCoordinationServer::Elect() {
  const auto best = [&](bool answered_only) -> const api::LeaseCandidate* {
    const api::LeaseCandidate* found = nullptr;
    for (const auto& [name, candidate] : candidates) {
      if (answered_only && candidate.spec.renew_time->time + kElectionDuration <= clock_.Now()) continue;
      if (found == nullptr || IsBetter(candidate, *found)) found = &candidate;
    }
    return found;
  };
  if (candidates.empty()) return;
  const bool is_free = !lease || IsLeaseExpired() || lease->spec.holder_identity.value_or("").empty();
  if (!is_free && best(false)->metadata.name == lease->spec.holder_identity) return;
  if (!PingAsNeeded()) return;
  const api::LeaseCandidate* elected = best(true);
  if (elected == nullptr) return;
  const std::string& name = elected->metadata.name;
  // As upstream: an expired lease of the same holder is left unchanged.
  if (lease && lease->spec.holder_identity == name) return;
  is_free ? Assign(name) : Prefer(name);
}

}  // namespace berth::client::testing
