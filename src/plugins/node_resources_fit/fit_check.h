// Does a request fit into what is left of a node? Row and column form of the same answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dra/class_names.h"
#include "framework/node_columns.h"
#include "framework/resource.h"
#include "framework/status.h"

namespace berth::plugins {

// Extended resources that are managed elsewhere.
struct IgnoredResources {
  std::vector<Symbol> names;
  std::vector<std::string> groups;  // domains: the part before the slash

  bool Cover(const Symbol& name) const;
};

// The request without scalar resources that need no check: zero amounts and ignored ones.
framework::Resource RequestToCheck(framework::Resource request, const IgnoredResources& ignored);

struct NodeRoom {
  const framework::Resource& allocatable;
  const framework::Resource& requested;
  int64_t pod_count = 0;
  // Resources that device classes provide are not checked on nodes that have none of their own; null without classes.
  const dra::ClassNames* classes = nullptr;
};

// Rejections list every resource that is short, with its amounts. Unresolvable when even the empty node would be too
// small, since no eviction helps then.
framework::Status CheckFit(const framework::Resource& request, const NodeRoom& room);

// CheckFit over columns, for a request without scalar resources. Verdicts are equal exactly when the statuses are.
void CheckFitColumns(const framework::Resource& request, const framework::NodeColumns& columns,
                     framework::NodeIndex begin, std::span<uint8_t> verdicts);
void CheckFitColumns(const framework::Resource& request, const framework::NodeColumns& columns,
                     std::span<const framework::NodeIndex> nodes, std::span<uint8_t> verdicts);

}  // namespace berth::plugins
