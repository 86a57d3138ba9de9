// The text of an expression, positions in it, and its problems.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

// 1-based line, 0-based column in code points. Line -1 stands for the expression as a whole.
struct Location {
  int line = -1;
  int column = -1;
};

class Source {
 public:
  explicit Source(std::string_view text);

  std::u32string_view runes() const { return runes_; }
  // `offset` counts code points from the start.
  Location LocationOf(int offset) const;
  // The line, without its end; false if there is none.
  bool Line(int line, std::string* text) const;

 private:
  std::u32string runes_;
  std::vector<int> line_ends_;  // offsets one past each line break
};

struct Issue {
  Location location;
  std::string message;
};

class Issues {
 public:
  void Add(Location location, std::string message);
  bool empty() const { return count_ == 0; }
  const std::vector<Issue>& items() const { return items_; }
  // Every problem by position: "ERROR: <input>:1:5: …", the line, and a caret below it.
  std::string ToString(const Source& source) const;

 private:
  static constexpr size_t kMaxReported = 100;

  size_t count_ = 0;
  std::vector<Issue> items_;
};

}  // namespace berth::cel
