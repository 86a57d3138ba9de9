// The same for tests of what stands on the framework, with the objects, the plugin interfaces and the builders that
// nearly all of them use.
#pragma once

#include "api/node.h"
#include "api/object.h"
#include "api/pod.h"
#include "config/types.h"
#include "framework/plugin.h"
#include "precompiled_test.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"
