// Volumes for engine benchmarks: what there is, and what pods claim. Every pod has a claim of its own.
//
//   pvbound    claims are bound before the pod comes, to volumes of a CSI driver that only one zone can use
//   csilimits  likewise, usable everywhere, but a node takes four such volumes and most nodes have as many
//   pvwait     claims wait for their pod, then a volume is provisioned: in two of three zones, where there is capacity
//   pvlocal    claims wait for their pod, which gets a volume that exists: one on each node
#pragma once

#include <cstdint>
#include <string_view>

#include "api/pod.h"
#include "cluster/cluster.h"

namespace berth::perf {

bool IsVolumeKind(std::string_view kind);

void FillVolumes(std::string_view kind, uint64_t nodes, cluster::Cluster& cluster);
// What the pod asks for.
void ShapeVolumePod(uint64_t number, api::Pod& pod);
// Before pod `number` arrives: its claim comes; the controllers do their part for the pod before it; where volumes are
// scarce, a pod that has run long enough goes with its claim, and its volume is free again.
void TurnVolumes(std::string_view kind, uint64_t number, uint64_t nodes, cluster::Cluster& cluster);

}  // namespace berth::perf
