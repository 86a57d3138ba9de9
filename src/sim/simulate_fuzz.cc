#include <cstddef>
#include <cstdint>

#include "sim/testing/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::sim::FuzzSimulate({reinterpret_cast<const char*>(data), size});
  return 0;
}
