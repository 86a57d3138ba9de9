// Zone and region labels, current and beta, on volumes and nodes.
#pragma once

#include <string_view>
#include <vector>

#include "base/symbol.h"

namespace berth::plugins {

struct TopologyLabels {
  Symbol zone{"topology.kubernetes.io/zone"};
  Symbol region{"topology.kubernetes.io/region"};
  Symbol beta_zone{"failure-domain.beta.kubernetes.io/zone"};
  Symbol beta_region{"failure-domain.beta.kubernetes.io/region"};
};
const TopologyLabels& GetTopologyLabels();

// A volume in several zones lists them in one label: "a__b". Parts are as written; "" gives one empty part.
std::vector<std::string_view> SplitZones(std::string_view label_value);

// Without leading and trailing white space.
std::string_view TrimSpace(std::string_view text);

}  // namespace berth::plugins
