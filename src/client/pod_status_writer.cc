#include "client/pod_status_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/api_answer.h"
#include "client/known_objects.h"

namespace berth::client {
namespace {

// As many as client-go's event correlator remembers, and longer than any watch lags.
constexpr size_t kMaxRecent = 4096;
constexpr base::Duration kRecentTime = std::chrono::minutes(10);
// How long a patch without an answer may take until it takes effect.
constexpr base::Duration kLateEffect = std::chrono::seconds(5);

bool IsEmpty(const PodStatusChange& change) { return !change.condition && !change.nominated_node_name; }

auto FindCondition(api::PodStatus& status, const std::string& type) {
  return std::find_if(status.conditions.begin(), status.conditions.end(),
                      [&](const api::PodCondition& condition) { return condition.type == type; });
}

void Apply(const PodStatusChange& change, api::PodStatus& status) {
  if (change.nominated_node_name) status.nominated_node_name = *change.nominated_node_name;
  if (!change.condition) return;
  const auto found = FindCondition(status, change.condition->type);
  found != status.conditions.end() ? void(*found = *change.condition) : status.conditions.push_back(*change.condition);
}

// The server's values of these fields are unknown: any value must count as a difference.
void Forget(const PodStatusChange& change, api::PodStatus& status) {
  if (change.nominated_node_name) status.nominated_node_name = "?";
  if (!change.condition) return;
  const auto found = FindCondition(status, change.condition->type);
  if (found != status.conditions.end()) status.conditions.erase(found);
}

// Removes from `uncertain` what `written` has settled.
void Settle(const PodStatusChange& written, PodStatusChange& uncertain) {
  if (written.nominated_node_name) uncertain.nominated_node_name.reset();
  if (written.condition) uncertain.condition.reset();
}

}  // namespace

void Merge(const PodStatusChange& newer, PodStatusChange& change) {
  if (newer.condition) change.condition = newer.condition;
  if (newer.nominated_node_name) change.nominated_node_name = newer.nominated_node_name;
}

api::Pod StatusPartOf(const api::Pod& pod) {
  api::Pod part;
  part.metadata.name = pod.metadata.name;
  part.metadata.namespace_ = pod.metadata.namespace_;
  part.metadata.uid = pod.metadata.uid;
  part.metadata.resource_version = pod.metadata.resource_version;
  part.metadata.generation = pod.metadata.generation;
  part.status.conditions = pod.status.conditions;
  part.status.nominated_node_name = pod.status.nominated_node_name;
  return part;
}

std::string WriteKeyOf(const api::Pod& pod) {
  return pod.metadata.uid.empty() ? api::KeyOf(pod.metadata) : pod.metadata.uid;
}

void PodStatusWriter::Patch(api::Pod pod, const PodStatusChange& change, WriteClass write_class, Done done) {
  const std::string key = WriteKeyOf(pod);
  Entry& entry = entries_[key];
  const VersionOrder order = CompareVersions(pod.metadata.resource_version, entry.pod.metadata.resource_version);
  if (order != VersionOrder::kOlder) entry.pod = std::move(pod);
  Merge(change, entry.wanted);
  entry.dones.push_back(std::move(done));
  if (entry.in_line_as && *entry.in_line_as <= write_class) {
    path_.NoteCollapsed(write_class);
    return path_.Release(write_class);
  }
  entry.in_line_as = write_class;
  ++entry.calls;
  const auto batch = std::make_shared<Batch>();
  batch->write_class = write_class;
  path_.SubmitReserved(
      {.write_class = write_class,
       .key = key,
       .make = [this, key, batch] { return Make(key, batch); },
       .again = [this, key, batch](const ApiAnswer& answer) { return TakeAnswer(key, *batch, answer); },
       .repeatable = true,
       .done = [this, key, batch](const ApiAnswer& answer) { Finish(key, batch, answer); }});
}

std::optional<http::Request> PodStatusWriter::Make(const std::string& key, const BatchPtr& batch) {
  Entry& entry = entries_.at(key);
  Merge(std::exchange(entry.wanted, {}), batch->change);
  std::move(entry.dones.begin(), entry.dones.end(), std::back_inserter(batch->dones));
  entry.dones.clear();
  entry.in_line_as.reset();
  if (IsEmpty(batch->change) || batch->next == Step::kGone) return std::nullopt;
  if (batch->next == Step::kRead) return requests_.read(entry.pod);
  api::Pod base = Base(entry.pod);
  if (batch->next == Step::kPatchAny) base.metadata.resource_version.clear();
  batch->version = base.metadata.resource_version;
  std::string body = PodStatusPatch(base, batch->change, clock_.Now());
  if (body.empty()) return std::nullopt;
  // Recorded before it is sent: from here on the server may have it.
  Recent& recent = Remember(key);
  Merge(batch->change, recent.uncertain);
  return requests_.patch(entry.pod, std::move(body));
}

Again PodStatusWriter::TakeAnswer(const std::string& key, Batch& batch, const ApiAnswer& answer) {
  if (batch.next == Step::kRead) return TakeRead(key, batch, answer);
  if (batch.next == Step::kPatch && answer.status.code == 409) batch.next = Step::kRead;
  if (answer.status.code == 0 || answer.status.code >= 500) {
    batch.lost = {batch.version, loop_.Now()};
    return Again::kNo;
  }
  // The patch changed nothing, so the one before, whose answer was lost, is still for the server's version.
  const bool may_still_land = batch.lost && answer.ok() && loop_.Now() - batch.lost->at < kLateEffect;
  if (!may_still_land) return Again::kNo;
  const Result<api::Object> pod = DecodeOne(answer.response);
  return pod && pod->metadata().resource_version == batch.lost->version ? Again::kLater : Again::kNo;
}

Again PodStatusWriter::TakeRead(const std::string& key, Batch& batch, const ApiAnswer& answer) {
  const Result<api::Object> read = answer.ok() ? DecodeOne(answer.response) : Result<api::Object>(answer.ToError());
  const api::Pod* pod = read ? read->As<api::Pod>() : nullptr;
  if (pod == nullptr) {
    if (answer.status.IsOutage()) return Again::kNo;
    // The pod was there when the patch was refused, so this is about our rights, or the path to the server.
    batch.next = Step::kPatchAny;
    return Again::kAtOnce;
  }
  Entry& entry = entries_.at(key);
  if (pod->metadata.uid != entry.pod.metadata.uid) {
    batch.next = Step::kGone;
    return Again::kAtOnce;
  }
  batch.next = Step::kPatch;
  entry.pod = StatusPartOf(*pod);
  // No earlier patch can take effect any more: each was for a version before this one.
  Remember(key).uncertain = {};
  return Again::kAtOnce;
}

api::Pod PodStatusWriter::Base(const api::Pod& pod) const {
  api::Pod base = pod;
  const auto found = recent_by_key_.find(WriteKeyOf(pod));
  if (found == recent_by_key_.end()) return base;
  const Recent& recent = *found->second;
  const std::string& version = pod.metadata.resource_version;
  const bool is_older = recent.version.empty() ? version == recent.before
                                               : CompareVersions(version, recent.version) == VersionOrder::kOlder;
  if (is_older) Apply(recent.confirmed, base.status);
  if (is_older && !recent.version.empty()) base.metadata.resource_version = recent.version;
  Forget(recent.uncertain, base.status);
  return base;
}

PodStatusWriter::Recent& PodStatusWriter::Remember(const std::string& key) {
  const base::Duration now = loop_.Now();
  if (const auto found = recent_by_key_.find(key); found != recent_by_key_.end()) {
    recent_.splice(recent_.end(), recent_, found->second);
  } else {
    recent_.push_back({.key = key});
    recent_by_key_[key] = std::prev(recent_.end());
  }
  recent_.back().written = now;
  while (recent_.size() > kMaxRecent || now - recent_.front().written > kRecentTime) {
    recent_by_key_.erase(recent_.front().key);
    recent_.pop_front();
  }
  return recent_.back();
}

void PodStatusWriter::Finish(const std::string& key, const BatchPtr& batch, const ApiAnswer& answer) {
  Entry& entry = entries_.at(key);
  std::vector<Done> dones = std::move(batch->dones);
  Result<void> result = answer.ok() ? Result<void>() : Result<void>(answer.ToError());
  if (answer.status.code == kNothingToWrite && entry.in_line_as == batch->write_class) {
    // Overtaken by a bind before its request was made.
    std::move(entry.dones.begin(), entry.dones.end(), std::back_inserter(dones));
    entry.dones.clear();
    entry.wanted = {};
    entry.in_line_as.reset();
  } else if (answer.ok() && answer.status.code != kNothingToWrite) {
    Recent& recent = Remember(key);
    Settle(batch->change, recent.uncertain);
    Merge(batch->change, recent.confirmed);
    const Result<api::Object> pod = DecodeOne(answer.response);
    recent.version = pod ? pod->metadata().resource_version : std::string();
    recent.before = entry.pod.metadata.resource_version;
  }
  if (--entry.calls == 0) entries_.erase(key);
  for (const Done& done : dones) done(result);
}

}  // namespace berth::client
