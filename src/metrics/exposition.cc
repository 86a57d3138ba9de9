#include "metrics/exposition.h"

#include <cmath>

#include "base/go_text.h"

namespace berth::metrics {
namespace {

void AppendEscaped(std::string& out, std::string_view text, bool quote_too) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quote_too) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string_view StabilityName(Stability stability) {
  switch (stability) {
    case Stability::kRaw:
      return "";
    case Stability::kAlpha:
      return "ALPHA";
    case Stability::kBeta:
      return "BETA";
    case Stability::kStable:
      return "STABLE";
  }
  return "";
}

void ExpositionWriter::Header(std::string_view name, std::string_view help, MetricType type, Stability stability) {
  out_ += "# HELP ";
  out_ += name;
  out_ += ' ';
  if (const std::string_view promise = StabilityName(stability); !promise.empty()) {
    out_ += '[';
    out_ += promise;
    out_ += "] ";
  }
  AppendEscaped(out_, help, /*quote_too=*/false);
  out_ += "\n# TYPE ";
  out_ += name;
  out_ += type == MetricType::kCounter ? " counter\n" : type == MetricType::kGauge ? " gauge\n" : " histogram\n";
}

void ExpositionWriter::Name(std::string_view name, std::string_view suffix, std::span<const Label> labels,
                            std::string_view le) {
  out_ += name;
  out_ += suffix;
  char separator = '{';
  const auto append = [&](std::string_view key, std::string_view value) {
    out_ += separator;
    separator = ',';
    out_ += key;
    out_ += "=\"";
    AppendEscaped(out_, value, /*quote_too=*/true);
    out_ += '"';
  };
  for (const Label& label : labels) append(label.name, label.value);
  if (!le.empty()) append("le", le);
  if (separator == ',') out_ += '}';
  out_ += ' ';
}

void ExpositionWriter::Sample(std::string_view name, std::span<const Label> labels, double value) {
  Name(name, "", labels);
  base::AppendFloatG(out_, value);
  out_ += '\n';
}

void ExpositionWriter::Sample(std::string_view name, std::span<const Label> labels, const Histogram& histogram) {
  const Histogram::Snapshot snapshot = histogram.Read();
  std::string le;
  for (size_t i = 0; i < snapshot.cumulative.size(); ++i) {
    le.clear();
    base::AppendFloatG(le, i < histogram.bounds().size() ? histogram.bounds()[i] : INFINITY);
    Name(name, "_bucket", labels, le);
    out_ += std::to_string(snapshot.cumulative[i]);
    out_ += '\n';
  }
  Name(name, "_sum", labels);
  base::AppendFloatG(out_, snapshot.sum);
  out_ += '\n';
  Name(name, "_count", labels);
  out_ += std::to_string(snapshot.count());
  out_ += '\n';
}

}  // namespace berth::metrics
