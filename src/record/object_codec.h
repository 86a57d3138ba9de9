// Objects in a recording. Most pods differ from another one only in name, UID, version and times: what they have in
// common (api::AppendPodTemplate) is written once in a file, and later pods refer to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/object.h"
#include "base/result.h"

namespace berth::record {

// Starts over with every file.
class ObjectWriter {
 public:
  // The part of a pod that it shares with others.
  struct Template {
    std::optional<uint64_t> number{};  // unset: the object is written whole
    std::string_view unwritten{};      // not empty: the template is new and must be written before the object
  };
  // The result is valid until the next call.
  Template TemplateOf(const api::Object& object);
  // Appends the object as a message. `common` is what TemplateOf returned for it.
  static void Append(const api::Object& object, const Template& common, std::string& out);
  void Reset();

 private:
  // How many bytes of templates are remembered; pods beyond that are written whole.
  static constexpr size_t kMaxKnown = size_t{16} << 20;
  static constexpr size_t kMaxExamples = 256;

  std::unordered_map<std::string, uint64_t> known_;  // template to number
  size_t known_bytes_ = 0;
  std::string scratch_;
  // The last pod of each workload in each state, which the next one probably resembles: comparing the two costs a
  // fraction of encoding the second one to find its template.
  struct Example {
    std::shared_ptr<const api::Pod> pod;
    uint64_t number;
  };
  std::unordered_map<size_t, Example> examples_;  // by a hash of workload and state
};

class ObjectReader {
 public:
  // The next template. An error if it is not one.
  Result<void> AddTemplate(std::string_view bytes);
  Result<api::Object> Decode(std::string_view message) const;
  void Reset() { templates_.clear(); }

 private:
  std::vector<std::string> templates_;
};

}  // namespace berth::record
