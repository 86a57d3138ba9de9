// What a terminal can do that a file cannot: colour, and a line that is overwritten.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace berth::cmd {

// Whether to use colour on `out`. `choice` is the value of --color: auto, always or never. auto means a terminal that
// is not called dumb, with NO_COLOR unset or empty in the environment.
Result<bool> WantsColor(const std::string& choice, std::FILE* out);

bool IsTerminal(std::FILE* out);

// Writes all of it to standard output; false if that fails.
bool WriteOut(std::string_view text);

// "1200 of 30000 pods, 8500 a second", on one line that is overwritten and erased at the end. Prints nothing during the
// first second, and at most ten times a second; nothing at all if the output is not a terminal.
class ProgressLine {
 public:
  // Both must outlive it. Reading the clock costs as much as scheduling a pod, so it is read once every so many calls.
  ProgressLine(std::FILE* out, bool enabled, const base::Clock& clock, std::string noun, size_t calls_per_look = 32);
  ~ProgressLine() { Erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Update(size_t done, size_t total);
  void Erase();

 private:
  std::FILE* const out_;
  const bool enabled_;
  const base::Clock& clock_;
  const std::string noun_;
  const size_t calls_per_look_;
  const base::Time start_;
  base::Time last_;
  size_t calls_ = 0;
  bool shown_ = false;
};

}  // namespace berth::cmd
