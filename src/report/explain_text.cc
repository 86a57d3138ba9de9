// An explanation for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "report/report.h"
#include "report/table_cells.h"

namespace berth::report {

namespace {

// Up to this many nodes get a line each; beyond, nodes are grouped by reason, whatever their amounts.
constexpr size_t kFewNodes = 12;
constexpr size_t kNamesShown = 4;

std::string RejectionText(const explain::NodeRejection& rejection) {
  std::string text =
      rejection.plugin.empty() ? rejection.reason : fmt::format("{}: {}", rejection.plugin, rejection.reason);
  const std::string detail = rejection.Detail();
  return Cell(detail.empty() ? text : fmt::format("{}: {}", text, detail));
}

std::string NamesText(const std::vector<const explain::NodeVerdict*>& nodes) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(nodes.size(), kNamesShown); ++i) names.push_back(Cell(nodes[i]->node));
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (nodes.size() > kNamesShown) text += fmt::format(" and {} more", nodes.size() - kNamesShown);
  return text;
}

struct Group {
  std::vector<const explain::NodeVerdict*> nodes;
  bool alike = true;  // also in their amounts
};

double ShortageOf(const explain::NodeVerdict& verdict) {
  double sum = 0;
  for (const explain::NodeRejection& rejection : verdict.rejections) sum += rejection.Shortage();
  return sum;
}

// Groups nodes by their rejections, in the order of the first node of each; the closest node of each comes first.
std::vector<Group> GroupsOf(const explain::Explanation& told) {
  std::vector<Group> groups;
  std::map<std::string, size_t> by_text;
  const size_t rejected = static_cast<size_t>(std::count_if(
      told.nodes.begin(), told.nodes.end(), [](const explain::NodeVerdict& verdict) { return !verdict.feasible(); }));
  for (const explain::NodeVerdict& verdict : told.nodes) {
    if (verdict.feasible()) continue;
    std::string key;
    for (const explain::NodeRejection& rejection : verdict.rejections) {
      key += rejection.Sort() + "\n";
      if (rejected <= kFewNodes) key += rejection.Detail() + "\n";
    }
    const auto [found, added] = by_text.try_emplace(key, groups.size());
    if (added) groups.emplace_back();
    Group& group = groups[found->second];
    group.nodes.push_back(&verdict);
    for (size_t i = 0; i < verdict.rejections.size(); ++i) {
      group.alike = group.alike && verdict.rejections[i].Detail() == group.nodes.front()->rejections[i].Detail();
    }
  }
  for (Group& group : groups) {
    if (group.alike) continue;
    const auto closest = std::min_element(group.nodes.begin(), group.nodes.end(),
                                          [](const auto* a, const auto* b) { return ShortageOf(*a) < ShortageOf(*b); });
    std::rotate(group.nodes.begin(), closest, closest + 1);
  }
  return groups;
}

std::string VerdictsText(const explain::Explanation& told, const TableStyle& style) {
  std::string text;
  for (const Group& group : GroupsOf(told)) {
    text += "  " + Tinted(NamesText(group.nodes), Tint::kBold, style);
    text += group.alike ? "\n"
                        : fmt::format(" ({} nodes; numbers of the closest, {})\n", group.nodes.size(),
                                      Cell(group.nodes.front()->node));
    for (const explain::NodeRejection& rejection : group.nodes.front()->rejections) {
      text += fmt::format("    {}\n", RejectionText(rejection));
    }
  }
  return text;
}

const explain::NodeVerdict* FindNode(const explain::Explanation& told, const std::string& name) {
  const auto found = std::find_if(told.nodes.begin(), told.nodes.end(),
                                  [&](const explain::NodeVerdict& node) { return node.node == name; });
  return found == told.nodes.end() ? nullptr : &*found;
}

// Winner against runner-up, by plugin: raw, normalised, weighted.
std::string ScoresText(const explain::Explanation& told, const explain::NodeVerdict& winner,
                       const explain::NodeVerdict* second, const TableStyle& style) {
  size_t width = 5;
  for (const explain::WeightedPlugin& plugin : told.score_plugins) width = std::max(width, plugin.name.size());
  const auto cell = [](const explain::PluginPoints& points) {
    return fmt::format("{:>7} {:>5} {:>8}", points.raw, points.normalised, points.weighted);
  };
  const auto pair = [&](std::string_view a, std::string_view b) {
    return second ? fmt::format("{:<22}  {}", a, b) : std::string(a);
  };
  const auto head = [](const explain::NodeVerdict& node) {
    return Cell(node.node.size() > 22 ? node.node.substr(0, 21) + "…" : node.node);
  };
  std::string text =
      Tinted(fmt::format("  {:<{}}  WEIGHT  {}", "SCORE", width, pair(head(winner), second ? head(*second) : "")),
             Tint::kBold, style) +
      "\n";
  text += fmt::format("  {:<{}}          {}\n", "", width, pair("    raw  norm weighted", "    raw  norm weighted"));
  for (size_t i = 0; i < told.score_plugins.size(); ++i) {
    text += fmt::format("  {:<{}}  {:>6}  {}\n", told.score_plugins[i].name, width, told.score_plugins[i].weight,
                        pair(cell(winner.points[i]), second ? cell(second->points[i]) : ""));
  }
  return text +
         fmt::format("  {:<{}}          {}\n", "total", width,
                     pair(fmt::format("{:>22}", winner.total), second ? fmt::format("{:>22}", second->total) : ""));
}

std::string PreemptionText(const framework::PreemptionExplanation& story, const TableStyle& style) {
  std::string text = "  " + Tinted("Preemption", Tint::kBold, style) + "\n";
  if (!story.not_eligible.empty()) return text + fmt::format("    {}\n", Cell(story.not_eligible));
  std::map<std::string, std::vector<std::string>> in_vain;  // nodes by verdict
  for (const framework::PreemptionTrial& trial : story.trials) {
    if (!trial.would_fit) {
      in_vain[trial.verdict].push_back(trial.node);
      continue;
    }
    std::vector<std::string> victims;
    for (const framework::NamedVictim& victim : trial.victims) {
      victims.push_back(Cell(fmt::format("{} (priority {})", victim.pod, victim.priority)));
    }
    text += fmt::format("    {} {}: evicting {}{}; {}\n", Cell(trial.node), trial.chosen ? "chosen" : "not chosen",
                        fmt::join(victims, ", "),
                        trial.pdb_violations > 0 ? fmt::format(", against {} disruption budget{}", trial.pdb_violations,
                                                               trial.pdb_violations == 1 ? "" : "s")
                                                 : "",
                        Cell(trial.verdict));
  }
  for (const auto& [verdict, nodes] : in_vain) {
    text += fmt::format("    {}: {}\n", nodes.size() == 1 ? Cell(nodes.front()) : fmt::format("{} nodes", nodes.size()),
                        Cell(verdict));
  }
  if (story.not_helpful > 0) {
    text += fmt::format("    {} node{} where evicting pods would not help\n", story.not_helpful,
                        story.not_helpful == 1 ? "" : "s");
  }
  return text;
}

std::string HintsText(const explain::Explanation& told, const TableStyle& style) {
  if (told.hints.empty()) return {};
  std::string text = "  " + Tinted("Worth a look", Tint::kBold, style) + "\n";
  for (const std::string& hint : told.hints) text += fmt::format("    {}\n", Cell(hint));
  return text;
}

std::string RemediesText(const explain::Explanation& told, const TableStyle& style) {
  if (told.nodes.empty()) return {};
  std::string text = "  " + Tinted("Would fit with", Tint::kBold, style) + "\n";
  for (const explain::ProvenRemedy& remedy : told.remedies) {
    const std::string changes = Cell(fmt::format("{}", fmt::join(remedy.changes, " and ")));
    text += remedy.node.empty() ? fmt::format("    {}\n", changes)
                                : fmt::format("    {}: {}\n", Cell(remedy.node), changes);
  }
  if (told.remedies.empty()) {
    text += told.remedies_tried == 0   ? "    nothing that berth knows to try\n"
            : told.remedies_tried == 1 ? "    not the one change tried\n"
                                       : fmt::format("    none of the {} changes tried\n", told.remedies_tried);
  }
  return text;
}

std::string PlacedText(const explain::Explanation& told, const TableStyle& style) {
  const explain::NodeVerdict* winner = FindNode(told, told.node);
  const size_t feasible = static_cast<size_t>(std::count_if(
      told.nodes.begin(), told.nodes.end(), [](const explain::NodeVerdict& node) { return node.feasible(); }));
  std::string text = Tinted(Cell(told.pod), Tint::kBold, style) + fmt::format(" is on {}", Cell(told.node));
  if (told.nominated) text += ", the node that preemption had promised it";
  text += fmt::format("; {} of {} nodes {} feasible\n", feasible, told.nodes.size(), feasible == 1 ? "was" : "were");
  if (winner && !winner->points.empty()) {
    const explain::NodeVerdict* second = told.runner_up.empty() ? nullptr : FindNode(told, told.runner_up);
    text += ScoresText(told, *winner, second, style);
  }
  text += VerdictsText(told, style);
  if (told.preemption) text += PreemptionText(*told.preemption, style);
  return text;
}

}  // namespace

std::string ToText(const explain::Explanation& told, const TableStyle& style) {
  if (!told.node.empty()) return PlacedText(told, style);
  std::string text = Tinted(Cell(told.pod), Tint::kBold, style) + fmt::format(" has no node: {}\n", Cell(told.message));
  // An error is already the whole message.
  if (!told.pre_filter.empty() && told.pre_filter != told.message) {
    const std::string plugin = told.pre_filter_plugin.empty() ? "" : told.pre_filter_plugin + ": ";
    text += "  " + Cell(fmt::format("rejected before any node was evaluated: {}{}", plugin, told.pre_filter)) + "\n";
  }
  text += VerdictsText(told, style);
  if (told.preemption) text += PreemptionText(*told.preemption, style);
  return text + RemediesText(told, style) + HintsText(told, style);
}

}  // namespace berth::report
