// Which files are read: those named, those in directories, standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace berth::input {

struct InputFile {
  std::string name;    // for messages
  std::string text;    // unpacked
  uint32_t input = 1;  // index of the path it comes from, counted from 1
};

// A dump of a very large cluster is smaller; anything larger is a mistake or an attack.
inline constexpr size_t kMaxInputBytes = size_t{2} << 30;

struct InputFiles {
  std::vector<InputFile> files;
  std::vector<std::string> problems;  // what could not be read, and why
  std::vector<std::string> warnings;
};

// A directory stands for the *.yaml, *.yml and *.json below it, plain or .gz, in the order of their paths. Links to
// directories are not followed. "-" is standard input. A chart or a kustomization is not rendered: it is a problem that
// says how to render it. A device or pipe in a directory, which might never end, and a directory with nothing to read
// are problems too. Reading stops with a problem when all files together, unpacked, are larger than `max_bytes`.
InputFiles ReadInputFiles(const std::vector<std::string>& paths, size_t max_bytes = kMaxInputBytes);

}  // namespace berth::input
