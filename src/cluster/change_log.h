// ChangeLog: what changed on which node, in order. A kept evaluation remembers how far it has read and catches up from
// there instead of starting over.
#pragma once

#include "framework/node_info.h"
#include "framework/recent_changes.h"

namespace berth::cluster {

struct Change {
  framework::NodeIndex node = 0;
  // The pod that was added (+1) or removed (-1); null when the Node object itself was added, replaced or removed.
  framework::PodInfoPtr pod;
  int sign = 0;
};

using ChangeLog = framework::RecentChanges<Change>;

}  // namespace berth::cluster
