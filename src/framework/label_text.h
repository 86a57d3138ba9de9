// Label conditions, and the node's own labels, as text for people.
#pragma once

#include <string>

#include "api/selector.h"
#include "base/symbol.h"
#include "framework/node_info.h"

namespace berth::framework {

// "disk=ssd", "disk not in (ssd, nvme)", "no label gpu".
std::string ConditionText(const api::Requirement& requirement);
// "the node has disk=hdd", "the node has no label disk".
std::string LabelText(const NodeInfo& node, const Symbol& key);
// The value alone; "" when the node has no such label.
std::string LabelValue(const NodeInfo& node, const Symbol& key);

}  // namespace berth::framework
