// Devices for engine benchmarks: what nodes offer and what pods claim.
//
//   dra           eight devices a node, one for each pod, by template
//   drashared     as many, in one pool for each zone
//   drapartition  a device a node that can be had whole, in halves, quarters or eighths; pods take eighths
//   draconsumable nodes as for dra, and a thousand pools for all nodes with a device that is shared by capacity: pods
//   take
//                 half of one twice
//   drapairs      a thousand pools for all nodes whose devices consume counters; pods take two devices of one pool
//   draextended   as dra, asked for as an extended resource
#pragma once

#include <cstdint>
#include <string_view>

#include "api/pod.h"
#include "cluster/cluster.h"

namespace berth::perf {

bool IsDeviceKind(std::string_view kind);

void FillDevices(std::string_view kind, uint64_t nodes, cluster::Cluster& cluster);
// What the pod asks for.
void ShapeDevicePod(std::string_view kind, uint64_t number, api::Pod& pod);
// Before pod `number` arrives: its claim comes, as the controller of claims would have made it, and a pod that has run
// long enough goes, with its claim, so that a quarter of the devices stay free.
void TurnDevices(std::string_view kind, uint64_t number, uint64_t nodes, cluster::Cluster& cluster);

// Of a claim that the scheduler makes for pod `number`.
std::string ExtendedClaimName(uint64_t number);

}  // namespace berth::perf
