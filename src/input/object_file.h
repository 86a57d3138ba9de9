// Writing objects to a file that ReadCluster reads (input/input.h).
#pragma once

#include <string>
#include <vector>

#include "api/object.h"
#include "base/result.h"

namespace berth::input {

// The format of a file, by its name: ".json" is JSON and anything else YAML; a further ".gz" is gzip.
struct ObjectFileFormat {
  bool json = false;
  bool gzip = false;
};
ObjectFileFormat FormatOf(const std::string& path);

// In the order given: YAML with one document per object, JSON as a List with one line per object. The same bytes for
// the same objects.
std::string ObjectFileText(const std::vector<api::Object>& objects, ObjectFileFormat format);

// Standard output for "-". The error names the file.
Result<void> WriteObjectFile(const std::vector<api::Object>& objects, const std::string& path);

}  // namespace berth::input
