// A Value tree as YAML text, laid out as Kubernetes' own tools print it. Internal to this folder.
#pragma once

#include <string>

#include "codec/value.h"

namespace berth::config {

// Keys sorted, lists at the indentation of their key, strings quoted only where YAML would read something else.
std::string ToYaml(const codec::Value& value);

}  // namespace berth::config
