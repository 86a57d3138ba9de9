// Decode(): a Value tree into structs, by their schema tables. Every problem is collected with its field path and its
// position in the file, rather than stopping at the first: users fixing a manifest want the whole list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/schema.h"
#include "codec/value.h"

namespace berth::codec {

struct Diagnostic {
  std::string path;  // spec.containers[0].resources.requests[cpu]; empty for the document itself
  Mark where;
  std::string message;  // "expected a string, found number 5"
  bool unknown_field = false;

  // "PATH: MESSAGE"
  std::string ToString() const;
};

struct DecodeOptions {
  // Unknown and repeated fields are problems; otherwise unknown ones are skipped and the last repeated one counts.
  bool strict = false;
  // String fields also take bare numbers and bools, and names of fields may differ in case, as sigs.k8s.io/yaml has it
  // when it unmarshals straight into a struct (scheduler_perf's workload files and templates).
  // Kubernetes' own object decoders do not: they see `name: 5` as a number and refuse it.
  bool yaml = false;
};

void Decode(const Value& value, const Message& message, void* out, const DecodeOptions& options,
            std::vector<Diagnostic>& problems, std::string_view path = {});

// Fills `out`, which should be freshly constructed: null and absent fields leave what is there. On problems, `out`
// holds whatever could be understood. `path` is put before every reported path, for parts decoded on their own.
template <Described T>
void Decode(const Value& value, T& out, const DecodeOptions& options, std::vector<Diagnostic>& problems,
            std::string_view path = {}) {
  Decode(value, DescriptionOf<T>(), &out, options, problems, path);
}

// All problems as one error, a line each: "FILE:LINE:COL: PATH: MESSAGE". Success when there are none.
Result<void> ToResult(std::string_view file_name, const std::vector<Diagnostic>& problems);

// Decodes the document's root, or returns all of its problems as one error.
template <Described T>
Result<T> DecodeDocument(const Document& document, const DecodeOptions& options) {
  T out{};
  std::vector<Diagnostic> problems;
  Decode(document.root(), out, options, problems);
  if (Result<void> result = ToResult(document.file_name(), problems); !result) return result.error();
  return out;
}

}  // namespace berth::codec
