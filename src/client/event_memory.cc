#include "client/event_memory.h"

#include <openssl/sha.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/event_recorder.h"

namespace berth::client {
namespace {

void AppendKey(const api::ObjectReference& reference, std::string& key) {
  for (const std::string_view part :
       {std::string_view(reference.kind), reference.namespace_.str(), std::string_view(reference.name),
        std::string_view(reference.uid), std::string_view(reference.api_version),
        std::string_view(reference.resource_version), std::string_view(reference.field_path)}) {
    key += part;
    key += '\0';
  }
}

}  // namespace

EventKey KeyOf(const EventNote& note, std::string_view reporting_instance) {
  std::string text;
  for (const std::string_view part :
       {std::string_view(note.type), std::string_view(note.action), std::string_view(note.reason),
        std::string_view(note.reporting_controller), reporting_instance}) {
    text += part;
    text += '\0';
  }
  AppendKey(note.regarding, text);
  if (note.related) AppendKey(*note.related, text);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  EventKey key;
  std::copy_n(digest, key.size(), key.begin());
  return key;
}

RememberedEvent* EventMemory::Find(const EventKey& key) {
  const auto found = by_key_.find(key);
  return found != by_key_.end() ? &*found->second : nullptr;
}

void EventMemory::Touch(RememberedEvent& event, base::Duration now) {
  event.seen = now;
  events_.splice(events_.end(), events_, by_key_.at(event.key));
}

void EventMemory::Add(RememberedEvent event) {
  const EventKey key = event.key;
  events_.push_back(std::move(event));
  by_key_.emplace(key, std::prev(events_.end()));
}

void EventMemory::Forget(const EventKey& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  events_.erase(found->second);
  by_key_.erase(found);
}

}  // namespace berth::client
