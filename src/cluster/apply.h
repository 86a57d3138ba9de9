// Puts API objects of any kind into the cluster view.
#pragma once

#include "api/object.h"
#include "cluster/cluster.h"

namespace berth::cluster {

// Adds or replaces the object. A pod without a node counts nowhere; one with a nominated node is nominated to it. Kinds
// that scheduling does not read are ignored.
void Apply(Cluster& cluster, const api::Object& object);

}  // namespace berth::cluster
