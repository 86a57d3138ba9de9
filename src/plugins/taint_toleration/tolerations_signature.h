// The tolerations of a pod as a signature fragment; shared by every plugin that reads them.
#pragma once

#include "framework/plugin.h"

namespace berth::plugins {

void SignTolerations(const framework::PodInfo& pod, framework::SignatureBuilder& signature);

}  // namespace berth::plugins
