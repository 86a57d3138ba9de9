// Devices for engine benchmarks: what nodes offer and what pods claim.
//
//   dra           eight devices per node, one for each pod, by template
//   drashared     as many, in one pool per zone
//   drapartition  a device per node that can be allocated whole, in halves, quarters or eighths; pods take eighths
//   draconsumable nodes as for dra, and a thousand pools for all nodes with a device that is shared by capacity:
//                 pods take half of one twice
//   drapairs      a thousand pools for all nodes whose devices consume counters; pods take two devices of one pool
//   draextended   as dra, requested as an extended resource
#pragma once

#include <cstdint>
#include <string_view>

#include "api/pod.h"
#include "scheduler/driver.h"

namespace berth::perf {

bool IsDeviceKind(std::string_view kind);

void FillDevices(std::string_view kind, uint64_t nodes, scheduler::Driver& driver);
// Adds the pod's request.
void ShapeDevicePod(std::string_view kind, uint64_t number, api::Pod& pod);
// Before pod `number` arrives: adds its claim, as the claim controller would, and removes a pod that has run long
// enough, with its claim, so that a quarter of the devices stay free.
void TurnDevices(std::string_view kind, uint64_t number, uint64_t nodes, scheduler::Driver& driver);

// The name of the claim that the scheduler creates for pod `number`.
std::string ExtendedClaimName(uint64_t number);

}  // namespace berth::perf
