#include "client/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "client/list_pages.h"
#include "client/scheduling_kinds.h"

namespace berth::client {
namespace {

// Besides what plugins read: what creates pods, and what mutates or rejects pods that are not in the cluster yet.
constexpr api::Kind kPlanningKinds[] = {
    api::Kind::kDeployment,      api::Kind::kDaemonSet,  api::Kind::kJob,           api::Kind::kPriorityClass,
    api::Kind::kRuntimeClass,    api::Kind::kLimitRange, api::Kind::kResourceQuota, api::Kind::kResourceClaimTemplate,
    api::Kind::kDeviceTaintRule,
};

// In the order in which they are read.
std::vector<api::Kind> KindsToRead() {
  std::vector<api::Kind> kinds = {api::Kind::kPod};
  std::copy_if(std::begin(kSchedulingKinds), std::end(kSchedulingKinds), std::back_inserter(kinds),
               [](api::Kind kind) { return kind != api::Kind::kPod; });
  kinds.insert(kinds.end(), std::begin(kPlanningKinds), std::end(kPlanningKinds));
  return kinds;
}

struct Reading {
  ApiClient& client;
  base::Loop& loop;
  std::function<void(Result<Snapshot>)> done;
  std::vector<api::Kind> kinds = KindsToRead();
  size_t next = 0;
  Snapshot snapshot{};
};

using ReadingPtr = std::shared_ptr<Reading>;

// "deviceclasses.resource.k8s.io", as kubectl names it.
std::string ResourceName(const api::KindInfo& info) {
  const std::string_view version = info.api_version();
  const size_t slash = version.find('/');
  if (slash == std::string_view::npos) return std::string(info.resource);
  return fmt::format("{}.{}", info.resource, version.substr(0, slash));
}

bool IsRequired(api::Kind kind) { return kind == api::Kind::kPod || kind == api::Kind::kNode; }

auto SortKey(const api::Object& object) {
  const api::ObjectMeta& metadata = object.metadata();
  return std::tuple(object.info().name, metadata.namespace_.str(), std::string_view(metadata.name));
}

void ReadNext(const ReadingPtr& reading);

void Take(const ReadingPtr& reading, api::Kind kind, ListOutcome outcome) {
  Snapshot& snapshot = reading->snapshot;
  if (outcome.ok()) {
    std::move(outcome.objects.begin(), outcome.objects.end(), std::back_inserter(snapshot.objects));
    return ReadNext(reading);
  }
  const Error error = outcome.answer.ToError();
  const std::string what = fmt::format("cannot read {}: {}", ResourceName(api::InfoOf(kind)), error.message);
  const int code = outcome.answer.status.code;
  if (IsRequired(kind) || (code != 403 && code != 404)) return reading->done(Error{error.code, what});
  // A beta that is off by default: a cluster that does not serve it has no such rules.
  const bool optional = kind == api::Kind::kDeviceTaintRule && code == 404;
  if (!optional) snapshot.warnings.push_back(what + "; going on without");
  ReadNext(reading);
}

void ReadNext(const ReadingPtr& reading) {
  Snapshot& snapshot = reading->snapshot;
  if (reading->next == reading->kinds.size()) {
    std::sort(snapshot.objects.begin(), snapshot.objects.end(),
              [](const api::Object& a, const api::Object& b) { return SortKey(a) < SortKey(b); });
    return reading->done(std::move(snapshot));
  }
  const api::Kind kind = reading->kinds[reading->next++];
  ListRequest request{.kind = kind};
  if (kind == api::Kind::kPod) request.field_selector = kLivePods;
  ListPages(reading->client, reading->loop, std::move(request),
            [reading, kind](ListOutcome outcome) { Take(reading, kind, std::move(outcome)); });
}

}  // namespace

void TakeSnapshot(ApiClient& client, base::Loop& loop, std::function<void(Result<Snapshot>)> done) {
  ReadNext(std::make_shared<Reading>(Reading{client, loop, std::move(done)}));
}

}  // namespace berth::client
