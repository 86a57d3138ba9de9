// Everything needed to test a plugin, in namespace berth::testing: builders that take human strings, a fake handle and
// a fake cluster, and calls for what a test wants to know about a plugin.
//
//   FakeHandle handle;
//   handle.cluster().AddNode(MakeNode("n1").Label("zone", "a").Capacity("cpu", "4"));
//   const auto plugin = MakePlugin<ZoneLabel>(handle, ArgsOf(R"({"zones": ["a"]})"));
//   EXPECT_EQ(Judge(*plugin, *MakePod("web").Request("cpu", "500m").Info(), node).Message(), "…");
#pragma once

#include <string>
#include <utility>

#include "berth/plugin.h"          // IWYU pragma: export
#include "testing/builders.h"      // IWYU pragma: export
#include "testing/fake_cluster.h"  // IWYU pragma: export
#include "testing/fake_handle.h"   // IWYU pragma: export
#include "testing/plugin_calls.h"  // IWYU pragma: export

namespace berth::testing {

// Arguments as a plugin gets them from a configuration, given as JSON.
inline PluginArgs ArgsOf(std::string json) { return config::RawArgs{std::move(json)}; }

}  // namespace berth::testing
