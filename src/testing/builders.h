// Fluent builders for tests: objects from human strings. A string that does not parse fails a CHECK.
//
//   MakePod("web").Request("cpu", "500m").Tolerate("gpu").Obj()
//   MakeNode("n1").Label("zone", "a").Capacity("cpu", "4").Capacity("memory", "8Gi").Info()
#pragma once

#include "testing/node_builder.h"     // IWYU pragma: export
#include "testing/object_builders.h"  // IWYU pragma: export
#include "testing/pod_builder.h"      // IWYU pragma: export
