#include "framework/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "framework/amount_text.h"

namespace berth::framework {
namespace {

// "; 2.7 held by 6 pods, largest shop/web-3 with 1".
std::string HoldersText(const Symbol& resource, int64_t used, const NodeInfo& node) {
  const PodInfo* largest = nullptr;
  size_t holders = 0;
  for (const PodInfoPtr& pod : node.pods()) {
    const int64_t amount = pod->requests().Get(resource);
    if (amount <= 0) continue;
    ++holders;
    const int64_t most = largest ? largest->requests().Get(resource) : 0;
    if (!largest || amount > most || (amount == most && pod->Key() < largest->Key())) largest = pod.get();
  }
  const std::string_view name = resource.str();
  if (!largest) return {};
  if (holders == 1) return fmt::format("; {} held by {}", AmountText(name, used), largest->Key());
  return fmt::format("; {} held by {} pods, largest {} with {}", AmountText(name, used), holders, largest->Key(),
                     AmountText(name, largest->requests().Get(resource)));
}

std::string ShortfallText(const Shortfall& shortfall, const Finding& finding, const NodeInfo& node) {
  if (shortfall.resource == PodsName()) {
    return fmt::format("has {} of {} pods already", shortfall.used, shortfall.capacity);
  }
  const std::string capacity = AmountText(shortfall.resource.str(), shortfall.capacity);
  if (shortfall.capacity == 0) return fmt::format("needs {} {}, has none", finding.asked, finding.subject);
  if (shortfall.requested > shortfall.capacity && shortfall.used == 0) {
    return fmt::format("needs {} {}, has {}", finding.asked, finding.subject, capacity);
  }
  return fmt::format("needs {} {}, {} free of {}{}", finding.asked, finding.subject, finding.there, capacity,
                     HoldersText(shortfall.resource, shortfall.used, node));
}

}  // namespace

std::string ListText(const std::vector<std::string>& names, size_t limit) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), limit));
  const std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  return names.size() > limit ? text + fmt::format(" and {} more", names.size() - limit) : text;
}

std::string Finding::Text() const {
  if (!text.empty()) return text;
  const std::string wish = asked.empty() || subject.empty() ? subject + asked : subject + " " + asked;
  return fmt::format("asks for {}, has {}", wish, there.empty() ? "none" : there);
}

std::vector<Finding> ShortfallFindings(const Status& status, const NodeInfo& node) {
  std::vector<Finding> findings;
  for (const Shortfall& shortfall : status.shortfalls()) {
    const std::string_view name = shortfall.resource.str();
    const int64_t free = std::max<int64_t>(WrappingSubtract(shortfall.capacity, shortfall.used), 0);
    Finding finding{std::string(name), AmountText(name, shortfall.requested), AmountText(name, free), {}};
    finding.text = ShortfallText(shortfall, finding, node);
    if (shortfall.requested > 0) {
      finding.shortage = static_cast<double>(shortfall.requested - free) / static_cast<double>(shortfall.requested);
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

double Remedy::cost() const {
  double sum = 0;
  for (const RemedyStep& step : steps_) sum += step.cost;
  return sum;
}

void Remedy::ChangePod(RemedyStep step, const std::function<void(api::Pod&)>& edit) {
  auto changed = std::make_shared<api::Pod>(*pod_);
  edit(*changed);
  pod_ = std::move(changed);
  changes_pod_ = true;
  steps_.push_back(std::move(step));
}

void Remedy::ChangeNode(RemedyStep step, const std::function<void(api::Node&)>& edit) {
  auto changed = std::make_shared<api::Node>(*node_);
  edit(*changed);
  node_ = std::move(changed);
  changes_node_ = true;
  steps_.push_back(std::move(step));
}

void Remedy::ChangeObjects(RemedyStep step, std::function<void(Objects&)> edit) {
  object_edits_.push_back(std::move(edit));
  steps_.push_back(std::move(step));
}

void Remedy::ApplyTo(Objects& objects) const {
  for (const auto& edit : object_edits_) edit(objects);
}

}  // namespace berth::framework
