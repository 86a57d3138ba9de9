// HttpExtender: an extender called over HTTP, as kube-scheduler's configuration describes it. Each verb is a POST of
// JSON to urlPrefix/verb; a verb that is not configured is not called.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/symbol.h"
#include "config/types.h"
#include "engine/extender.h"
#include "http/transport.h"

namespace berth::live {

// Thread-safe. Errors are connection errors, an answer that is not 200 or cannot be decoded, and what the extender
// itself reports as an error. No caller waits longer than the configured timeout, whatever happens to the connection,
// because the scheduling thread is one of the callers.
class HttpExtender final : public engine::Extender {
 public:
  // How long a call took, and whether there was an answer that could be decoded; for metrics. From any thread.
  using Observer = std::function<void(const std::string& verb, bool answered, base::Duration took)>;

  // The transport connects to the extender's urlPrefix.
  HttpExtender(const config::Extender& config, std::unique_ptr<http::Transport> transport);
  // Call before the first call; the clock must outlive the extender.
  void set_observer(const base::Clock& clock, Observer observer) {
    clock_ = &clock;
    observer_ = std::move(observer);
  }

  std::string_view name() const override { return config_.url_prefix; }
  // Without managed resources every pod; otherwise those with a container that requests one of them.
  bool IsInterested(const framework::PodInfo& pod) const override;
  bool IsIgnorable() const override { return config_.ignorable; }
  bool SupportsPreemption() const override { return !config_.preempt_verb.empty(); }
  bool IsFilter() const override { return !config_.filter_verb.empty(); }
  bool IsPrioritizer() const override { return !config_.prioritize_verb.empty(); }
  bool IsBinder() const override { return !config_.bind_verb.empty(); }
  int64_t weight() const override { return config_.weight; }

  Result<std::vector<framework::PreemptionCandidate>> ProcessPreemption(
      const framework::PodInfo& pod, std::span<const framework::PreemptionCandidate> candidates,
      const framework::ClusterView& cluster) override;
  Result<engine::ExtenderVerdicts> Filter(const framework::PodInfo& pod, engine::Nodes nodes) override;
  std::future<Result<std::vector<engine::HostPriority>>> Prioritize(const framework::PodInfo& pod,
                                                                    engine::Nodes nodes) override;
  Result<void> SendBind(const framework::PodInfo& pod, const std::string& node_name) override;

 private:
  // A call in progress.
  struct Asked {
    http::CallId id = 0;
    std::future<Result<http::Response>> answer;
    std::chrono::steady_clock::time_point deadline;
    base::Time began{};  // if there is an observer
  };

  std::string UrlOf(const std::string& verb) const;
  http::Request RequestFor(const std::string& verb, std::string body) const;
  Asked Ask(const std::string& verb, std::string body) const;
  // The body of the answer; an error once the timeout has passed.
  Result<std::string> AnswerTo(const std::string& verb, Asked asked) const;
  Result<std::string> Check(const std::string& verb, Result<http::Response> response) const;
  Result<std::string> Call(const std::string& verb, std::string body) const;
  std::string AnswerOf(const std::string& verb) const;

  // Constant after construction.
  const config::Extender config_;
  const std::unique_ptr<http::Transport> transport_;
  std::vector<Symbol> managed_resources_;
  const base::Clock* clock_ = nullptr;  // if there is an observer
  Observer observer_;
};

}  // namespace berth::live
