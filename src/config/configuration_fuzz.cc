#include <cstddef>
#include <cstdint>

#include "config/testing/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::config::FuzzConfiguration({reinterpret_cast<const char*>(data), size});
  return 0;
}
