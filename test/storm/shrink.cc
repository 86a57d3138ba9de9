#include "storm/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storm/storm.h"

namespace berth::storm {
namespace {

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
  return fmt::format("{} processes, {} nodes, {}{}, streaming lists {}, pages of {}{}{}", plan.instances, plan.nodes,
                     plan.protobuf ? "protobuf" : "JSON", plan.volumes ? ", volumes" : "",
                     kStreaming[static_cast<size_t>(plan.server.streaming)], plan.server.page_size,
                     plan.server.pages_any_version ? ", no watch cache" : "",
                     plan.server.relists_latest ? "" : ", no second list of the latest version");
}

std::string Describe(const Plan& plan) {
  std::string text = fmt::format("  {}\n", DescribeWorld(plan));
  for (size_t i = 0; i < kFaultCount; ++i) {
    if (plan.rates[i] > 0) text += fmt::format("  fault {} {}/10000\n", NameOf(static_cast<Fault>(i)), plan.rates[i]);
  }
  for (const Action& action : plan.actions) {
    text += fmt::format("  {:10.3f} {}\n", static_cast<double>(action.at.count()) / 1e9, NameOf(action.kind));
  }
  return text;
}

}  // namespace berth::storm
