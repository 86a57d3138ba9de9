#include "terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace berth::cmd {

namespace {

constexpr base::Duration kPatience = std::chrono::seconds(1);
constexpr base::Duration kPause = std::chrono::milliseconds(100);

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool IsTerminal(std::FILE* out) { return isatty(fileno(out)) != 0; }

bool WriteOut(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

Result<bool> WantsColor(const std::string& choice, std::FILE* out) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  if (choice != "auto") {
    return Error::InvalidArgument(fmt::format("--color: expected auto, always or never, found \"{}\"", choice));
  }
  return IsTerminal(out) && Environment("NO_COLOR").empty() && Environment("TERM") != "dumb";
}

ProgressLine::ProgressLine(std::FILE* out, bool enabled, const base::Clock& clock, std::string noun,
                           size_t calls_per_look)
    : out_(out),
      enabled_(enabled),
      clock_(clock),
      noun_(std::move(noun)),
      calls_per_look_(calls_per_look),
      start_(clock.Now()),
      last_(start_) {}

void ProgressLine::Update(size_t done, size_t total) {
  if (!enabled_ || calls_++ % calls_per_look_ != 0) return;
  const base::Time now = clock_.Now();
  if (now - start_ < kPatience || (shown_ && now - last_ < kPause)) return;
  last_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(out_, "\r\x1b[K{} of {} {}, {:.0f} a second", done, total, noun_, static_cast<double>(done) / seconds);
  std::fflush(out_);
}

void ProgressLine::Erase() {
  if (!shown_) return;
  shown_ = false;
  fmt::print(out_, "\r\x1b[K");
  std::fflush(out_);
}

}  // namespace berth::cmd
