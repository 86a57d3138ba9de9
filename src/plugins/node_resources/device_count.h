// How many devices of a node provide an extended resource.
#pragma once

#include <cstdint>

#include "api/node.h"
#include "base/symbol.h"

namespace berth::dra {
class Inventory;
}

namespace berth::plugins {

struct DeviceCount {
  int64_t all = 0;
  int64_t allocated = 0;
};

// Among the devices that slices offer to the node, those that match the class that provides the resource. Zero when no
// class does, or when something about them cannot be read.
DeviceCount CountDevices(dra::Inventory& inventory, const Symbol& resource, const api::Node& node);

}  // namespace berth::plugins
