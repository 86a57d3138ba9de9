// The page of `berth shadow --report out.html` before a report is inserted; generated from web/shadow-report by the
// build. It has no script.
#pragma once

#include <string_view>

namespace berth::shadow {

// Contains the markers @STYLE@ and @BODY@, once each.
extern const std::string_view kShadowPageHtml;
extern const std::string_view kShadowPageCss;
extern const std::string_view kShadowPageJs;  // empty

}  // namespace berth::shadow
