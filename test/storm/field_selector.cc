#include "storm/field_selector.h"

#include <algorithm>
#include <optional>

#include "api/pod.h"

namespace berth::storm {
namespace {

std::optional<std::string_view> FieldOf(const api::Object& object, std::string_view field) {
  if (field == "metadata.name") return object.metadata().name;
  if (field == "metadata.namespace") return object.metadata().namespace_.str();
  const api::Pod* pod = object.As<api::Pod>();
  if (pod == nullptr) return std::nullopt;
  if (field == "spec.nodeName") return pod->spec.node_name;
  if (field == "spec.schedulerName") return pod->spec.scheduler_name;
  if (field == "status.phase") return pod->status.phase;
  if (field == "status.nominatedNodeName") return pod->status.nominated_node_name;
  return std::nullopt;
}

}  // namespace

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  FieldSelector selector;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view term = text.substr(0, end);
    const size_t equals = term.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error::InvalidArgument("expected FIELD=VALUE or FIELD!=VALUE, found " + std::string(term));
    }
    const bool equal = term[equals - 1] != '!';
    const size_t value = equals + (term.substr(equals).starts_with("==") ? 2 : 1);
    selector.terms_.push_back(
        {std::string(term.substr(0, equal ? equals : equals - 1)), std::string(term.substr(value)), equal});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return selector;
}

bool FieldSelector::Matches(const api::Object& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    const std::optional<std::string_view> value = FieldOf(object, term.field);
    return value && (*value == term.value) == term.equal;
  });
}

}  // namespace berth::storm
