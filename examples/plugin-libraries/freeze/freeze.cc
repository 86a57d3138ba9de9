// Freeze: while a namespace has an object of the custom resource freezes.v1.example.com, its new pods are held back;
// when the last one is gone, they are scheduled. kubectl describe shows why a pod is held.
//
//   c++ -std=c++20 -O2 -shared -fPIC -I../../../sdk -o freeze.so freeze.cc
#include <berth_plugin.hpp>
#include <stdexcept>
#include <string>

namespace {

class Freeze : public berth::library::Plugin {
 public:
  static constexpr const char* kName = "Freeze";

  Freeze(Instance& instance, std::string_view) : instance_(instance) {
    // Names are all that is needed of a freeze.
    freezes_ = instance.WatchResource("freezes.v1.example.com", /*keep_json=*/false);
    if (freezes_ == 0) throw std::runtime_error("freezes.v1.example.com cannot be watched");
    // Held pods are asked about again when a freeze goes.
    instance.AddEvent(freezes_, BERTH_DELETE);
  }

  Status PreEnqueue(Call& call) const {
    Search search{call.pod().name_space(), {}};
    instance_.VisitCustomObjects(freezes_, Note, &search);
    if (search.found.empty()) return {};
    const std::string why = "namespace is frozen by freeze " + search.found;
    instance_.RecordEvent(call.pod(), /*is_warning=*/false, "NamespaceFrozen", "Enqueueing", why);
    return Status::Pending(why);
  }

 private:
  struct Search {
    std::string_view name_space;
    std::string found;  // the first of the namespace
  };
  static void Note(void* context, berth_string name_space, berth_string name, berth_string) {
    auto& search = *static_cast<Search*>(context);
    if (!search.found.empty() || berth::library::ToView(name_space) != search.name_space) return;
    search.found = berth::library::ToView(name);
  }

  const Instance& instance_;
  uint32_t freezes_ = 0;
};

}  // namespace

BERTH_PLUGIN_LIBRARY(Freeze)
