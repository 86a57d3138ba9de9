// For tests: an extender made of functions. It supports what it has a function for, and remembers what it was asked.
#pragma once

#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "engine/extender.h"

namespace berth::engine::testing {

class FakeExtender final : public Extender {
 public:
  using Candidates = std::vector<framework::PreemptionCandidate>;

  explicit FakeExtender(std::string name = "fake") : name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  bool IsInterested(const framework::PodInfo& pod) const override { return !interested || interested(pod); }
  bool IsIgnorable() const override { return ignorable; }
  bool SupportsPreemption() const override { return preempt != nullptr; }
  bool IsFilter() const override { return filter != nullptr; }
  bool IsPrioritizer() const override { return prioritize != nullptr; }
  bool IsBinder() const override { return bind != nullptr; }
  int64_t weight() const override { return score_weight; }

  Result<ExtenderVerdicts> Filter(const framework::PodInfo&, Nodes nodes) override {
    Note("filter", nodes);
    return filter(nodes);
  }
  // The function runs when the answer is waited for.
  std::future<Result<std::vector<HostPriority>>> Prioritize(const framework::PodInfo&, Nodes nodes) override {
    Note("prioritize", nodes);
    return std::async(std::launch::deferred, prioritize);
  }
  Result<Candidates> ProcessPreemption(const framework::PodInfo&,
                                       std::span<const framework::PreemptionCandidate> candidates,
                                       const framework::ClusterView&) override {
    std::string call = "preempt";
    for (const framework::PreemptionCandidate& candidate : candidates) call += " " + candidate.node_name;
    calls.push_back(std::move(call));
    return preempt({candidates.begin(), candidates.end()});
  }
  Result<void> SendBind(const framework::PodInfo& pod, const std::string& node_name) override {
    calls.push_back("bind " + pod.name() + " to " + node_name);
    return bind();
  }

  std::function<bool(const framework::PodInfo& pod)> interested;  // unset: in every pod
  std::function<Result<ExtenderVerdicts>(Nodes nodes)> filter;
  std::function<Result<std::vector<HostPriority>>()> prioritize;
  std::function<Result<Candidates>(Candidates candidates)> preempt;
  std::function<Result<void>()> bind;
  bool ignorable = false;
  int64_t score_weight = 1;
  std::vector<std::string> calls;  // "filter n1 n2"

 private:
  void Note(std::string call, Nodes nodes) {
    for (const framework::NodeInfo* node : nodes) call += " " + node->name();
    calls.push_back(std::move(call));
  }

  const std::string name_;
};

}  // namespace berth::engine::testing
