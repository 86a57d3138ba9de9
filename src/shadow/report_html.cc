// The report as one page without a script. Everything that comes from the cluster is escaped with XmlText.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/time.h"
#include "report/gate_text.h"
#include "shadow/report.h"
#include "shadow/shadow_page.h"

namespace berth::shadow {

using report::XmlText;

namespace {

std::string Counts(const Tally& tally) {
  std::string items;
  for (const Verdict verdict : kVerdicts) {
    const size_t count = tally.Of(verdict);
    const double share =
        tally.compared == 0 ? 0 : 100.0 * static_cast<double>(count) / static_cast<double>(tally.compared);
    items += fmt::format("<li class=\"{}{}\"><strong>{}</strong>{} <small>{:.1f}%</small></li>\n", NameOf(verdict),
                         count == 0 ? " none" : "", count, NameOf(verdict), share);
  }
  return fmt::format("<ul class=\"counts\">\n{}</ul>\n", items);
}

std::string Items(const std::vector<std::string>& texts) {
  std::string items;
  for (const std::string& text : texts) items += fmt::format("<li>{}</li>", XmlText(text));
  return items.empty() ? "" : fmt::format("<ul>{}</ul>", items);
}

std::vector<std::string> Details(const Comparison& comparison) {
  if (comparison.verdict == Verdict::kRaced) return comparison.events;
  std::vector<std::string> details;
  for (const PluginGap& gap : comparison.plugins) {
    details.push_back(fmt::format("{}: {} instead of {}", gap.plugin, gap.chosen, gap.best));
  }
  if (!comparison.reason.empty()) {
    details.push_back(fmt::format("{}: {}", comparison.plugin, comparison.reason));
    if (!comparison.detail.empty()) details.push_back(comparison.detail);
  }
  if (comparison.is_sampling_likely) details.push_back("likely sampled: the scheduler looks at a part of the nodes");
  return details;
}

std::string Row(const Comparison& comparison) {
  const size_t more = comparison.best_count - comparison.best.size();
  const std::string best =
      fmt::format("{}{}", fmt::join(comparison.best, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
  const std::string scores = comparison.score && comparison.best_score
                                 ? fmt::format("{} / {}", *comparison.score, *comparison.best_score)
                                 : "";
  return fmt::format(
      "<tr><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"number\">{}</td><td>{}</td></tr>\n",
      api::FormatTime(comparison.time), XmlText(comparison.pod),
      comparison.bound() ? XmlText(comparison.node) : "given up", XmlText(best), scores, Items(Details(comparison)));
}

std::string Section(const ShadowReport& report, Verdict verdict) {
  std::string rows;
  for (const Comparison& comparison : report.differences) {
    if (comparison.verdict == verdict) rows += Row(comparison);
  }
  if (rows.empty()) return {};
  return fmt::format(
      "<section><h2>{0} <small>({1})</small></h2>\n<table><caption class=\"unseen\">{0}</caption>\n<thead><tr><th "
      "scope=\"col\">Time</th><th scope=\"col\">Pod</th><th scope=\"col\">Its scheduler</th><th scope=\"col\">berth's "
      "best</th><th scope=\"col\">Score</th><th "
      "scope=\"col\">Why</th></tr></thead>\n<tbody>\n{2}</tbody></table></section>\n",
      NameOf(verdict), report.tally.Of(verdict), rows);
}

}  // namespace

std::string ToHtml(const ShadowReport& report) {
  std::string body =
      fmt::format("<header><h1>berth shadow</h1>\n<p>{}, {} nodes, from {} to {}</p>\n", XmlText(report.server),
                  report.nodes, api::FormatTime(report.begun), api::FormatTime(report.ended));
  body += Counts(report.tally) + "</header>\n<main>\n";
  body += fmt::format(
      "<section><h2>Summary</h2><p>{} compared: {} bound, {} given up, {} of them with the same message.</p>",
      report.tally.compared, report.tally.bound, report.tally.given_up, report.tally.same_messages);
  std::vector<std::string> notes = report.notes;
  if (report.tally.lower_by_sampling > 0) {
    notes.push_back(fmt::format("Sampling is the likely cause of {} of the {} lower ones.",
                                report.tally.lower_by_sampling, report.tally.Of(Verdict::kLower)));
  }
  if (report.differences_left_out > 0) {
    notes.push_back(fmt::format("{} differences are not listed.", report.differences_left_out));
  }
  body += Items(notes) + "</section>\n";
  for (const Verdict verdict : {Verdict::kInfeasible, Verdict::kPlaceable, Verdict::kLower, Verdict::kRaced}) {
    body += Section(report, verdict);
  }
  body += fmt::format("</main>\n<footer>berth {}</footer>", XmlText(report.version));

  std::string page;
  std::string_view rest = kShadowPageHtml;
  for (const auto& [mark, text] : {std::pair<std::string_view, std::string_view>("@STYLE@", kShadowPageCss),
                                   std::pair<std::string_view, std::string_view>("@BODY@", body)}) {
    const size_t at = rest.find(mark);
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + mark.size());
  }
  return page + std::string(rest);
}

}  // namespace berth::shadow
