#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace berth::base {

void CheckFailed(const char* file, int line, const char* expression, const char* why) {
  std::fprintf(stderr, "%s:%d: CHECK(%s) failed%s%s\n", file, line, expression, why ? ": " : "", why ? why : "");
  std::abort();
}

}  // namespace berth::base
