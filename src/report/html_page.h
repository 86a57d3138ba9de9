// The page of `berth simulate -o html` without its report; generated from web/simulate-report by the build.
#pragma once

#include <string_view>

namespace berth::report {

// Contains the markers @STYLE@, @REPORT@, @CONTEXT@ and @SCRIPT@, once each.
extern const std::string_view kPageHtml;
extern const std::string_view kPageCss;
extern const std::string_view kPageJs;

}  // namespace berth::report
