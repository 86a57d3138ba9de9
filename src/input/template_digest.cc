#include "input/template_digest.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "codec/field_mark.h"

namespace berth::input {

namespace {

constexpr std::string_view kUnread[] = {"args", "command", "env", "envFrom"};

class Digest {
 public:
  void Add(std::string_view text) {
    for (const char c : text) Mix(static_cast<unsigned char>(c));
    Mix(0x100);  // a separator that is no character: "ab", "c" differs from "a", "bc"
  }

  // Independent of the order of members. Empty values, and what the API server adds to a reference, are left out.
  void Add(const codec::Value& value) {
    if (value.is_object()) {
      std::vector<const codec::Member*> members;
      for (const codec::Member& member : value.members()) {
        const bool added = (member.key == "apiVersion" && member.value.text() == "v1") ||
                           (member.key == "divisor" && member.value.text() == "0");
        if (!added && !IsEmpty(member.value)) members.push_back(&member);
      }
      std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
      for (const codec::Member* member : members) {
        Add(member->key);
        Add(member->value);
      }
    } else if (value.is_array()) {
      for (const codec::Value& item : value.items()) Add(item);
    } else {
      Add(value.text());
    }
    Mix(0x101);
  }

  uint64_t value() const { return hash_ | 1; }

 private:
  static bool IsEmpty(const codec::Value& value) {
    return value.is_null() || (value.is_string() && value.text().empty()) ||
           (value.is_array() && value.items().empty()) || (value.is_object() && value.members().empty());
  }
  void Mix(uint64_t byte) { hash_ = (hash_ ^ byte) * 1099511628211u; }

  uint64_t hash_ = 14695981039346656037u;
};

}  // namespace

uint64_t TemplateDigest(const codec::Value& text, bool is_new) {
  Digest digest;
  bool whole = is_new;
  for (const char* path : {"spec.template.spec.initContainers", "spec.template.spec.containers"}) {
    const codec::Value* containers = codec::FindField(text, path);
    if (!containers || !containers->is_array()) continue;
    for (const codec::Value& container : containers->items()) {
      if (!container.is_object()) continue;
      if (const codec::Value* name = container.Find("name")) digest.Add(name->text());
      // The API server sets this on every container.
      whole = whole || container.Find("terminationMessagePath");
      for (const std::string_view key : kUnread) {
        const codec::Value* value = container.Find(key);
        if (!value || value->is_null() || (value->is_array() && value->items().empty())) continue;
        whole = true;
        digest.Add(key);
        digest.Add(*value);
      }
    }
  }
  return whole ? digest.value() : 0;
}

}  // namespace berth::input
