// Problems found while decoding a configuration file, worded as kube-scheduler words them or with a position for each.
// Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/decode.h"
#include "config/load.h"

namespace berth::config {

// Whether it is about a field or key that was given twice.
bool IsRepeatedField(const codec::Diagnostic& problem);

// Unknown and repeated fields are "strict" errors: upstream collects those, and stops at any other error. Here all are
// reported together.
class DecodeErrors {
 public:
  explicit DecodeErrors(const LoadOptions& options) : options_(options) {}

  void AddFatal(codec::Mark where, const std::string& text);

  // `context`, put before each text, is the part of the file that was being decoded. Repeated keys in YAML are not
  // added here: AddRepeatedKeys reports all of them.
  void Add(const std::vector<codec::Diagnostic>& diagnostics, std::string_view context,
           std::string_view strict_context);
  void AddUnknownField(codec::Mark where, std::string_view path);

  // The keys that are set twice anywhere in a YAML document, whether or not their meaning is known.
  void AddRepeatedKeys(const codec::Value& value);

  bool empty() const { return fatal_.empty() && strict_.empty() && repeated_.empty(); }
  Error ToError() const;

 private:
  // JSON is recognized by its first character; there, a repeated key is a repeated field.
  bool IsYaml() const;
  std::string Line(codec::Mark where, const std::string& text) const;

  const LoadOptions& options_;
  std::vector<std::string> fatal_;
  std::vector<std::pair<codec::Mark, std::string>> repeated_;
  std::vector<std::pair<codec::Mark, std::string>> strict_;
};

}  // namespace berth::config
