// Remedies: the smallest changes with which the pod would fit. Plugins propose them; each one is tried on a fork of the
// cluster with all filters of the profile, and only what they accept is reported.
#pragma once

#include "engine/profile.h"
#include "explain/explain.h"
#include "explain/explanation.h"
#include "explain/plugin_explainers.h"
#include "framework/pod_info.h"

namespace berth::explain {

// Fills in `told.remedies` from its verdicts, one of each kind, as time allows.
void FindRemedies(engine::Profile& profile, const framework::PodInfo& pod, const PluginExplainers& explainers,
                  const Limits& limits, Explanation& told);

}  // namespace berth::explain
