// How objects of kinds that berth does not read are reported: not at all, as a warning, or as a likely mistake.
#pragma once

#include <string>
#include <string_view>

namespace berth::input {

struct UnreadKind {
  enum class Judgement { kHarmless, kWarn, kMistake };
  Judgement judgement = Judgement::kHarmless;
  std::string text;  // continues "apps/v1 Pod "; empty when harmless
};

// Whether the group is one of Kubernetes' own: others hold custom resources.
bool IsBuiltInGroup(std::string_view api_version);

UnreadKind JudgeUnread(std::string_view api_version, std::string_view kind);

}  // namespace berth::input
