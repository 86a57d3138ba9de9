// ObjectTemplates: makes objects from a workload's template files. Files are read once.
// Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/kind.h"
#include "api/object.h"
#include "base/result.h"
#include "perf/text_template.h"

namespace berth::perf {

class ObjectTemplates {
 public:
  // For kinds that operations name by field (podTemplatePath …). Decoded as upstream does: kind and apiVersion may be
  // missing, and field names may differ in case.
  template <class T>
  Result<T> Make(const std::string& path, int64_t index, int64_t count) {
    Result<std::shared_ptr<const void>> made = MakeAs(api::InfoOf(api::kKindOf<T>), path, index, count);
    if (!made) return made.error();
    return *static_cast<const T*>(made->get());
  }
  // Of the kind that the file says.
  Result<api::Object> MakeAny(const std::string& path, int64_t index, int64_t count);

 private:
  struct File {
    TextTemplate text;
    std::map<api::Kind, std::shared_ptr<const void>> made;  // of a constant template
  };

  Result<File*> Open(const std::string& path);
  Result<std::shared_ptr<const void>> MakeAs(const api::KindInfo& info, const std::string& path, int64_t index,
                                             int64_t count);

  std::map<std::string, File> files_;
};

}  // namespace berth::perf
