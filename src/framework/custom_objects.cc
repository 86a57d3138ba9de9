#include "framework/custom_objects.h"

#include <fmt/format.h>

#include <deque>
#include <mutex>

namespace berth::framework {

namespace {

// The numbers assigned. Names stay in place until the process ends: metric labels refer to them.
struct Numbers {
  std::mutex mutex;
  std::deque<std::string> names;  // guarded by mutex; the first is kFirstCustom's
};

Numbers& AllNumbers() {
  static Numbers* const numbers = new Numbers;
  return *numbers;
}

constexpr size_t kMostCustom = 256 - static_cast<size_t>(EventResource::kFirstCustom);

}  // namespace

Result<EventResource> EventResourceOf(const api::GroupVersionResource& resource) {
  const std::string name = resource.Text();
  Numbers& numbers = AllNumbers();
  const std::lock_guard lock(numbers.mutex);
  size_t index = 0;
  while (index < numbers.names.size() && numbers.names[index] != name) ++index;
  if (index == kMostCustom) {
    return Error::InvalidArgument(
        fmt::format("{} cannot be watched: plugins watch {} other resources already, which is the limit", name, index));
  }
  if (index == numbers.names.size()) numbers.names.push_back(name);
  return static_cast<EventResource>(static_cast<size_t>(EventResource::kFirstCustom) + index);
}

std::string_view NameOfCustom(EventResource resource) {
  if (resource < EventResource::kFirstCustom) return {};
  const size_t index = static_cast<size_t>(resource) - static_cast<size_t>(EventResource::kFirstCustom);
  Numbers& numbers = AllNumbers();
  const std::lock_guard lock(numbers.mutex);
  return index < numbers.names.size() ? std::string_view(numbers.names[index]) : std::string_view();
}

Result<EventResource> CustomObjects::Watch(const api::GroupVersionResource& resource, bool keep_json) {
  const Result<EventResource> number = EventResourceOf(resource);
  if (!number) return number.error();
  Watched& watched = watched_[*number];
  watched.resource = resource;
  watched.keep_json = watched.keep_json || keep_json;
  return *number;
}

std::map<EventResource, bool> CustomObjects::wants() const {
  std::map<EventResource, bool> wants;
  for (const auto& [number, watched] : watched_) wants[number] = watched.keep_json;
  return wants;
}

void CustomObjects::Restore(const std::map<EventResource, bool>& wants) {
  std::erase_if(watched_, [&](const auto& entry) { return !wants.contains(entry.first); });
  for (auto& [number, watched] : watched_) watched.keep_json = wants.at(number);
}

const CustomObjects::Store& CustomObjects::Of(EventResource resource) const {
  static const Store kNone;
  const auto found = watched_.find(resource);
  return found == watched_.end() ? kNone : found->second.store;
}

CustomObjects::Store* CustomObjects::FindMutable(EventResource resource) {
  const auto found = watched_.find(resource);
  return found == watched_.end() ? nullptr : &found->second.store;
}

}  // namespace berth::framework
