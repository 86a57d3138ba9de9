#include "storm/trace.h"

#include <algorithm>

namespace berth::storm {
namespace {

// Lines about the storm itself, whatever pod is searched for: crashes, partitions, leadership.
constexpr std::string_view kWorld = " world ";

bool Matters(const std::string& line, const std::vector<std::string>& subjects) {
  if (line.find(kWorld) != std::string::npos) return true;
  return std::any_of(subjects.begin(), subjects.end(),
                     [&](const std::string& subject) { return line.find(subject) != std::string::npos; });
}

}  // namespace

void Trace::AddLine(std::string_view who, const std::string& text) {
  std::string line = fmt::format("{:14.6f} {} {}", static_cast<double>(timeline_.Now().count()) / 1e9, who, text);
  // FNV-1a.
  for (const char c : line) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  if (on_line_) on_line_(line);
  if (keep_ == Keep::kLines) lines_.push_back(std::move(line));
}

std::vector<std::string> Trace::LastThatMatter(const std::vector<std::string>& subjects, size_t count) const {
  std::vector<std::string> found;
  for (auto line = lines_.rbegin(); line != lines_.rend() && found.size() < count; ++line) {
    if (Matters(*line, subjects)) found.push_back(*line);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace berth::storm
