// The report as one page: the source of the page with the report as JSON inside.
#include "report/html_page.h"
#include "report/report.h"

namespace berth::report {

namespace {

constexpr size_t kMaxPods = 2000;
// Rows of the tables behind the pods, of about a hundred bytes each.
constexpr size_t kMaxRows = 60'000;

// JSON that stands in a script element: whatever could end the element, or open a comment in it, is spelled otherwise,
// which is the same to a reader of JSON.
std::string EscapeForScript(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        escaped += "\\u003c";
        break;
      case '>':
        escaped += "\\u003e";
        break;
      case '&':
        escaped += "\\u0026";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace

bool FitsOnPage(size_t pods, size_t nodes) { return pods <= kMaxPods && pods * nodes <= kMaxRows; }

std::string ToHtml(const sim::SimulationReport& report, const PageContext& page_context) {
  const std::string data = EscapeForScript(ToPageData(report));
  const std::string context = EscapeForScript(ToPageContext(report, page_context));
  std::string page;
  page.reserve(kPageHtml.size() + kPageCss.size() + kPageJs.size() + data.size() + context.size());
  // From mark to mark, so that nothing that is put in is ever searched for marks.
  std::string_view rest = kPageHtml;
  const auto put = [&](std::string_view mark, std::string_view text) {
    const size_t at = rest.find(mark);
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + mark.size());
  };
  put("@STYLE@", kPageCss);
  put("@REPORT@", data);
  put("@CONTEXT@", context);
  put("@SCRIPT@", kPageJs);
  return page + std::string(rest);
}

}  // namespace berth::report
