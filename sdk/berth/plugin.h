// Everything needed to write a plugin: the extension points, what they are given, and arguments.
//
// A plugin is a class that derives from framework::Plugin and from the interface of each extension point it serves,
// with a factory that makes one for each profile that enables it. docs/plugins.md is the guide; framework/plugin.h is
// the contract: what runs when and on which thread.
#pragma once

#include <memory>

#include "api/node.h"                   // IWYU pragma: export
#include "api/pod.h"                    // IWYU pragma: export
#include "api/scalars.h"                // IWYU pragma: export
#include "api/time.h"                   // IWYU pragma: export
#include "base/clock.h"                 // IWYU pragma: export
#include "base/result.h"                // IWYU pragma: export
#include "base/symbol.h"                // IWYU pragma: export
#include "berth/args.h"                 // IWYU pragma: export
#include "framework/cluster_view.h"     // IWYU pragma: export
#include "framework/events.h"           // IWYU pragma: export
#include "framework/explanation.h"      // IWYU pragma: export
#include "framework/handle.h"           // IWYU pragma: export
#include "framework/label_text.h"       // IWYU pragma: export
#include "framework/node_to_status.h"   // IWYU pragma: export
#include "framework/normalize_score.h"  // IWYU pragma: export
#include "framework/plugin.h"           // IWYU pragma: export
#include "framework/registry.h"         // IWYU pragma: export

namespace berth {

// What a factory returns: a plugin, or why its arguments are rejected.
using NewPlugin = Result<std::unique_ptr<framework::Plugin>>;

}  // namespace berth
