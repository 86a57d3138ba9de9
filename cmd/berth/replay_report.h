// The result of a replay: a few lines, JSON, or an equivalence report in Markdown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/format.h"
#include "replay/replayer.h"

namespace berth::cmd {

struct ReplayedRecording {
  record::Header header;
  size_t files = 0;
  bool torn = false;  // the last file ends in the middle of a block: its program was killed, or still runs
  bool open = false;  // wherever it ends, its program did not close it
  replay::Counts counts;
  std::optional<replay::Difference> difference;
};

enum class ReplayVerdict { kSame, kDiffers, kNothingCompared };
ReplayVerdict VerdictOf(const std::vector<ReplayedRecording>& replayed);

std::string ToText(const std::vector<ReplayedRecording>& replayed, std::string_view version);
// apiVersion berth.dev/v1, kind ReplayReport.
std::string ToJson(const std::vector<ReplayedRecording>& replayed, std::string_view version);
std::string ToMarkdown(const std::vector<ReplayedRecording>& replayed, std::string_view version);

}  // namespace berth::cmd
