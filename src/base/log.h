// Structured log lines in klog's text format, or JSON as Kubernetes components write it.
//
//   LOG_INFO(3, "Attempting to schedule pod", {"pod", name});
//   LOG_ERROR("Error scheduling pod", {"err", error}, {"pod", name});
//
//   I1116 03:42:26.123456   12345 cycle.cc:42] "Attempting to schedule pod" pod="default/web"
//   {"ts":1794800546123.456,"caller":"live/cycle.cc:42","msg":"Attempting to schedule pod","v":3,"pod":"default/web"}
//
// A line that is off costs one relaxed load; its arguments are not evaluated. A line that is on is one write(2),
// formatted in a per-thread buffer. Thread-safe. There is one log per process, as there is one stderr.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/symbol.h"

namespace berth::base {

enum class LogFormat : uint8_t { kText, kJson };
enum class LogSeverity : uint8_t { kInfo, kWarning, kError };

struct LogOptions {
  LogFormat format = LogFormat::kText;
  int verbosity = 0;          // -v: lines of this level and below are written
  std::string vmodule{};      // "queue=5,sched*=3": other levels for files whose name without extension matches
  bool split_stream = false;  // info goes to stdout, errors to stderr; otherwise everything to stderr
  // Source of the timestamps; null means the system clock. Must outlive the log's use.
  const Clock* clock = nullptr;
  // Takes each line, with its newline, instead of the streams. Called from any thread, one line at a time.
  std::function<void(std::string_view line)> sink{};
};

// Replaces all settings at once. Refuses a malformed vmodule and then changes nothing.
Result<void> ConfigureLog(LogOptions options);

// A key and a value; the value is read when the line is written, so it may be a temporary of the call.
class LogField {
 public:
  LogField(std::string_view key, std::string_view value) : key_(key), kind_(Kind::kText), text_(value) {}
  LogField(std::string_view key, const char* value) : LogField(key, std::string_view(value)) {}
  LogField(std::string_view key, const std::string& value) : LogField(key, std::string_view(value)) {}
  LogField(std::string_view key, const Symbol& value) : LogField(key, value.str()) {}
  LogField(std::string_view key, const Error& value) : LogField(key, std::string_view(value.message)) {}
  LogField(std::string_view key, bool value) : key_(key), kind_(Kind::kBool), integer_(value) {}
  LogField(std::string_view key, Duration value) : key_(key), kind_(Kind::kDuration), integer_(value.count()) {}
  LogField(std::string_view key, double value) : key_(key), kind_(Kind::kDouble), number_(value) {}
  LogField(std::string_view key, std::span<const std::string> value) : key_(key), kind_(Kind::kTexts), texts_(value) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) LogField(std::string_view key, Integer value)
      : key_(key),
        kind_(std::signed_integral<Integer> ? Kind::kSigned : Kind::kUnsigned),
        integer_(static_cast<int64_t>(value)) {}

 private:
  friend class LogLine;
  enum class Kind : uint8_t { kText, kBool, kSigned, kUnsigned, kDouble, kDuration, kTexts };

  std::string_view key_;
  Kind kind_;
  std::string_view text_{};
  std::span<const std::string> texts_{};
  int64_t integer_ = 0;
  double number_ = 0;
};

// No line above this level is written anywhere; the only part of the check that a disabled line pays for.
extern std::atomic<int> log_ceiling;

bool LogEnabledInFile(int level, const char* file);
inline bool LogEnabled(int level, const char* file) {
  return level <= log_ceiling.load(std::memory_order_relaxed) && LogEnabledInFile(level, file);
}

// Called by the macros below. `level` matters only for kInfo.
void WriteLog(LogSeverity severity, int level, const char* file, int line, std::string_view message,
              std::initializer_list<LogField> fields);

}  // namespace berth::base

// `level` as in klog's V(level): 0 is always on.
#define LOG_INFO(level, message, ...)                                                                                  \
  do {                                                                                                                 \
    if (::berth::base::LogEnabled((level), __FILE__))                                                                  \
      ::berth::base::WriteLog(::berth::base::LogSeverity::kInfo, (level), __FILE__, __LINE__, message, {__VA_ARGS__}); \
  } while (false)

#define LOG_WARNING(message, ...) \
  ::berth::base::WriteLog(::berth::base::LogSeverity::kWarning, 0, __FILE__, __LINE__, message, {__VA_ARGS__})

#define LOG_ERROR(message, ...) \
  ::berth::base::WriteLog(::berth::base::LogSeverity::kError, 0, __FILE__, __LINE__, message, {__VA_ARGS__})
