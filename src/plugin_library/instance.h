// One instance of a library's plugin class, for one profile: what `init` made, and what it registered with the host.
#pragma once

#include <berth_plugin.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "framework/explanation.h"
#include "framework/handle.h"
#include "plugin_library/node_batch.h"

// The ABI's name for an instance.
struct berth_instance {};

namespace berth::plugin_library {

struct PluginClass {
  berth_plugin_class table{};  // fields that the library does not know are zero
  std::string name;
  std::string library;  // path, for messages
  base::Duration patience{};
};

class Instance final : public berth_instance {
 public:
  // Runs `init` in a child process first.
  static Result<std::shared_ptr<Instance>> Make(std::shared_ptr<const PluginClass> plugin_class,
                                                const std::string& args_json, framework::Handle& handle);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const PluginClass& plugin_class() const { return *class_; }
  const berth_plugin_class& table() const { return class_->table; }
  framework::Handle& handle() const { return handle_; }
  void* self() const { return self_; }
  // By verdict, starting at 1.
  const std::vector<framework::Status>& reasons() const { return reasons_; }

  // `plugin "X" of library PATH: <what>`
  std::string Blame(std::string_view what) const;

  // For the host's functions.
  uint8_t AddReason(berth_code code, std::string_view text);
  const berth_label_key* LabelKey(std::string_view key);
  void Say(std::string_view text) { said_ = text; }
  uint32_t WatchResource(std::string_view resource, bool keep_json);
  bool AddEvent(uint32_t resource, uint32_t actions);
  // Besides those of the class.
  const std::vector<framework::ClusterEvent>& events() const { return events_; }

 private:
  Instance(std::shared_ptr<const PluginClass> plugin_class, framework::Handle& handle)
      : class_(std::move(plugin_class)), handle_(handle) {}
  Result<void> Init(const std::string& args_json);

  std::shared_ptr<const PluginClass> class_;
  framework::Handle& handle_;
  void* self_ = nullptr;
  bool made_ = false;  // init has succeeded, so reasons are final and destroy must be called
  std::string said_;
  std::vector<framework::Status> reasons_;
  std::deque<berth_label_key> keys_;
  std::vector<framework::ClusterEvent> events_;
};

// The resource for a number of the ABI; unset if there is none. For resources that are watched by name, the numbers of
// the framework and of the ABI are the same.
std::optional<framework::EventResource> ResourceOf(uint32_t resource);

// The message of the exception that the call threw; empty if it did not throw.
std::string ThrownBy(const std::function<void()>& call);

// One call of an extension point: the pod as the ABI shows it, and what the plugin passes to the host during the call.
class CallFrame {
 public:
  explicit CallFrame(const framework::PodInfo& pod);
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

  berth_call* call() { return &call_; }
  static CallFrame& Of(berth_call* call) { return *static_cast<CallFrame*>(call->host); }
  const framework::PodInfo& pod() const { return info_; }

  std::string said;
  std::string json;  // of the pod, once requested
  framework::SignatureBuilder* signature = nullptr;
  std::optional<std::set<std::string>> kept_nodes;
  // What the plugin wants to keep for the cycle; whoever takes it over frees it.
  void* new_pre_filter_data = nullptr;
  void* new_pre_score_data = nullptr;
  // For `explain`.
  std::vector<framework::Finding> findings;
  std::vector<std::pair<Symbol, Symbol>> pod_labels;  // key and value, proposed
  std::vector<std::pair<Symbol, Symbol>> node_labels;
  // For `pre_filter` and `post_filter`: the handle whose cluster may be read, once requested as a batch.
  const framework::Handle* handle = nullptr;
  std::unique_ptr<NodeBatch> all_nodes;
  // For `post_filter`: the state that the filters used, and the plugin's result.
  const framework::CycleState* state = nullptr;
  std::string nominated;
  std::vector<std::string> victims;  // UIDs

 private:
  const framework::PodInfo& info_;
  berth_pod pod_;
  berth_call call_;
};

berth_pod ViewOf(const framework::PodInfo& pod);

}  // namespace berth::plugin_library
