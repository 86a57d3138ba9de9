// The report as a single page: the page's source with the report embedded as JSON.
#include <set>

#include "report/html_page.h"
#include "report/report.h"

namespace berth::report {

namespace {

constexpr size_t kMaxPods = 2000;
// Rows of the per-pod tables, of about a hundred bytes each.
constexpr size_t kMaxRows = 60'000;

// Pairs of pod and node that are worth explaining before it is known which pods stay pending.
constexpr size_t kMaxPairs = 500'000;

// All explanations when they fit; otherwise the first of each message, as long as there is room.
std::vector<explain::Explanation> ExplanationsForPage(const std::vector<explain::Explanation>& all) {
  size_t rows = 0;
  for (const explain::Explanation& told : all) rows += told.nodes.size();
  if (rows <= kMaxRows) return all;
  std::vector<explain::Explanation> kept;
  std::set<std::string_view> messages;
  rows = 0;
  for (const explain::Explanation& told : all) {
    if (!messages.insert(told.message).second || rows + told.nodes.size() > kMaxRows) continue;
    rows += told.nodes.size();
    kept.push_back(told);
  }
  return kept;
}

// JSON inside a script element: characters that could end the element, or open a comment in it, are escaped, which
// means the same to a JSON parser.
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

bool MayExplainPending(size_t pods, size_t nodes) { return nodes == 0 || pods <= kMaxPairs / nodes; }

std::string ToHtml(const sim::SimulationReport& report, const PageContext& page_context) {
  sim::SimulationReport shown = report;
  shown.explanations = ExplanationsForPage(report.explanations);
  const std::string data = EscapeForScript(ToPageData(shown));
  const std::string context = EscapeForScript(ToPageContext(report, page_context));
  std::string page;
  page.reserve(kPageHtml.size() + kPageCss.size() + kPageJs.size() + data.size() + context.size());
  // From marker to marker, so that inserted text is never searched for markers.
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
