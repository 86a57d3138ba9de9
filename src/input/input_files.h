// Which files are read: those named, those in directories, standard input.
#pragma once

#include <string>
#include <vector>

namespace berth::input {

struct InputFile {
  std::string name;  // for messages
  std::string text;  // unpacked
};

struct InputFiles {
  std::vector<InputFile> files;
  std::vector<std::string> problems;  // what could not be read, and why
  std::vector<std::string> warnings;
};

// A directory means the *.yaml, *.yml and *.json below it, plain or .gz, in the order of their paths. Links to
// directories are not followed. "-" is standard input. A chart or a kustomization is not rendered: it is a problem that
// says how to.
InputFiles ReadInputFiles(const std::vector<std::string>& paths);

}  // namespace berth::input
