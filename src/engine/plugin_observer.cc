#include "engine/plugin_observer.h"

namespace berth::engine {

std::string_view NameOf(Step step) {
  switch (step) {
    case Step::kPreEnqueue:
      return "PreEnqueue";
    case Step::kSign:
      return "Sign";
    case Step::kPreFilter:
      return "PreFilter";
    case Step::kAddPod:
      return "PreFilterExtensionAddPod";
    case Step::kRemovePod:
      return "PreFilterExtensionRemovePod";
    case Step::kFilter:
      return "Filter";
    case Step::kPostFilter:
      return "PostFilter";
    case Step::kPreScore:
      return "PreScore";
    case Step::kScore:
      return "Score";
    case Step::kNormalizeScore:
      return "ScoreExtensionNormalize";
    case Step::kReserve:
      return "Reserve";
    case Step::kUnreserve:
      return "Unreserve";
    case Step::kPermit:
      return "Permit";
    case Step::kPreBindPreFlight:
      return "PreBindPreFlight";
    case Step::kPreBind:
      return "PreBind";
    case Step::kBind:
      return "Bind";
    case Step::kPostBind:
      return "PostBind";
  }
  return "";
}

}  // namespace berth::engine
