// Objects in a recording. Most pods are like another one but for name, UID, version and times: what they have in common
// (api::AppendPodTemplate) is written once in a file, and later pods refer to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/object.h"
#include "base/result.h"

namespace berth::record {

// Begins anew with every file.
class ObjectWriter {
 public:
  // The object as a message. What pods have in common is added to `templates` first where that is new: each has to be
  // written, in this order, before the object.
  std::string Encode(const api::Object& object, std::vector<std::string>& templates);
  void Reset();

 private:
  // How much of what pods have in common is remembered; pods beyond it are written whole.
  static constexpr size_t kMaxKnown = size_t{16} << 20;

  std::unordered_map<std::string, uint64_t> known_;  // template to number
  size_t known_bytes_ = 0;
  std::string scratch_;
};

class ObjectReader {
 public:
  // The next template. An error when it is none.
  Result<void> AddTemplate(std::string_view bytes);
  Result<api::Object> Decode(std::string_view message) const;
  void Reset() { templates_.clear(); }

 private:
  std::vector<std::string> templates_;
};

}  // namespace berth::record
