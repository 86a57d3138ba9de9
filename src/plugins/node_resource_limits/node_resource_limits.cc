#include "plugins/node_resource_limits/node_resource_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "framework/resource.h"
#include "plugins/args.h"

namespace berth::plugins {
namespace {

struct Limits {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
};

// The sum over containers, and at least what the largest init container may use.
Limits TotalLimits(const api::Pod& pod) {
  Limits limits;
  for (const api::Container& container : pod.spec.containers) {
    const auto given = framework::Resource::From(container.resources.limits);
    limits.milli_cpu += given.milli_cpu;
    limits.memory += given.memory;
  }
  for (const api::Container& container : pod.spec.init_containers) {
    const auto given = framework::Resource::From(container.resources.limits);
    limits.milli_cpu = std::max(limits.milli_cpu, given.milli_cpu);
    limits.memory = std::max(limits.memory, given.memory);
  }
  return limits;
}

// A missing limit, or a node that reports nothing, does not count.
bool Covers(int64_t allocatable, int64_t limit) { return limit != 0 && allocatable != 0 && limit <= allocatable; }

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NodeResourceLimits::Create(const config::PluginArgs& args,
                                                                      framework::Handle&) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new NodeResourceLimits());
}

framework::ScoreResult NodeResourceLimits::Score(const framework::CycleState&, const framework::PodInfo& pod,
                                                 const framework::NodeInfo& node) const {
  const Limits limits = TotalLimits(pod.pod());
  const framework::Resource& allocatable = node.allocatable();
  return Covers(allocatable.milli_cpu, limits.milli_cpu) || Covers(allocatable.memory, limits.memory) ? 1 : 0;
}

bool NodeResourceLimits::Sign(const framework::PodInfo& pod, framework::SignatureBuilder& signature) const {
  const Limits limits = TotalLimits(pod.pod());
  signature.Add(kName, fmt::format("{},{}", limits.milli_cpu, limits.memory));
  return true;
}

}  // namespace berth::plugins
