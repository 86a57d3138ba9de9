// Volumes for engine benchmarks: what exists, and what pods claim. Every pod has its own claim.
//
//   pvbound    claims are bound before the pod arrives, to volumes of a CSI driver that only one zone can use
//   csilimits  likewise, usable everywhere, but a node takes four such volumes and most nodes have as many
//   pvwait     claims wait for their pod, then a volume is provisioned: in two of three zones, where there is capacity
//   pvlocal    claims wait for their pod, which gets an existing volume: one on each node
#pragma once

#include <cstdint>
#include <string_view>

#include "api/pod.h"
#include "scheduler/driver.h"

namespace berth::perf {

bool IsVolumeKind(std::string_view kind);

void FillVolumes(std::string_view kind, uint64_t nodes, scheduler::Driver& driver);
// Adds the pod's claim.
void ShapeVolumePod(uint64_t number, api::Pod& pod);
// Before pod `number` arrives: adds its claim; does what the controllers would for the pod before it; where volumes are
// scarce, removes a pod that has run long enough with its claim, which frees its volume.
void TurnVolumes(std::string_view kind, uint64_t number, uint64_t nodes, scheduler::Driver& driver);

}  // namespace berth::perf
