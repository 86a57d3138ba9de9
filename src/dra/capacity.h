// Consumable capacity: how much of a device a request takes, and whether that may be.
#pragma once

#include "api/resource_claim.h"
#include "dra/allocated_devices.h"

namespace berth::dra {

// What the request consumes of each capacity of the device, rounded as the device's policy wants it.
ConsumedCapacity ConsumptionOf(const api::CapacityRequirements* request, const api::Device& device);

// Whether the request fits beside what is allocated and what the search has taken so far (either may be null). False as
// well when the request names a capacity that the device does not have, or asks for an amount that its policy refuses.
bool CapacitySuffices(const api::CapacityRequirements* request, const api::Device& device,
                      const ConsumedCapacity* allocated, const ConsumedCapacity* taken);

}  // namespace berth::dra
