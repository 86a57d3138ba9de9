#include "input/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "codec/gzip.h"

namespace berth::input {

namespace {

namespace fs = std::filesystem;

bool IsObjectFile(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

// Says how to render objects from it; empty for a file that should contain objects.
std::string HowToRender(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : std::string(1, '.');
  if (name == "Chart.yaml") {
    return fmt::format("is a Helm chart, not objects: give what `helm template {}` prints", folder);
  }
  if (name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization") {
    return fmt::format("is a kustomization, not objects: give what `kubectl kustomize {}` prints", folder);
  }
  return {};
}

class Collector {
 public:
  explicit Collector(size_t max_bytes) : bytes_left_(max_bytes), max_bytes_(max_bytes) {}

  void TakeInput(const std::string& path) {
    ++input_;
    Take(path);
  }

  void Take(const std::string& path) {
    std::error_code ignored;
    if (path != "-" && fs::is_directory(path, ignored)) return TakeFolder(path);
    if (!seen_.insert(path).second) {
      if (path == "-") result_.problems.emplace_back("standard input: can be read only once, and -f - is there twice");
      if (path != "-") result_.problems.push_back(path + ": is given twice");
      return;
    }
    if (const std::string how = HowToRender(path); !how.empty()) return Problem(path, how);
    Result<std::string> text = Read(path);
    if (!text) return result_.problems.push_back(text.error().message);
    bytes_left_ -= text->size();
    result_.files.push_back({path == "-" ? "standard input" : path, std::move(*text), input_});
  }

  InputFiles Finish() { return std::move(result_); }

 private:
  Result<std::string> Read(const std::string& path) const {
    const std::string name = path == "-" ? "standard input" : path;
    try {
      Result<std::string> text = codec::ReadFile(path, bytes_left_);
      const bool too_large = !text && text.error().message.ends_with(fmt::format("limit of {} bytes", bytes_left_));
      if (!too_large) return text;
      return Error::InvalidArgument(
          fmt::format("{}: the input, unpacked, is larger than {} bytes; --max-input allows more", name, max_bytes_));
    } catch (const std::bad_alloc&) {
      return Error::Unavailable(
          fmt::format("{}: there is not enough memory to read it; --max-input sets a limit", name));
    }
  }

  void Problem(const std::string& path, std::string_view what) {
    result_.problems.push_back(fmt::format("{}: {}", path, what));
  }

  void TakeFolder(const std::string& folder) {
    const size_t before = result_.files.size() + result_.problems.size();
    Walk(folder);
    if (result_.files.size() + result_.problems.size() > before) return;
    result_.problems.push_back(folder + ": holds no file that ends in .yaml, .yml or .json");
  }

  void Walk(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> entries;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      entries.push_back(it->path());
    }
    if (error) return Problem(folder.string(), error.message());
    std::sort(entries.begin(), entries.end());
    // The files beside a Chart.yaml are its templates and values.
    const auto chart = std::find_if(entries.begin(), entries.end(),
                                    [](const fs::path& path) { return path.filename() == "Chart.yaml"; });
    if (chart != entries.end()) return Problem(chart->string(), HowToRender(*chart));
    for (const fs::path& path : entries) {
      const fs::file_status status = fs::symlink_status(path, error);
      if (fs::is_directory(status)) {
        Walk(path);
      } else if (IsObjectFile(path.filename().string()) && !fs::is_directory(path, error)) {
        // Links are followed here: a pipe or a device may never end.
        const bool special = fs::exists(path, error) && !fs::is_regular_file(path, error);
        special ? Problem(path.string(), "is no regular file, and is not read from a directory") : Take(path.string());
      }
    }
  }

  InputFiles result_;
  std::set<std::string> seen_;
  uint32_t input_ = 0;
  size_t bytes_left_;
  const size_t max_bytes_;
};

}  // namespace

InputFiles ReadInputFiles(const std::vector<std::string>& paths, size_t max_bytes) {
  Collector collector(max_bytes);
  for (const std::string& path : paths) collector.TakeInput(path);
  return collector.Finish();
}

}  // namespace berth::input
