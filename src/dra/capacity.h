// Consumable capacity: how much of a device a request consumes, and whether that much is left.
#pragma once

#include "api/resource_claim.h"
#include "dra/allocated_devices.h"

namespace berth::dra {

// What the request consumes of each capacity of the device, rounded as the capacity's request policy requires.
ConsumedCapacity ConsumptionOf(const api::CapacityRequirements* request, const api::Device& device);

// Whether the request fits in addition to what is allocated and what the search has taken so far (either may be null).
// Also false if the request names a capacity that the device does not have, or an amount that its policy rejects.
bool CapacitySuffices(const api::CapacityRequirements* request, const api::Device& device,
                      const ConsumedCapacity* allocated, const ConsumedCapacity* taken);

}  // namespace berth::dra
