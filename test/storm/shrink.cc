#include "storm/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "storm/storm.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

class Shrinker {
 public:
  Shrinker(Plan plan, const Scheduler& scheduler, const std::string& invariant,
           const std::function<void(const Plan& smaller)>& progress)
      : plan_(std::move(plan)), scheduler_(scheduler), invariant_(invariant), progress_(progress) {}

  Plan Run() {
    bool smaller = true;
    while (smaller) {
      smaller = DropFaults();
      smaller |= DropActions();
      smaller |= DropProcesses();
      smaller |= MakeServerPlain();
      smaller |= MakePlain();
      smaller |= DropNodes();
      smaller |= Shorten();
    }
    return plan_;
  }

 private:
  // Keeps the candidate if it fails in the same way.
  bool Try(Plan candidate) {
    Storm storm(candidate, scheduler_, Trace::Keep::kNothing);
    const std::optional<Violation> violation = storm.Run();
    if (!violation || violation->invariant != invariant_) return false;
    plan_ = std::move(candidate);
    progress_(plan_);
    return true;
  }

  bool DropFaults() {
    bool smaller = false;
    for (size_t i = 0; i < kFaultCount; ++i) {
      if (plan_.rates[i] == 0) continue;
      Plan candidate = plan_;
      candidate.rates[i] = 0;
      smaller |= Try(std::move(candidate));
    }
    return smaller;
  }

  // Drops smaller and smaller pieces of the script, as in delta debugging.
  bool DropActions() {
    bool smaller = false;
    for (size_t size = plan_.actions.size() / 2; size > 0; size /= 2) {
      for (size_t begin = 0; begin < plan_.actions.size();) {
        Plan candidate = plan_;
        const auto first = candidate.actions.begin() + static_cast<std::ptrdiff_t>(begin);
        const size_t count = std::min(size, candidate.actions.size() - begin);
        candidate.actions.erase(first, first + static_cast<std::ptrdiff_t>(count));
        if (Try(std::move(candidate))) {
          smaller = true;
        } else {
          begin += size;
        }
      }
    }
    return smaller;
  }

  bool DropProcesses() {
    bool smaller = false;
    while (plan_.instances > 1) {
      Plan candidate = plan_;
      --candidate.instances;
      if (!Try(std::move(candidate))) break;
      smaller = true;
    }
    return smaller;
  }

  bool MakeServerPlain() {
    bool smaller = false;
    const auto plain = [&](auto ServerOptions::*option) {
      if (plan_.server.*option == ServerOptions{}.*option) return;
      Plan candidate = plan_;
      candidate.server.*option = ServerOptions{}.*option;
      smaller |= Try(std::move(candidate));
    };
    plain(&ServerOptions::streaming);
    plain(&ServerOptions::page_size);
    plain(&ServerOptions::pages_any_version);
    plain(&ServerOptions::relists_latest);
    return smaller;
  }

  bool MakePlain() {
    bool smaller = false;
    const auto plain = [&](auto Plan::*option) {
      if (plan_.*option == Plan{}.*option) return;
      Plan candidate = plan_;
      candidate.*option = Plan{}.*option;
      smaller |= Try(std::move(candidate));
    };
    plain(&Plan::protobuf);
    plain(&Plan::volumes);
    plain(&Plan::answers_held);
    plain(&Plan::extender);
    plain(&Plan::status_line);
    plain(&Plan::backlog);
    plain(&Plan::max_binding);
    plain(&Plan::qps);
    return smaller;
  }

  bool DropNodes() {
    bool smaller = false;
    while (plan_.nodes > 1) {
      Plan candidate = plan_;
      --candidate.nodes;
      if (!Try(std::move(candidate))) break;
      smaller = true;
    }
    return smaller;
  }

  // The faults end soon after the last action, if that suffices.
  bool Shorten() {
    const base::Duration last = plan_.actions.empty() ? base::Duration::zero() : plan_.actions.back().at;
    for (const base::Duration rest : {1s, 5s, 20s}) {
      if (last + rest >= plan_.length) return false;
      Plan candidate = plan_;
      candidate.length = last + rest;
      if (Try(std::move(candidate))) return true;
    }
    return false;
  }

  Plan plan_;
  const Scheduler& scheduler_;
  const std::string& invariant_;
  const std::function<void(const Plan& smaller)>& progress_;
};

}  // namespace

Plan Shrink(Plan plan, const Scheduler& scheduler, const std::string& invariant,
            const std::function<void(const Plan& smaller)>& progress) {
  return Shrinker(std::move(plan), scheduler, invariant, progress).Run();
}

std::string DescribeWorld(const Plan& plan) {
  constexpr std::string_view kStreaming[] = {"work", "are refused", "are broken", "never end"};
  constexpr std::string_view kExtenders[] = {"none", "ignorable", "needed"};
  const Plan plain;
  std::string text = fmt::format("{} processes, {} nodes, {:.3f} s", plan.instances, plan.nodes,
                                 static_cast<double>(plan.length.count()) / 1e9);
  const auto add = [&](bool differs, const std::string& what) {
    if (differs) text += ", " + what;
  };
  const ServerOptions& server = plan.server;
  add(!plan.protobuf, "JSON");
  add(plan.volumes, "volumes");
  add(plan.answers_held, "held pods are answered");
  add(plan.extender != plain.extender, fmt::format("extender {}", kExtenders[static_cast<size_t>(plan.extender)]));
  add(plan.status_line != plain.status_line, fmt::format("{} status patches in line", plan.status_line));
  add(plan.backlog != plain.backlog, fmt::format("a backlog of {}", plan.backlog));
  add(plan.max_binding != plain.max_binding, fmt::format("{} bindings at a time", plan.max_binding));
  add(plan.qps != plain.qps, fmt::format("{} requests per second", plan.qps));
  add(server.streaming != plain.server.streaming,
      fmt::format("streaming lists {}", kStreaming[static_cast<size_t>(server.streaming)]));
  add(server.page_size != plain.server.page_size, fmt::format("pages of {}", server.page_size));
  add(server.pages_any_version, "no watch cache");
  add(!server.relists_latest, "no second list of the latest version");
  return text;
}

std::string Describe(const Plan& plan) {
  std::string text = fmt::format("  seed {}: {}\n", plan.seed, DescribeWorld(plan));
  for (size_t i = 0; i < kFaultCount; ++i) {
    if (plan.rates[i] > 0) text += fmt::format("  fault {} {}/10000\n", NameOf(static_cast<Fault>(i)), plan.rates[i]);
  }
  for (const Action& action : plan.actions) {
    text += fmt::format("  {:10.3f} {} ({})\n", static_cast<double>(action.at.count()) / 1e9, NameOf(action.kind),
                        action.seed);
  }
  return text;
}

}  // namespace berth::storm
