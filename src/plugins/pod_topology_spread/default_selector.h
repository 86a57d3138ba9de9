// The pods that belong together with a given pod, told from the services and the controller that select it. Default
// spread constraints count these.
#pragma once

#include "api/pod.h"
#include "api/selector.h"
#include "framework/objects.h"

namespace berth::plugins {

// Selects everything (empty) when neither a service nor a ReplicationController, ReplicaSet or StatefulSet is found.
api::Selector DefaultSpreadSelector(const api::Pod& pod, const framework::Objects& objects);

// The controller of the pod when it is of a kind that DefaultSpreadSelector looks up; otherwise null.
const api::OwnerReference* SpreadingController(const api::Pod& pod);

}  // namespace berth::plugins
