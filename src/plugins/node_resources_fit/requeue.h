// Which changes of other pods and of nodes free the kind of resource a waiting pod lacks.
#pragma once

#include "api/resource_list.h"
#include "framework/resource.h"

namespace berth::plugins {

// A pod went from `before` to `after`: is there more left now of something that is wanted?
bool FreesWhatIsWanted(const api::ResourceList& wanted, const framework::Resource& before,
                       const framework::Resource& after);

// A node's allocatable went from `before` to `after`: did it gain room for pods, or something that is wanted?
bool OffersMoreOfWhatIsWanted(const framework::Resource& wanted, const framework::Resource& before,
                              const framework::Resource& after);

}  // namespace berth::plugins
