#include "shadow/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace berth::shadow {

std::string_view NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAgreed:
      return "agreed";
    case Verdict::kRaced:
      return "raced";
    case Verdict::kLower:
      return "lower";
    case Verdict::kPlaceable:
      return "placeable";
    case Verdict::kInfeasible:
      return "infeasible";
  }
  return "";
}

std::optional<Verdict> VerdictOf(std::string_view name) {
  for (const Verdict verdict : kVerdicts) {
    if (NameOf(verdict) == name) return verdict;
  }
  return std::nullopt;
}

namespace {

std::string BestNodes(const Comparison& comparison) {
  const size_t more = comparison.best_count - comparison.best.size();
  return fmt::format("{}{}", fmt::join(comparison.best, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string Gaps(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const PluginGap& gap : comparison.plugins) {
    texts.push_back(fmt::format("{} {} instead of {}", gap.plugin, gap.chosen, gap.best));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string Why(const Comparison& comparison, Verdict verdict) {
  switch (verdict) {
    case Verdict::kAgreed:
    case Verdict::kRaced:
      if (!comparison.bound()) return "neither finds a node";
      if (comparison.nominated) return "its nominated node";
      if (!comparison.score) return "the only feasible node";
      return fmt::format("score {}, one of {} best", *comparison.score, comparison.best_count);
    case Verdict::kLower:
      if (!comparison.score || !comparison.best_score) {
        return fmt::format("berth would take {}", BestNodes(comparison));
      }
      return fmt::format("score {}, {} below {}: {}", *comparison.score, *comparison.best_score - *comparison.score,
                         BestNodes(comparison), Gaps(comparison));
    case Verdict::kPlaceable:
      return fmt::format("fits on {} of {} nodes for berth, best on {}", comparison.feasible_nodes, comparison.nodes,
                         BestNodes(comparison));
    case Verdict::kInfeasible:
      return fmt::format("{}{}{}{}", comparison.plugin, comparison.plugin.empty() ? "" : ": ", comparison.reason,
                         comparison.detail.empty() ? "" : ": " + comparison.detail);
  }
  return {};
}

}  // namespace

std::string Comparison::Text() const {
  std::string text = fmt::format("{} {} {}", NameOf(verdict), pod, bound() ? "on " + node : "given up");
  if (verdict == Verdict::kRaced) {
    return fmt::format("{}: {} but for {}", text, NameOf(without_race), fmt::join(events, "; "));
  }
  text += ": " + Why(*this, verdict);
  if (is_sampling_likely) text += " (likely sampled: the scheduler looks at a part of the nodes)";
  return text;
}

void Tally::Add(const Comparison& comparison) {
  ++compared;
  ++by_verdict[comparison.verdict];
  ++(comparison.bound() ? bound : given_up);
  if (comparison.verdict == Verdict::kLower && comparison.is_sampling_likely) ++lower_by_sampling;
  if (comparison.is_same_message) ++same_messages;
}

size_t Tally::Of(Verdict verdict) const {
  const auto found = by_verdict.find(verdict);
  return found == by_verdict.end() ? 0 : found->second;
}

std::string Tally::Text() const {
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts) {
    if (verdict == Verdict::kAgreed || Of(verdict) > 0)
      parts.push_back(fmt::format("{} {}", Of(verdict), NameOf(verdict)));
  }
  return fmt::format("{} compared: {}", compared, fmt::join(parts, ", "));
}

}  // namespace berth::shadow
