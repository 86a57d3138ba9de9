#include "input/cluster_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "input/overlay.h"

namespace berth::input {

namespace {

// Replaced objects are noted one by one up to this many.
constexpr size_t kReplacementsNoted = 10;
// No useful message is longer.
constexpr size_t kMaxLine = 2'000;

std::string NameOf(api::Kind kind, std::string_view key) { return fmt::format("{} {}", api::InfoOf(kind).name, key); }

std::string Line(std::string_view text) { return base::Printable(base::Clipped(text, kMaxLine)); }

}  // namespace

std::string DraftObject::Who() const { return NameOf(object.kind(), api::KeyOf(object.metadata())); }

void ClusterDraft::Add(DraftObject object) {
  const auto [it, is_new] = by_name_.emplace(object.Who(), objects_.size());
  if (is_new) return objects_.push_back(std::move(object));
  DraftObject& first = objects_[it->second];
  if (strict_ || object.origin.input <= first.origin.input) {
    return Problem(object, "metadata.name", "is already given at " + WhereText(first));
  }
  if (++replacements_ <= kReplacementsNoted) {
    Note(
        fmt::format("{}: {} replaces the one at {}", WhereText(object), base::Clipped(object.Who()), WhereText(first)));
  }
  replaced_.emplace(object.Who(), first);
  first = LaidOver(first, std::move(object));
}

const DraftObject* ClusterDraft::Replaced(const DraftObject& object) const {
  const auto it = replaced_.find(object.Who());
  return it == replaced_.end() ? nullptr : &it->second;
}

std::vector<std::string> ClusterDraft::TakeNotes() {
  if (replacements_ > kReplacementsNoted) {
    Note(fmt::format("{} more objects replace earlier ones", replacements_ - kReplacementsNoted));
  }
  return std::move(notes_);
}

void ClusterDraft::Problem(std::string_view text, std::string_view picture) {
  problems_.push_back(Line(text));
  if (!picture.empty()) problems_.back().append("\n").append(picture);
}
void ClusterDraft::Warn(std::string_view text) { warnings_.push_back(Line(text)); }
void ClusterDraft::Note(std::string_view text) { notes_.push_back(Line(text)); }

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
  Problem(fmt::format("{}: {}: {}", WhereText(object, path), base::Clipped(object.Who()), text));
}

void ClusterDraft::Warn(const DraftObject& object, std::string_view path, std::string_view text) {
  Warn(fmt::format("{}: {}: {}", WhereText(object, path), base::Clipped(object.Who()), text));
}

}  // namespace berth::input
