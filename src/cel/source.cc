#include "cel/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "cel/go_text.h"

namespace berth::cel {

Source::Source(std::string_view text) : runes_(DecodeRunes(text)) {
  for (size_t i = 0; i < runes_.size(); ++i) {
    if (runes_[i] == '\n') line_ends_.push_back(static_cast<int>(i) + 1);
  }
}

Location Source::LocationOf(int offset) const {
  if (offset < 0) return {};
  const auto line = std::upper_bound(line_ends_.begin(), line_ends_.end(), offset);
  const int start = line == line_ends_.begin() ? 0 : *(line - 1);
  return {static_cast<int>(line - line_ends_.begin()) + 1, offset - start};
}

bool Source::Line(int line, std::string* text) const {
  if (line < 1 || line > static_cast<int>(line_ends_.size()) + 1) return false;
  const size_t start = line == 1 ? 0 : static_cast<size_t>(line_ends_[line - 2]);
  const size_t end =
      line <= static_cast<int>(line_ends_.size()) ? static_cast<size_t>(line_ends_[line - 1]) - 1 : runes_.size();
  *text = EncodeRunes(runes().substr(start, end - start));
  return true;
}

void Issues::Add(Location location, std::string message) {
  if (++count_ <= kMaxReported) items_.push_back({location, std::move(message)});
}

namespace {

std::string ShowIssue(const Issue& issue, const Source& source) {
  std::string out =
      fmt::format("ERROR: <input>:{}:{}: {}", issue.location.line, issue.location.column + 1, issue.message);
  constexpr size_t kMaxSnippet = 16384;
  std::string snippet;
  if (!source.Line(issue.location.line, &snippet) || snippet.size() > kMaxSnippet) return out;
  std::replace(snippet.begin(), snippet.end(), '\t', ' ');
  out += "\n | " + snippet + "\n | ";
  // Wide dots and carets below characters of more than one byte.
  std::string_view rest = snippet;
  size_t size = 0;
  for (int i = 0; i < issue.location.column && !rest.empty(); ++i) {
    DecodeRune(rest, &size);
    rest.remove_prefix(size);
    out += size > 1 ? "\uFF0E" : ".";
  }
  size = 0;
  if (!rest.empty()) DecodeRune(rest, &size);
  return out + (size > 1 ? "\uFF3E" : "^");
}

}  // namespace

std::string Issues::ToString(const Source& source) const {
  std::vector<Issue> sorted = items_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Issue& a, const Issue& b) {
    if (a.location.line != b.location.line) return a.location.line < b.location.line;
    return a.location.column < b.location.column;
  });
  std::string out;
  for (const Issue& issue : sorted) {
    if (!out.empty()) out += '\n';
    out += ShowIssue(issue, source);
  }
  if (count_ > kMaxReported) out += fmt::format("\n{} more errors were truncated", count_ - kMaxReported);
  return out;
}

}  // namespace berth::cel
