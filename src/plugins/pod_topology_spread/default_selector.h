// Finds the pods that belong together with a given pod, by the services and the controller that select it. Default
// spread constraints count these.
#pragma once

#include <vector>

#include "api/pod.h"
#include "api/selector.h"
#include "api/workload.h"
#include "framework/objects.h"

namespace berth::plugins {

// The services that select the pod, by name. A service without a selector selects nothing.
std::vector<const api::Service*> ServicesOf(const api::Pod& pod, const framework::Objects& objects);

// Selects everything (empty) when neither a service nor a ReplicationController, ReplicaSet or StatefulSet is found.
api::Selector DefaultSpreadSelector(const api::Pod& pod, const framework::Objects& objects);

// The controller of the pod when it is of a kind that DefaultSpreadSelector looks up; otherwise null.
const api::OwnerReference* SpreadingController(const api::Pod& pod);

}  // namespace berth::plugins
