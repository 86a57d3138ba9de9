#include "plugin_library/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>

#include "plugin_library/adapter.h"
#include "plugin_library/host.h"
#include "plugin_library/trial.h"

namespace berth::plugin_library {

namespace {

constexpr char kSymbol[] = "berth_plugin_library";
using Entry = const berth_plugin_library_table* (*)(const berth_host*);

// The size in version 1.0 of the header, without fields added later.
constexpr uint32_t kLeastTable = sizeof(berth_plugin_library_table);
// The size in version 1.0 of the header.
constexpr uint32_t kLeastClass = offsetof(berth_plugin_class, explain);
// The largest size of a class of ABI 1; anything behind it has another meaning there.
constexpr uint32_t kMostOfVersion1 = offsetof(berth_plugin_class, add_pod);

// A program with the C++ runtime linked in (make dist) has its own unwinder, besides the one of the libraries. It is
// set up by the first exception that the program itself throws; an exception from a library before that would end the
// program.
void SetUpUnwinder() {
  try {
    throw std::exception();
  } catch (const std::exception&) {  // its only purpose was to be thrown
  }
}

// Without a folder in its name, a library would be searched for in the system's folders.
void* Open(const std::string& path) {
  SetUpUnwinder();
  return dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
}

class Loader {
 public:
  Loader(const std::string& path, const LoadOptions& options) : path_(path), options_(options) {}

  Result<void> Load(framework::Registry& registry) const {
    const auto trial = [&] {
      void* library = Open(path_);
      const auto entry = library ? reinterpret_cast<Entry>(dlsym(library, kSymbol)) : nullptr;
      if (entry) entry(&Host());
    };
    if (const std::optional<std::string> failure = HowItFails(trial, options_.patience)) {
      return Refuse(fmt::format("{} while it was loaded", *failure));
    }
    const Result<const berth_plugin_library_table*> table = FindTable();
    if (!table) return table.error();
    for (uint32_t i = 0; i < (*table)->class_count; ++i) {
      const Result<std::shared_ptr<const PluginClass>> read = ReadClass((*table)->classes[i], i, (*table)->abi_version);
      if (!read) return read.error();
      const std::string& name = (*read)->name;
      if (Result<void> added = registry.Register(name, FactoryFor(*read), "library " + path_); !added) return added;
    }
    return {};
  }

 private:
  Error Refuse(std::string_view why) const {
    return Error::InvalidArgument(fmt::format("plugin library {}: {}", path_, why));
  }

  Result<const berth_plugin_library_table*> FindTable() const {
    void* library = Open(path_);
    if (library == nullptr) return Refuse(fmt::format("cannot be opened: {}", dlerror()));
    const auto entry = reinterpret_cast<Entry>(dlsym(library, kSymbol));
    if (entry == nullptr) return Refuse(fmt::format("is no plugin library: it has no symbol {}", kSymbol));
    const berth_plugin_library_table* table = nullptr;
    std::string thrown = ThrownBy([&] { table = entry(&Host()); });
    // Libraries of ABI 1 may check the host's version, and refuse or remember it.
    if (thrown.empty() && (table == nullptr || table->abi_version == 1)) {
      thrown = ThrownBy([&] { table = entry(&HostOfVersion1()); });
    }
    if (!thrown.empty()) return Refuse(fmt::format("{} {}", kSymbol, thrown));
    if (table == nullptr) return Refuse(fmt::format("{} returned null", kSymbol));
    if (table->abi_version < 1 || table->abi_version > BERTH_PLUGIN_ABI) {
      return Refuse(fmt::format("was built for plugin ABI {}, and this berth loads 1 to {}", table->abi_version,
                                BERTH_PLUGIN_ABI));
    }
    if (table->size < kLeastTable) {
      return Refuse(fmt::format("its table is {} bytes long, expected at least {}", table->size, kLeastTable));
    }
    if (table->class_count == 0 || table->classes == nullptr) return Refuse("brings no plugins");
    return table;
  }

  Result<std::shared_ptr<const PluginClass>> ReadClass(const berth_plugin_class* given, uint32_t position,
                                                       uint32_t abi_version) const {
    if (given == nullptr) return Refuse(fmt::format("plugin {} is null", position));
    if (given->size < kLeastClass) {
      return Refuse(fmt::format("plugin {}: its class is {} bytes long, expected at least {}", position, given->size,
                                kLeastClass));
    }
    auto read = std::make_shared<PluginClass>();
    const size_t known = abi_version == 1 ? kMostOfVersion1 : sizeof(read->table);
    std::memcpy(&read->table, given, std::min<size_t>(given->size, known));
    if (given->name == nullptr || *given->name == '\0') return Refuse(fmt::format("plugin {} has no name", position));
    read->name = given->name;
    read->library = path_;
    read->patience = options_.patience;
    if (const std::string mistake = MistakeIn(read->table); !mistake.empty()) {
      return Refuse(fmt::format("plugin \"{}\": {}", read->name, mistake));
    }
    return std::shared_ptr<const PluginClass>(std::move(read));
  }

  static std::string MistakeIn(const berth_plugin_class& table) {
    if (!table.queue_less && !table.pre_enqueue && !table.pre_filter && !table.filter && !table.pre_score &&
        !table.score && !table.reserve && !table.unreserve && !table.permit && !table.post_filter) {
      return "serves no extension point";
    }
    if ((table.add_pod != nullptr) != (table.remove_pod != nullptr)) {
      return "add_pod and remove_pod go together; only one of them is given";
    }
    if (table.add_pod && !table.pre_filter) return "add_pod follows what pre_filter stored, and there is no pre_filter";
    if (table.add_pod && !table.clone_data) return "add_pod changes a copy of cycle data, and there is no clone_data";
    if (table.add_pod && table.filter_depends_on != BERTH_ON_ANYTHING) {
      return "add_pod is for filters that look beyond the node; filter_depends_on has to be BERTH_ON_ANYTHING";
    }
    if (table.filter_depends_on > BERTH_ON_NODE_AND_PODS) {
      return fmt::format("filter_depends_on is {}, expected at most {}", table.filter_depends_on,
                         static_cast<int>(BERTH_ON_NODE_AND_PODS));
    }
    if (table.score_depends_on > BERTH_ON_ALL_NODES) {
      return fmt::format("score_depends_on is {}, expected at most {}", table.score_depends_on,
                         static_cast<int>(BERTH_ON_ALL_NODES));
    }
    if (table.normalization > BERTH_NORMALIZE_OWN) {
      return fmt::format("normalization is {}, expected at most {}", table.normalization,
                         static_cast<int>(BERTH_NORMALIZE_OWN));
    }
    if ((table.normalization == BERTH_NORMALIZE_OWN) != (table.normalize != nullptr)) {
      return "normalize and BERTH_NORMALIZE_OWN go together; only one of them is given";
    }
    if (table.pre_score && !table.score) return "serves PreScore without Score";
    if (table.event_count != 0 && table.events == nullptr) return "events is null";
    for (const berth_event& event : std::span(table.events, table.event_count)) {
      if (event.resource > BERTH_SERVICE || event.actions == 0 || (event.actions & ~BERTH_ALL_ACTIONS) != 0) {
        return fmt::format("event with resource {} and actions {:#x}: there is no such event", event.resource,
                           event.actions);
      }
    }
    return {};
  }

  const std::string& path_;
  const LoadOptions& options_;
};

}  // namespace

Result<void> LoadInto(framework::Registry& registry, const std::vector<std::string>& paths,
                      const LoadOptions& options) {
  for (const std::string& path : paths) {
    if (Result<void> loaded = Loader(path, options).Load(registry); !loaded) return loaded;
  }
  return {};
}

Result<std::vector<std::string>> LibrariesIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".so") paths.push_back(it->path().string());
  }
  if (error) return Error::NotFound(fmt::format("plugin folder {}: {}", folder, error.message()));
  std::ranges::sort(paths);
  return paths;
}

}  // namespace berth::plugin_library
