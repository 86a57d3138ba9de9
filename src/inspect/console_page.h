// The console, served below /debug/berth/: a page, its style and its script. Generated from web/console by the build.
#pragma once

#include <string_view>

namespace berth::inspect {

extern const std::string_view kConsoleHtml;
extern const std::string_view kConsoleCss;
extern const std::string_view kConsoleJs;

}  // namespace berth::inspect
