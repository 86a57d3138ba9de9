// Putting API objects into the picture, whatever their kind.
#pragma once

#include "api/object.h"
#include "cluster/cluster.h"

namespace berth::cluster {

// Adds or replaces the object. A pod without a node counts nowhere; one that was promised a node is nominated to it.
// Kinds that scheduling does not read are ignored.
void Apply(Cluster& cluster, const api::Object& object);

}  // namespace berth::cluster
