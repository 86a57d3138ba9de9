// Trace: what happened in a storm, one line each, with the virtual time and the process. The same seed gives the same
// trace, byte for byte; lines that are not kept are not even formatted.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storm/timeline.h"

namespace berth::storm {

class Trace {
 public:
  // kDigest keeps only a hash of all lines.
  enum class Keep { kNothing, kDigest, kLines };

  Trace(const Timeline& timeline, Keep keep) : timeline_(timeline), keep_(keep) {}

  bool on() const { return keep_ != Keep::kNothing; }
  template <class... Args>
  void Add(std::string_view who, fmt::format_string<Args...> format, const Args&... args) {
    if (on()) AddLine(who, fmt::vformat(format, fmt::make_format_args(args...)));
  }

  // Called with each line, as it occurs.
  void set_on_line(std::function<void(const std::string& line)> on_line) { on_line_ = std::move(on_line); }

  uint64_t digest() const { return digest_; }
  const std::vector<std::string>& lines() const { return lines_; }
  // The last `count` lines that name one of the subjects, or any process or fault.
  std::vector<std::string> LastThatMatter(const std::vector<std::string>& subjects, size_t count) const;

 private:
  void AddLine(std::string_view who, const std::string& text);

  const Timeline& timeline_;
  const Keep keep_;
  uint64_t digest_ = 14695981039346656037ULL;
  std::vector<std::string> lines_;
  std::function<void(const std::string& line)> on_line_;
};

}  // namespace berth::storm
