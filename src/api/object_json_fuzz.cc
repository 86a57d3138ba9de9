#include <cstddef>
#include <cstdint>

#include "api/testing/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::api::FuzzObjectJson({reinterpret_cast<const char*>(data), size});
  return 0;
}
