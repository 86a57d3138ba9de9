#include "engine/long_way.h"

namespace berth::engine {

std::string_view NameOf(LongWay way) {
  switch (way) {
    case LongWay::kNone:
      return "kept";
    case LongWay::kUnsigned:
      return "a plugin does not sign the pod";
    case LongWay::kUndeclared:
      return "a plugin declares nothing";
    case LongWay::kNarrowed:
      return "PreFilter narrows";
    case LongWay::kRejected:
      return "PreFilter rejects";
    case LongWay::kUnfollowed:
      return "devices or volumes not followed";
    case LongWay::kUnspoken:
      return "not answered for all nodes at once";
    case LongWay::kTrouble:
      return "a plugin broke";
    case LongWay::kWideWeights:
      return "weights too large";
    case LongWay::kAsked:
      return "extenders or explanations";
  }
  return "";
}

}  // namespace berth::engine
