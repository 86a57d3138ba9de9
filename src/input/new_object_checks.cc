#include "input/new_object_checks.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "api/workload.h"
#include "base/printable.h"
#include "codec/field_mark.h"

namespace berth::input {

namespace {

struct PodSpecPlace {
  std::string path;  // "spec", "spec.template.spec"
  const api::PodSpec* spec = nullptr;
};

template <class T>
const api::PodSpec* TemplateIn(const api::Object& object) {
  const T* workload = object.As<T>();
  return workload ? &workload->spec.pod_template.spec : nullptr;
}

// Null for an object that creates no pods.
PodSpecPlace PodSpecOf(const api::Object& object) {
  if (const auto* pod = object.As<api::Pod>()) return {"spec", &pod->spec};
  PodSpecPlace place{"spec.template.spec"};
  for (const api::PodSpec* spec :
       {TemplateIn<api::Deployment>(object), TemplateIn<api::ReplicaSet>(object), TemplateIn<api::StatefulSet>(object),
        TemplateIn<api::DaemonSet>(object), TemplateIn<api::Job>(object)}) {
    if (spec) place.spec = spec;
  }
  if (const auto* controller = object.As<api::ReplicationController>(); controller && controller->spec.pod_template) {
    place.spec = &controller->spec.pod_template->spec;
  }
  return place;
}

bool MustHaveSelector(const api::Object& object, const codec::Value& text) {
  const codec::Value* version = text.Find("apiVersion");
  // Older versions of the group defaulted it to the template's labels.
  if (!version || version->text() != "apps/v1") return false;
  return object.kind() == api::Kind::kDeployment || object.kind() == api::Kind::kReplicaSet ||
         object.kind() == api::Kind::kStatefulSet || object.kind() == api::Kind::kDaemonSet;
}

bool CountsBytes(std::string_view resource) { return resource == "memory" || resource == "ephemeral-storage"; }

// "; did you mean 512Mi?" for 512m.
std::string MeantBytes(const api::Quantity& amount) {
  const std::string text = amount.ToString();
  return text.ends_with('m') ? fmt::format("; did you mean {}Mi?", text.substr(0, text.size() - 1)) : "";
}

class AmountWarnings {
 public:
  explicit AmountWarnings(const codec::Value& text) : text_(text) {}

  void LookAt(const std::string& path, const api::ResourceList& amounts) {
    for (const auto& [name, amount] : amounts) {
      if (!CountsBytes(name.str()) || amount == api::Quantity::FromInt(amount.Value())) continue;
      warnings_.push_back({fmt::format("{}[{}]", path, name.str()),
                           fmt::format("fractional byte value \"{}\" is invalid, must be an integer{}",
                                       base::Clipped(amount.ToString()), MeantBytes(amount))});
    }
    const codec::Value* written = codec::FindField(text_, path);
    if (!written) return;
    for (const codec::Member& member : written->members()) {
      if (!member.value.is_null()) continue;
      warnings_.push_back(
          {fmt::format("{}[{}]", path, base::Clipped(member.key)), "is empty, so nothing is asked for"});
    }
  }

  void LookAt(const std::string& path, const std::vector<api::Container>& containers) {
    for (size_t i = 0; i < containers.size(); ++i) {
      const std::string at = fmt::format("{}[{}].resources", path, i);
      LookAt(at + ".requests", containers[i].resources.requests);
      LookAt(at + ".limits", containers[i].resources.limits);
    }
  }

  std::vector<FieldProblem> Take() { return std::move(warnings_); }

 private:
  const codec::Value& text_;
  std::vector<FieldProblem> warnings_;
};

}  // namespace

std::vector<FieldProblem> MissingParts(const api::Object& object, const codec::Value& text) {
  FieldChecks checks;
  const PodSpecPlace place = PodSpecOf(object);
  // A pod without containers is reported by the other checks.
  if (object.kind() != api::Kind::kPod && place.spec) {
    checks.Required(place.path + ".containers", !place.spec->containers.empty());
  }
  if (MustHaveSelector(object, text)) {
    const codec::Value* spec = text.Find("spec");
    const codec::Value* selector = spec ? spec->Find("selector") : nullptr;
    checks.Required("spec.selector", selector && !selector->is_null());
  }
  return checks.Take();
}

std::vector<FieldProblem> SeldomMeant(const api::Object& object, const codec::Value& text) {
  const PodSpecPlace place = PodSpecOf(object);
  if (!place.spec) return {};
  AmountWarnings warnings(text);
  warnings.LookAt(place.path + ".initContainers", place.spec->init_containers);
  warnings.LookAt(place.path + ".containers", place.spec->containers);
  warnings.LookAt(place.path + ".overhead", place.spec->overhead);
  if (place.spec->resources) {
    warnings.LookAt(place.path + ".resources.requests", place.spec->resources->requests);
    warnings.LookAt(place.path + ".resources.limits", place.spec->resources->limits);
  }
  return warnings.Take();
}

}  // namespace berth::input
