#include "input/cluster_draft.h"

#include <fmt/format.h>

#include <utility>

namespace berth::input {

namespace {

std::string NameOf(api::Kind kind, std::string_view key) { return fmt::format("{} {}", api::InfoOf(kind).name, key); }

}  // namespace

std::string DraftObject::Who() const { return NameOf(object.kind(), api::KeyOf(object.metadata())); }

void ClusterDraft::Add(DraftObject object) {
  const auto [it, is_new] = by_name_.emplace(object.Who(), objects_.size());
  if (is_new) return objects_.push_back(std::move(object));
  Problem(object, "metadata.name", "is already given at " + WhereText(objects_[it->second]));
}

void ClusterDraft::RemoveIf(const std::function<bool(const DraftObject&)>& unwanted) {
  if (std::erase_if(objects_, unwanted) == 0) return;
  by_name_.clear();
  for (size_t i = 0; i < objects_.size(); ++i) by_name_.emplace(objects_[i].Who(), i);
}

const DraftObject* ClusterDraft::Find(api::Kind kind, std::string_view key) const {
  const auto it = by_name_.find(NameOf(kind, key));
  return it == by_name_.end() ? nullptr : &objects_[it->second];
}

std::string ClusterDraft::WhereText(const DraftObject& object, std::string_view path) const {
  return where_(object.origin, path);
}

void ClusterDraft::Problem(const DraftObject& object, std::string_view path, std::string_view text) {
  Problem(fmt::format("{}: {}: {}", WhereText(object, path), object.Who(), text));
}

void ClusterDraft::Warn(const DraftObject& object, std::string_view path, std::string_view text) {
  Warn(fmt::format("{}: {}: {}", WhereText(object, path), object.Who(), text));
}

}  // namespace berth::input
