#include "storm/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "storm/api_wire.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

// From the last byte of a change to the mail of the scheduling loop: decoding, in tasks of some microseconds.
constexpr base::Duration kLongestReading = 100ms;
// The model answers a binding with that; a login page is a 200.
constexpr int kCreated = 201;

bool IsBinding(const http::Request& request) { return request.path.ends_with("/binding"); }

}  // namespace

void Decisions::NoteDelivery(const Delivery& delivery) {
  if (delivery.kind != api::Kind::kNode && delivery.kind != api::Kind::kPod) return;
  std::vector<Arrival>& arrivals = arrivals_[delivery.kind];
  if (!arrivals.empty() && arrivals.back().revision >= delivery.revision) return;
  arrivals.push_back({clock_.Now(), delivery.revision});
}

uint64_t Decisions::ReadUntilNow(api::Kind kind) {
  std::vector<Arrival>& arrivals = arrivals_[kind];
  const base::Time read = clock_.Now() - kLongestReading;
  const auto unread = std::find_if(arrivals.begin(), arrivals.end(), [&](const Arrival& a) { return a.time > read; });
  if (unread == arrivals.begin()) return 0;
  // The last one that has been read is needed until another one has been.
  arrivals.erase(arrivals.begin(), std::prev(unread));
  return arrivals.front().revision;
}

void Decisions::BeginTurn() {
  nodes_seen_ = std::max(nodes_seen_, ReadUntilNow(api::Kind::kNode));
  pods_seen_ = std::max(pods_seen_, ReadUntilNow(api::Kind::kPod));
}

void Decisions::EndTurn(const scheduler::Driver& driver) {
  const cluster::Cluster& cluster = driver.cluster();
  std::set<std::string> bound;
  const auto has = [&](const std::string& uid, base::Ticket ticket) {
    const std::vector<Decision>& of_pod = decisions_[uid];
    return std::any_of(of_pod.begin(), of_pod.end(), [&](const Decision& d) { return d.ticket == ticket; });
  };
  cluster.ForEachPod([&](const framework::PodInfoPtr& pod) {
    const std::string& uid = pod->uid();
    const base::Ticket ticket = cluster.AssumedBy(uid);
    if (ticket == base::Ticket::kNone) {
      bound.insert(uid);
    } else if (!has(uid, ticket)) {
      const std::string node = cluster.NodeOf(uid);
      decisions_[uid].push_back(
          {.ticket = ticket,
           .binding = {.uid = uid, .node = node, .nodes_seen = nodes_seen_, .pods_seen = pods_seen_},
           .decided = clock_.Now(),
           .was_bound = bound_.contains(uid)});
      if (cluster.Find(node) != nullptr) return;
      report_("no pod is bound to a node that was gone",
              fmt::format("{} is to be bound to {}, which the picture does not have", pod->Key(), node),
              {pod->name(), node});
    }
  });
  bound_ = std::move(bound);
  const framework::WaitingPods& waiting = driver.scheduler().waiting_pods();
  for (const framework::PodInfoPtr& pod : waiting.pods()) {
    if (!bound_.contains(pod->uid())) continue;
    report_("no pod is bound twice",
            fmt::format("{} ({}) still waits to be bound, and the picture has it as bound", pod->Key(), pod->uid()),
            {pod->name(), pod->uid()});
  }
  if (driver.binding() > 0) return;
  // No attempt is under way but those whose pods are assumed.
  for (auto& [uid, of_pod] : decisions_) {
    std::erase_if(of_pod, [&](const Decision& d) { return cluster.AssumedBy(uid) != d.ticket; });
  }
  std::erase_if(decisions_, [](const auto& entry) { return entry.second.empty(); });
}

void Decisions::NoteRequest(const http::Request& request) {
  if (IsBinding(request)) CheckBinding(request);
}

void Decisions::CheckBinding(const http::Request& request) {
  const Result<BindingBody> body = ReadBinding(request);
  if (!body) return report_("a binding can be read", body.error().message, {request.path});
  const std::vector<Decision>& of_pod = decisions_[body->uid];
  const auto is_this = [&](const Decision& decision) { return decision.binding.node == body->node; };
  // If there are several of that node, any of them may be the one.
  const auto oldest = std::find_if(of_pod.begin(), of_pod.end(), is_this);
  const auto newest = std::find_if(of_pod.rbegin(), of_pod.rend(), is_this);
  if (oldest == of_pod.end()) {
    return report_(
        "a pod is bound where it was decided",
        fmt::format("{} ({}) is bound to {}, which no attempt has chosen", request.path, body->uid, body->node),
        {body->uid, request.path, body->node});
  }
  if (std::all_of(of_pod.begin(), of_pod.end(), [&](const Decision& d) { return !is_this(d) || d.was_bound; })) {
    return report_(
        "no pod is bound twice",
        fmt::format("{} ({}) is bound to {}, and the picture had it as bound", request.path, body->uid, body->node),
        {body->uid, request.path});
  }
  SentBinding binding = oldest->binding;
  binding.age = clock_.Now() - newest->decided;
  if (const auto found = answered_.find(body->uid); found != answered_.end()) binding.bound_knowing = found->second;
  on_binding_(binding);
}

void Decisions::NoteAnswer(const http::Request& request, int status) {
  if (status != kCreated || !IsBinding(request)) return;
  const Result<BindingBody> body = ReadBinding(request);
  if (!body) return;
  const std::vector<Decision>& of_pod = decisions_[body->uid];
  const auto decision =
      std::find_if(of_pod.begin(), of_pod.end(), [&](const Decision& d) { return d.binding.node == body->node; });
  if (decision != of_pod.end()) answered_[body->uid] = decision->binding.pods_seen;
}

}  // namespace berth::storm
