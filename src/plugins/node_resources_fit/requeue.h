// Which changes to other pods and to nodes free a resource that a pending pod lacks.
#pragma once

#include "api/resource_list.h"
#include "framework/resource.h"

namespace berth::plugins {

// A pod changed from `before` to `after`: is more of a wanted resource left now?
bool FreesWhatIsWanted(const api::ResourceList& wanted, const framework::Resource& before,
                       const framework::Resource& after);

// A node's allocatable changed from `before` to `after`: did it gain room for pods, or a wanted resource?
bool OffersMoreOfWhatIsWanted(const framework::Resource& wanted, const framework::Resource& before,
                              const framework::Resource& after);

}  // namespace berth::plugins
