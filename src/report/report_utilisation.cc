// How full the cluster is, as a table with bars.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/amount_text.h"
#include "report/report.h"
#include "report/table_cells.h"

namespace berth::report {

namespace {

constexpr int kBarWidth = 20;

// Never longer than full: more may be requested than nodes have.
std::string Bar(double share, const TableStyle& style) {
  // A small share is not shown as nothing.
  const int filled = std::clamp(static_cast<int>(std::lround(share * kBarWidth)), share > 0 ? 1 : 0, kBarWidth);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  const Tint tint = share >= 0.9 ? Tint::kRed : share >= 0.7 ? Tint::kYellow : Tint::kGreen;
  return Tinted(std::move(bar), tint, style);
}

std::string NodeText(const sim::NodeShare& share) {
  return share.node.empty() ? "-" : fmt::format("{} {}", Percent(share.share), Cell(share.node));
}

struct Row {
  std::string resource, requested, lowest, median, highest;
};

std::string ResourceTable(const sim::Utilisation& utilisation, const TableStyle& style) {
  std::vector<Row> rows = {{"RESOURCE", "REQUESTED", "EMPTIEST NODE", "MEDIAN", "FULLEST NODE"}};
  for (const sim::ResourceUse& use : utilisation.resources) {
    rows.push_back({Cell(use.resource),
                    fmt::format("{} of {}", framework::AmountText(use.resource, use.total.requested),
                                framework::AmountText(use.resource, use.total.allocatable)),
                    NodeText(use.lowest), use.median.node.empty() ? "-" : Percent(use.median.share),
                    NodeText(use.highest)});
  }
  size_t resource = 0, requested = 0, lowest = 0;
  for (const Row& row : rows) {
    resource = std::max(resource, row.resource.size());
    requested = std::max(requested, row.requested.size());
    lowest = std::max(lowest, row.lowest.size());
  }
  std::string table;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const double share = i == 0 ? 0 : utilisation.resources[i - 1].total.share();
    const std::string bar =
        i == 0 ? std::string(kBarWidth + 6, ' ') : fmt::format("{} {:>5}", Bar(share, style), Percent(share));
    const std::string line = fmt::format("{:<{}}  {}  {:<{}}  {:<{}}  {:<6}  {}", row.resource, resource, bar,
                                         row.requested, requested, row.lowest, lowest, row.median, row.highest);
    table += (i == 0 ? Tinted(line, Tint::kBold, style) : line) + "\n";
  }
  return table;
}

std::string ZoneTable(const sim::Utilisation& utilisation, const TableStyle& style) {
  size_t width = 4;
  for (const sim::ZoneUse& zone : utilisation.zones) width = std::max(width, zone.zone.size());
  std::string table = Tinted(fmt::format("{:<{}}  NODES  PODS   PLACED", "ZONE", width), Tint::kBold, style) + "\n";
  for (const sim::ZoneUse& zone : utilisation.zones) {
    table += fmt::format("{:<{}}  {:<5}  {:<5}  {}\n", OrDash(zone.zone), width, zone.nodes, zone.pods, zone.placed);
  }
  return table + fmt::format("Spread of the pods placed over zones: {}\n", utilisation.PlacedSpread());
}

}  // namespace

std::string ToTable(const sim::Utilisation& utilisation, const TableStyle& style) {
  if (utilisation.nodes.empty()) return {};
  std::string text = ResourceTable(utilisation, style);
  if (!utilisation.zones.empty()) text += "\n" + ZoneTable(utilisation, style);
  return text;
}

}  // namespace berth::report
