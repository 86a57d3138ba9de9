// The page of `berth shadow --report out.html` before a report is put into it; written out of web/shadow-report by the
// build. It has no script.
#pragma once

#include <string_view>

namespace berth::shadow {

// With the marks @STYLE@ and @BODY@, once each.
extern const std::string_view kShadowPageHtml;
extern const std::string_view kShadowPageCss;
extern const std::string_view kShadowPageJs;  // empty

}  // namespace berth::shadow
