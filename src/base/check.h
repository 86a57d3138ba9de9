// CHECK for our own invariants: always on, never reachable from outside input.
#pragma once

namespace berth::base {

[[noreturn]] void CheckFailed(const char* file, int line, const char* expression, const char* why);

}  // namespace berth::base

#define CHECK(condition)                               \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::berth::base::CheckFailed(__FILE__, __LINE__, #condition, nullptr))

// The same with a message for the crash report.
#define CHECK_WHY(condition, why)                      \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::berth::base::CheckFailed(__FILE__, __LINE__, #condition, (why)))
