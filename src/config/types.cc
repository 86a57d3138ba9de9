#include "config/types.h"

namespace berth::config {

std::string_view NameOf(ExtensionPoint point) {
  switch (point) {
    case ExtensionPoint::kPreEnqueue:
      return "preEnqueue";
    case ExtensionPoint::kQueueSort:
      return "queueSort";
    case ExtensionPoint::kPreFilter:
      return "preFilter";
    case ExtensionPoint::kFilter:
      return "filter";
    case ExtensionPoint::kPostFilter:
      return "postFilter";
    case ExtensionPoint::kPreScore:
      return "preScore";
    case ExtensionPoint::kScore:
      return "score";
    case ExtensionPoint::kReserve:
      return "reserve";
    case ExtensionPoint::kPermit:
      return "permit";
    case ExtensionPoint::kPreBind:
      return "preBind";
    case ExtensionPoint::kBind:
      return "bind";
    case ExtensionPoint::kPostBind:
      return "postBind";
  }
  return "";
}

}  // namespace berth::config
