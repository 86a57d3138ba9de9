#include "live/http_extender.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include "live/extender_wire.h"

namespace berth::live {

using engine::ExtenderVerdicts;
using engine::HostPriority;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PreemptionCandidate;

namespace {

constexpr base::Duration kDefaultTimeout = std::chrono::seconds(5);

config::Extender WithDefaults(config::Extender config) {
  if (config.http_timeout == base::Duration{}) config.http_timeout = kDefaultTimeout;
  return config;
}

// The nodes that pass: by name, if the extender was given names and returns some, otherwise node objects. Neither:
// none.
std::vector<std::string> PassedNodes(FilterAnswer& answer, bool named) {
  if (named && answer.node_names) return std::move(*answer.node_names);
  std::vector<std::string> names;
  if (!answer.nodes) return names;
  for (AnsweredNode& node : answer.nodes->items) names.push_back(std::move(node.metadata.name));
  return names;
}

framework::PodInfoPtr FindPod(const NodeInfo& node, const std::string& uid) {
  const auto found = std::ranges::find_if(node.pods(), [&](const auto& pod) { return pod->uid() == uid; });
  return found == node.pods().end() ? nullptr : *found;
}

}  // namespace

HttpExtender::HttpExtender(const config::Extender& config, std::unique_ptr<http::Transport> transport)
    : config_(WithDefaults(config)), transport_(std::move(transport)) {
  for (const config::ExtenderManagedResource& resource : config_.managed_resources) {
    managed_resources_.emplace_back(resource.name);
  }
}

bool HttpExtender::IsInterested(const PodInfo& pod) const {
  if (managed_resources_.empty()) return true;
  const auto asks = [&](const api::Container& container) {
    return std::ranges::any_of(managed_resources_, [&](const Symbol& resource) {
      return container.resources.requests.Contains(resource) || container.resources.limits.Contains(resource);
    });
  };
  const api::PodSpec& spec = pod.pod().spec;
  return std::ranges::any_of(spec.containers, asks) || std::ranges::any_of(spec.init_containers, asks);
}

std::string HttpExtender::UrlOf(const std::string& verb) const {
  std::string_view prefix = config_.url_prefix;
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return fmt::format("{}/{}", prefix, verb);
}

std::string HttpExtender::AnswerOf(const std::string& verb) const {
  return fmt::format("answer of extender {}", UrlOf(verb));
}

http::Request HttpExtender::RequestFor(const std::string& verb, std::string body) const {
  return {.method = "POST",
          .path = "/" + verb,
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(body),
          .timeout = config_.http_timeout};
}

Result<std::string> HttpExtender::Check(const std::string& verb, Result<http::Response> response) const {
  if (!response) {
    return Error{response.error().code, fmt::format("Post \"{}\": {}", UrlOf(verb), response.error().message)};
  }
  if (response->head.status != 200) {
    return Error::Unavailable(
        fmt::format("failed {} with extender at URL {}, code {}", verb, UrlOf(verb), response->head.status));
  }
  return std::move(response->body);
}

HttpExtender::Asked HttpExtender::Ask(const std::string& verb, std::string body) const {
  Asked asked;
  if (observer_) asked.began = clock_->Now();
  // In the clock that the wait uses.
  asked.deadline = std::chrono::steady_clock::now() + config_.http_timeout;
  const auto promise = std::make_shared<std::promise<Result<http::Response>>>();
  asked.answer = promise->get_future();
  asked.id = transport_->Send(RequestFor(verb, std::move(body)),
                              [promise](Result<http::Response> arrived) { promise->set_value(std::move(arrived)); });
  return asked;
}

Result<std::string> HttpExtender::AnswerTo(const std::string& verb, Asked asked) const {
  // The transport enforces the timeout too, and is usually first; this works even if the transport is stuck.
  const bool arrived = asked.answer.wait_until(asked.deadline) == std::future_status::ready;
  if (!arrived) transport_->Cancel(asked.id);
  Result<std::string> text =
      Check(verb, arrived ? asked.answer.get()
                          : Result<http::Response>(
                                Error{ErrorCode::kDeadlineExceeded,
                                      "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"}));
  if (observer_) observer_(verb, text.ok(), clock_->Now() - asked.began);
  return text;
}

Result<std::string> HttpExtender::Call(const std::string& verb, std::string body) const {
  return AnswerTo(verb, Ask(verb, std::move(body)));
}

Result<ExtenderVerdicts> HttpExtender::Filter(const PodInfo& pod, engine::Nodes nodes) {
  const std::string& verb = config_.filter_verb;
  Result<std::string> text = Call(verb, EncodeExtenderArgs(pod, nodes, config_.node_cache_capable));
  if (!text) return text.error();
  Result<FilterAnswer> answer = DecodeAnswer<FilterAnswer>(std::move(*text), AnswerOf(verb));
  if (!answer) return answer.error();
  if (!answer->error.empty()) return Error::Internal(std::move(answer->error));

  std::unordered_map<std::string_view, const NodeInfo*> asked;
  for (const NodeInfo* node : nodes) asked.emplace(node->name(), node);
  ExtenderVerdicts verdicts;
  for (const std::string& name : PassedNodes(*answer, config_.node_cache_capable)) {
    const auto found = asked.find(name);
    if (found == asked.end()) {
      return Error::Internal(
          fmt::format("extender \"{}\" claims a filtered node \"{}\" which is not found in the input node list",
                      config_.url_prefix, name));
    }
    verdicts.feasible.push_back(found->second);
  }
  verdicts.failed = std::move(answer->failed_nodes);
  verdicts.failed_and_unresolvable = std::move(answer->failed_and_unresolvable_nodes);
  return verdicts;
}

std::future<Result<std::vector<HostPriority>>> HttpExtender::Prioritize(const PodInfo& pod, engine::Nodes nodes) {
  const std::string& verb = config_.prioritize_verb;
  // The request has been sent; its answer is decoded by the waiting thread, not on the transport's.
  return std::async(
      std::launch::deferred,
      [this, &verb, asked = Ask(verb, EncodeExtenderArgs(pod, nodes, config_.node_cache_capable))]() mutable
      -> Result<std::vector<HostPriority>> {
        Result<std::string> text = AnswerTo(verb, std::move(asked));
        if (!text) return text.error();
        return DecodePriorities(std::move(*text), AnswerOf(verb));
      });
}

Result<std::vector<PreemptionCandidate>> HttpExtender::ProcessPreemption(
    const PodInfo& pod, std::span<const PreemptionCandidate> candidates, const framework::ClusterView& cluster) {
  const std::string& verb = config_.preempt_verb;
  Result<std::string> text = Call(verb, EncodePreemptionArgs(pod, candidates, config_.node_cache_capable));
  if (!text) return text.error();
  const Result<PreemptionAnswer> answer = DecodeAnswer<PreemptionAnswer>(std::move(*text), AnswerOf(verb));
  if (!answer) return answer.error();

  std::vector<PreemptionCandidate> left;
  for (const auto& [node_name, victims] : answer->node_name_to_meta_victims) {
    const NodeInfo* node = cluster.Find(node_name);
    if (!node) return Error::NotFound(fmt::format("nodeinfo not found for node name \"{}\"", node_name));
    PreemptionCandidate& candidate = left.emplace_back();
    candidate.node_name = node_name;
    candidate.victims.pdb_violations = victims.num_pdb_violations;
    for (const MetaPod& victim : victims.pods) {
      framework::PodInfoPtr found = FindPod(*node, victim.uid);
      if (!found) {
        return Error::NotFound(
            fmt::format("extender: {} claims to preempt pod (UID: &{{{}}}) on node: {}, but the pod "
                        "is not found on that node",
                        config_.url_prefix, victim.uid, node_name));
      }
      candidate.victims.pods.push_back(std::move(found));
    }
  }
  return left;
}

Result<void> HttpExtender::SendBind(const PodInfo& pod, const std::string& node_name) {
  const std::string& verb = config_.bind_verb;
  Result<std::string> text = Call(verb, EncodeBindingArgs(pod, node_name));
  if (!text) return text.error();
  Result<BindingAnswer> answer = DecodeAnswer<BindingAnswer>(std::move(*text), AnswerOf(verb));
  if (!answer) return answer.error();
  if (!answer->error.empty()) return Error::Internal(std::move(answer->error));
  return {};
}

}  // namespace berth::live
