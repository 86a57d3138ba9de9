#include "framework/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace berth::framework {
namespace {

// "COUNT REASON" for every reason, sorted as text: "10 x" comes before "2 y", as kubectl describe shows it.
std::vector<std::string> CountReasons(const NodeToStatus& statuses, size_t node_count) {
  std::map<std::string_view, size_t> counts;
  for (const NodeToStatus::Group& group : statuses.groups()) {
    for (const std::string& reason : group.status.reasons()) counts[reason] += group.nodes;
  }
  if (const size_t told = statuses.explicit_count(); told < node_count) {
    for (const std::string& reason : statuses.absent().reasons()) counts[reason] += node_count - told;
  }
  std::vector<std::string> lines;
  lines.reserve(counts.size());
  for (const auto& [reason, count] : counts) {
    if (count == 0) continue;
    lines.push_back(fmt::format("{} {}", count, reason));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

void Diagnosis::AddPluginStatus(const Status& status) {
  if (status.plugin().empty()) return;
  if (status.IsRejected()) unschedulable_plugins.emplace(status.plugin());
  if (status.code() == Code::kPending) pending_plugins.emplace(status.plugin());
}

std::string FitErrorMessage(const Diagnosis& diagnosis, size_t node_count) {
  std::string message = fmt::format("0/{} nodes are available:", node_count);
  if (!diagnosis.pre_filter_message.empty()) {
    message += fmt::format(" {}.", diagnosis.pre_filter_message);
  } else if (const auto lines = CountReasons(diagnosis.node_to_status, node_count); !lines.empty()) {
    message += fmt::format(" {}.", fmt::join(lines, ", "));
  }
  if (!diagnosis.post_filter_message.empty()) message += fmt::format(" {}", diagnosis.post_filter_message);
  return message;
}

}  // namespace berth::framework
