// Everything to test a plugin with, in namespace berth::testing: objects from human strings, a handle and a cluster to
// stand in for the real ones, and calls that ask a plugin what a test wants to know.
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

// Arguments as a plugin gets them from a configuration, from JSON.
inline PluginArgs ArgsOf(std::string json) { return config::RawArgs{std::move(json)}; }

}  // namespace berth::testing
