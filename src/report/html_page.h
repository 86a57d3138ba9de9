// The page of `berth simulate -o html` before a report is put into it; written out of web/simulate-report by the build.
#pragma once

#include <string_view>

namespace berth::report {

// With the marks @STYLE@, @REPORT@, @CONTEXT@ and @SCRIPT@, once each.
extern const std::string_view kPageHtml;
extern const std::string_view kPageCss;
extern const std::string_view kPageJs;

}  // namespace berth::report
