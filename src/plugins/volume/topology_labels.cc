#include "plugins/volume/topology_labels.h"

namespace berth::plugins {

const TopologyLabels& GetTopologyLabels() {
  static const TopologyLabels labels;
  return labels;
}

std::vector<std::string_view> SplitZones(std::string_view label_value) {
  constexpr std::string_view kDelimiter = "__";
  std::vector<std::string_view> zones;
  for (size_t end; (end = label_value.find(kDelimiter)) != std::string_view::npos;) {
    zones.push_back(label_value.substr(0, end));
    label_value.remove_prefix(end + kDelimiter.size());
  }
  zones.push_back(label_value);
  return zones;
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace berth::plugins
