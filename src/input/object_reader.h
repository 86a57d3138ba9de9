// ObjectReader: decodes the input files into objects, strictly, on several threads. Every problem is reported with its
// file, line and field. The parsed trees are dropped at once; to find the position of a field that is reported later,
// that part of the text is parsed again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/cluster_draft.h"
#include "input/input_files.h"
#include "input/text_parts.h"

namespace berth::input {

// How many bytes of the files have been read, and their total. Called from any thread, one call at a time.
using ReadProgress = std::function<void(size_t bytes, size_t total)>;

// What happens to unknown fields. Those below the status of an object are always ignored: newer servers write more
// there.
enum class Validation {
  kByOrigin,  // kStrict for hand-written objects, kWarn for those printed by a server
  kStrict,    // they are problems
  kWarn,
  kIgnore,
};

struct ReaderOptions {
  Validation validation = Validation::kByOrigin;
  Symbol default_namespace = Symbol("default");
  size_t part_size = kPartSize;
  bool keep_custom = false;  // see TakeCustom
};

class ObjectReader {
 public:
  explicit ObjectReader(std::vector<InputFile> files, ReaderOptions options = {});
  ~ObjectReader();

  // Objects, problems and warnings go into the draft; the result is the same for any number of threads. False when
  // something could not be read as an object: references to it cannot be checked then.
  bool ReadInto(ClusterDraft& draft, size_t threads, const ReadProgress& progress = {});

  // "FILE:LINE:COL" of that field, or of its nearest ancestor that exists.
  std::string Where(const ObjectOrigin& origin, std::string_view path) const;

  // Objects of kinds that scheduling does not read.
  size_t passed_over() const { return passed_over_; }
  // With keep_custom: the custom resources among those, as CustomObjects. Later inputs take precedence.
  std::vector<api::Object> TakeCustom() { return std::move(custom_); }

 private:
  struct Part {
    size_t file;
    TextPart text;
  };
  struct Decoded;
  struct Reparsed;

  Decoded Decode(uint32_t number) const;
  // Warns of fields that are unknown or rarely intended, grouped by equal fields of one kind.
  void WarnOfFields(const std::vector<Decoded>& decoded, ClusterDraft& draft) const;
  // Files without any content are problems: whatever was to write them failed.
  bool CheckContents(const std::vector<Decoded>& decoded, ClusterDraft& draft) const;
  // Decodes a list as a whole when one of its parts cannot be parsed on its own.
  void RejoinLists(std::vector<Decoded>& decoded);
  void JudgeUnknown(const std::vector<Decoded>& decoded, ClusterDraft& draft);

  std::vector<InputFile> files_;
  const ReaderOptions options_;
  std::vector<Part> parts_;
  mutable std::unique_ptr<Reparsed> reparsed_;  // the part that was parsed again last
  size_t passed_over_ = 0;
  std::vector<api::Object> custom_;
  bool all_known_ = true;
};

}  // namespace berth::input
