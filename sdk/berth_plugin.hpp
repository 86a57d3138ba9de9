// A thin C++20 layer over berth_plugin.h, header-only: write a class, export it with one macro.
//
//   class GoldNodes : public berth::library::Plugin {
//    public:
//     static constexpr const char* kName = "GoldNodes";
//     static constexpr auto kFilterDependsOn = BERTH_ON_NODE;
//     GoldNodes(Instance& instance, std::string_view args_json)
//         : tier_(instance.LabelKey("tier")), not_gold_(instance.AddReason(BERTH_UNSCHEDULABLE, "node(s) aren't gold"))
//         {}
//     void Filter(Call&, const Nodes& nodes, std::span<uint8_t> verdicts) const {
//       const auto tier = nodes.Labels(tier_);
//       for (uint32_t i = 0; i < nodes.size(); ++i) verdicts[i] = tier[i] == "gold" ? 0 : not_gold_;
//     }
//     …
//   };
//   BERTH_PLUGIN_LIBRARY(GoldNodes)
//
// A class serves the extension points whose member functions it has, public and not overloaded; one with the right name
// and the wrong parameters does not compile. All are optional, and const if several threads may call them at once:
//
//   bool Sign(Call&) const                     false: no signature; see sign in berth_plugin.h, and Call::Sign
//   bool QueueLess(const Pod& a, int64_t a_added, const Pod& b, int64_t b_added) const
//   Status PreEnqueue(Call&) const
//   Status PreFilter(Call&) const
//   void Filter(Call&, const Nodes&, std::span<uint8_t> verdicts) const
//   Status PreScore(Call&, const Nodes& feasible) const
//   void Score(Call&, const Nodes&, std::span<int64_t> scores) const
//   void Normalize(Call&, const Nodes&, std::span<int64_t> scores) const          needs kNormalization = …_OWN
//   Status Reserve(Call&, std::string_view node), void Unreserve(Call&, std::string_view node)
//   Status Permit(Call&, std::string_view node)                                   see Wait
//   void Explain(Call&, const Nodes& node) const                                  see explain in berth_plugin.h
//   Status AddPod(Call&, const Pod& other, const Nodes& node) const               see Call::MutablePreFilterData
//   Status RemovePod(Call&, const Pod& other, const Nodes& node) const            both or none
//   Status PostFilter(Call&, const Nodes& nodes, std::span<const berth_code> codes) const
//
// and constants: kName (required), kFilterDependsOn, kScoreDependsOn, kNormalization, kEvents (an array of
// berth_event). An exception becomes an Error for the pod, with its text; one from the constructor makes the
// configuration invalid.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "berth_plugin.h"

// Libraries that were built separately, perhaps with different versions of this header, must never share what is in
// here; the dynamic linker would merge static objects of functions and templates.
#define BERTH_LIBRARY_OWN __attribute__((visibility("hidden")))

namespace berth::library {

inline std::string_view ToView(berth_string text) { return {text.data, text.size}; }
inline berth_string ToC(std::string_view text) { return {text.data(), text.size()}; }

// The host's functions; set before any plugin is made.
BERTH_LIBRARY_OWN inline const berth_host* host = nullptr;

// The result of most functions: success, or a code and a reason.
class Status {
 public:
  Status() = default;
  Status(berth_code code, std::string why = {}) : code_(code), why_(std::move(why)) {}  // NOLINT: implicit
  static Status Skip() { return {BERTH_SKIP}; }
  static Status Error(std::string why) { return {BERTH_ERROR, std::move(why)}; }
  static Status Unschedulable(std::string why) { return {BERTH_UNSCHEDULABLE, std::move(why)}; }
  static Status UnschedulableAndUnresolvable(std::string why) {
    return {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, std::move(why)};
  }
  static Status Pending(std::string why) { return {BERTH_PENDING, std::move(why)}; }
  // Permit only.
  static Status Wait(std::chrono::milliseconds timeout) {
    Status status(BERTH_WAIT);
    status.timeout_ = timeout;
    return status;
  }

  berth_code code() const { return code_; }
  const std::string& why() const { return why_; }
  std::chrono::milliseconds timeout() const { return timeout_; }

 private:
  berth_code code_ = BERTH_SUCCESS;
  std::string why_;
  std::chrono::milliseconds timeout_{0};
};

class Pod {
 public:
  explicit Pod(const berth_pod& pod) : pod_(&pod) {}
  std::string_view name() const { return ToView(pod_->name); }
  std::string_view name_space() const { return ToView(pod_->name_space); }
  std::string_view uid() const { return ToView(pod_->uid); }
  int32_t priority() const { return pod_->priority; }
  // The fields of berth_pod by their own names.
  const berth_pod* operator->() const { return pod_; }
  // Empty if there is none.
  std::string_view Label(std::string_view key) const { return ToView(host->pod_label(pod_, ToC(key))); }
  std::string_view Annotation(std::string_view key) const { return ToView(host->pod_annotation(pod_, ToC(key))); }
  int64_t Request(std::string_view resource) const { return host->pod_request(pod_, ToC(resource)); }

 private:
  const berth_pod* pod_;
};

class Labels {
 public:
  Labels(const berth_nodes& nodes, const berth_label_key* key) { host->label_column(&nodes, key, &column_); }
  // -1: the node does not have the label.
  int32_t id(uint32_t i) const { return column_.ids[i]; }
  std::string_view value(int32_t id) const { return ToView(host->label_value(&column_, id)); }
  uint32_t value_count() const { return column_.value_count; }
  // Empty if the node does not have the label.
  std::string_view operator[](uint32_t i) const { return id(i) < 0 ? std::string_view() : value(id(i)); }

 private:
  berth_label_column column_{sizeof(berth_label_column), 0, nullptr, nullptr};
};

class Nodes {
 public:
  explicit Nodes(const berth_nodes& nodes) : nodes_(&nodes) {}
  uint32_t size() const { return nodes_->count; }
  // The columns of berth_nodes by their own names: nodes->requested_memory[i].
  const berth_nodes* operator->() const { return nodes_; }
  library::Labels Labels(const berth_label_key* key) const { return {*nodes_, key}; }
  std::span<const berth_string> names() const { return {host->node_names(nodes_), nodes_->count}; }
  std::string_view Label(uint32_t i, std::string_view key) const {
    return ToView(host->node_label(nodes_, i, ToC(key)));
  }
  std::string_view Annotation(uint32_t i, std::string_view key) const {
    return ToView(host->node_annotation(nodes_, i, ToC(key)));
  }
  int64_t Allocatable(uint32_t i, std::string_view resource) const {
    return host->node_allocatable(nodes_, i, ToC(resource));
  }
  int64_t Requested(uint32_t i, std::string_view resource) const {
    return host->node_requested(nodes_, i, ToC(resource));
  }
  // The k-th pod on the i-th node; k is below pod_count[i].
  berth_pod PodOn(uint32_t i, uint32_t k) const {
    berth_pod pod{};
    pod.size = sizeof(pod);
    host->node_pod(nodes_, i, k, &pod);
    return pod;
  }

 private:
  const berth_nodes* nodes_;
};

class Call {
 public:
  explicit Call(berth_call& call) : call_(&call) {}
  library::Pod pod() const { return library::Pod(*call_->pod); }
  std::string_view PodJson() { return ToView(host->pod_json(call_)); }
  // In Sign: something that Filter and Score read from the pod.
  void Sign(std::string_view key, std::string_view value) { host->add_to_signature(call_, ToC(key), ToC(value)); }
  // In PreFilter: restricts filtering to the nodes named this way.
  void KeepNode(std::string_view name) { host->keep_node(call_, ToC(name)); }

  // In Explain: what is required and what is there, and labels with which the plugin would accept the node.
  void AddFinding(std::string_view subject, std::string_view asked, std::string_view there) {
    host->add_finding(call_, ToC(subject), ToC(asked), ToC(there));
  }
  void ProposePodLabel(std::string_view key, std::string_view value) {
    host->propose_pod_label(call_, ToC(key), ToC(value));
  }
  void ProposeNodeLabel(std::string_view key, std::string_view value) {
    host->propose_node_label(call_, ToC(key), ToC(value));
  }

  // In PreFilter and PostFilter: the whole cluster.
  Nodes AllNodes() { return Nodes(*host->all_nodes(call_)); }

  // In Explain: a sentence about the node.
  void AddRemark(std::string_view text) { host->add_remark(call_, ToC(text)); }

  // In PostFilter: the result of the filters without these pods, and the plugin's decision.
  berth_code TryWithout(std::string_view node, std::span<const berth_string> uids) {
    return host->try_without(call_, ToC(node), uids.data(), uids.size());
  }
  void Nominate(std::string_view node) { host->nominate(call_, ToC(node)); }
  void AddVictim(std::string_view uid) { host->add_victim(call_, ToC(uid)); }

  // What PreFilter (PreScore) computed, for later calls. All calls of a class use one type for each.
  template <class T>
  void SetPreFilterData(std::unique_ptr<T> data) {
    host->set_pre_filter_data(call_, Hold(std::move(data)));
  }
  template <class T>
  void SetPreScoreData(std::unique_ptr<T> data) {
    host->set_pre_score_data(call_, Hold(std::move(data)));
  }
  // Null if nothing was stored.
  template <class T>
  const T* PreFilterData() const {
    return Read<T>(call_->pre_filter_data);
  }
  template <class T>
  const T* PreScoreData() const {
    return Read<T>(call_->pre_score_data);
  }
  // In AddPod and RemovePod only: a copy made by T's copy constructor, which they may change.
  template <class T>
  T* MutablePreFilterData() {
    return const_cast<T*>(Read<T>(call_->pre_filter_data));
  }

  // Wraps cycle data, so that one function can free any type, and one can copy any type.
  struct Held {
    virtual ~Held() = default;
    virtual Held* Clone() const = 0;  // null if it cannot be copied
  };

 private:
  template <class T>
  struct HeldAs final : Held {
    explicit HeldAs(std::unique_ptr<T> held) : data(std::move(held)) {}
    Held* Clone() const override {
      if constexpr (std::is_copy_constructible_v<T>) {
        return new HeldAs(std::make_unique<T>(*data));
      } else {
        return nullptr;
      }
    }
    std::unique_ptr<T> data;
  };
  template <class T>
  static void* Hold(std::unique_ptr<T> data) {
    return static_cast<Held*>(new HeldAs<T>(std::move(data)));
  }
  template <class T>
  static const T* Read(void* data) {
    return data == nullptr ? nullptr : static_cast<const HeldAs<T>*>(static_cast<const Held*>(data))->data.get();
  }

  berth_call* call_;
};

// Passed to the constructor; lives as long as the plugin.
class Instance {
 public:
  explicit Instance(berth_instance* instance) : instance_(instance) {}
  // In the constructor only. Returns the verdict for this rejection.
  uint8_t AddReason(berth_code code, std::string_view text) { return host->add_reason(instance_, code, ToC(text)); }
  const berth_label_key* LabelKey(std::string_view key) { return host->label_key(instance_, ToC(key)); }
  // In the constructor only. Watches the objects of a resource; the result identifies it. 0: not accepted.
  uint32_t WatchResource(std::string_view resource, bool keep_json) {
    return host->watch_resource(instance_, ToC(resource), keep_json ? 1 : 0);
  }
  bool AddEvent(uint32_t resource, uint32_t actions) { return host->add_event(instance_, resource, actions) != 0; }
  // JSON; empty if there is no such object.
  std::string_view CustomObject(uint32_t resource, std::string_view name_space, std::string_view name) const {
    return ToView(host->custom_object(instance_, resource, ToC(name_space), ToC(name)));
  }
  void VisitCustomObjects(uint32_t resource,
                          void (*visit)(void* context, berth_string name_space, berth_string name, berth_string json),
                          void* context) const {
    host->visit_custom_objects(instance_, resource, visit, context);
  }
  void RecordEvent(const library::Pod& pod, bool is_warning, std::string_view reason, std::string_view action,
                   std::string_view note) const {
    host->record_event(instance_, pod.operator->(), is_warning ? 1 : 0, ToC(reason), ToC(action), ToC(note));
  }
  // Pods for which Permit returned Wait.
  void Allow(std::string_view uid) { host->allow_waiting_pod(instance_, ToC(uid)); }
  void Reject(std::string_view uid, std::string_view why) { host->reject_waiting_pod(instance_, ToC(uid), ToC(why)); }
  // Has an unschedulable pod tried again. False if this berth cannot.
  bool Activate(std::string_view uid) {
    if (host->size < offsetof(berth_host, activate_pods) + sizeof host->activate_pods) return false;
    const berth_string pod = ToC(uid);
    host->activate_pods(instance_, &pod, 1);
    return true;
  }

 private:
  berth_instance* instance_;
};

// Brings the names above into a plugin's scope.
class Plugin {
 protected:
  using Call = library::Call;
  using Instance = library::Instance;
  using Nodes = library::Nodes;
  using Pod = library::Pod;
  using Status = library::Status;
};

// The functions that berth calls, for plugin class T.
template <class T>
class BERTH_LIBRARY_OWN Bridge {
 public:
  static const berth_plugin_class* Class() {
    static const berth_plugin_class kClass = Make();
    return &kClass;
  }

 private:
  // What init passes to berth as `self`.
  struct Owner {
    Owner(berth_instance* handle, const char* args) : instance(handle), plugin(instance, args) {}
    Instance instance;
    T plugin;
  };
  static T& Self(void* self) { return static_cast<Owner*>(self)->plugin; }

  // Runs `body`, which returns a Status or nothing; an exception becomes an Error.
  template <class Body>
  static berth_code Guard(berth_call* call, Body&& body) noexcept {
    try {
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        return BERTH_SUCCESS;
      } else {
        const Status status = body();
        if (!status.why().empty()) host->say(call, ToC(status.why()));
        return status.code();
      }
    } catch (const std::exception& thrown) {
      host->say(call, ToC(thrown.what()));
    } catch (...) {
      host->say(call, ToC("an exception that is no std::exception"));
    }
    return BERTH_ERROR;
  }

  static berth_code Init(berth_instance* instance, const char* args, void** self) noexcept {
    try {
      *self = new Owner(instance, args);
      return BERTH_SUCCESS;
    } catch (const std::exception& thrown) {
      host->say_init(instance, ToC(thrown.what()));
    } catch (...) {
      host->say_init(instance, ToC("an exception that is no std::exception"));
    }
    return BERTH_ERROR;
  }
  static void Destroy(void* self) noexcept { delete static_cast<Owner*>(self); }
  static void FreeData(void*, void* data) noexcept { delete static_cast<Call::Held*>(data); }
  static void* CloneData(void*, const void* data) noexcept {
    try {
      return static_cast<const Call::Held*>(data)->Clone();
    } catch (...) {
      return nullptr;
    }
  }

  static berth_plugin_class Make() {
    berth_plugin_class made{};
    made.size = sizeof(made);
    made.name = T::kName;
    if constexpr (requires { T::kFilterDependsOn; }) made.filter_depends_on = T::kFilterDependsOn;
    if constexpr (requires { T::kScoreDependsOn; }) made.score_depends_on = T::kScoreDependsOn;
    if constexpr (requires { T::kNormalization; }) made.normalization = T::kNormalization;
    if constexpr (requires { T::kEvents; }) {
      made.events = std::data(T::kEvents);
      made.event_count = static_cast<uint32_t>(std::size(T::kEvents));
    }
    made.init = Init;
    made.destroy = Destroy;
    made.free_data = FreeData;
    AddQueueing(made);
    AddFiltering(made);
    AddWhatIfs(made);
    AddScoring(made);
    AddBinding(made);
    return made;
  }

  static void AddQueueing(berth_plugin_class& made) {
    if constexpr (requires { &T::Sign; }) {
      made.sign = [](void* self, berth_call* call) noexcept -> berth_code {
        return Guard(call, [&]() -> Status {
          Call wrapped(*call);
          return std::as_const(Self(self)).Sign(wrapped) ? BERTH_SUCCESS : BERTH_SKIP;
        });
      };
    }
    if constexpr (requires { &T::QueueLess; }) {
      made.queue_less = [](void* self, const berth_pod* a, int64_t a_added, const berth_pod* b,
                           int64_t b_added) -> int32_t {
        return std::as_const(Self(self)).QueueLess(Pod(*a), a_added, Pod(*b), b_added) ? 1 : 0;
      };
    }
    if constexpr (requires { &T::PreEnqueue; }) {
      made.pre_enqueue = [](void* self, berth_call* call) noexcept -> berth_code {
        return Guard(call, [&]() -> Status {
          Call wrapped(*call);
          return std::as_const(Self(self)).PreEnqueue(wrapped);
        });
      };
    }
  }

  static void AddFiltering(berth_plugin_class& made) {
    if constexpr (requires { &T::PreFilter; }) {
      made.pre_filter = [](void* self, berth_call* call) noexcept -> berth_code {
        return Guard(call, [&]() -> Status {
          Call wrapped(*call);
          return std::as_const(Self(self)).PreFilter(wrapped);
        });
      };
    }
    if constexpr (requires { &T::Filter; }) {
      made.filter = [](void* self, berth_call* call, const berth_nodes* nodes,
                       uint8_t* verdicts) noexcept -> berth_code {
        return Guard(call, [&] {
          Call wrapped(*call);
          std::as_const(Self(self)).Filter(wrapped, Nodes(*nodes), std::span<uint8_t>(verdicts, nodes->count));
        });
      };
    }
    if constexpr (requires { &T::Explain; }) {
      made.explain = [](void* self, berth_call* call, const berth_nodes* node) noexcept -> berth_code {
        return Guard(call, [&] {
          Call wrapped(*call);
          std::as_const(Self(self)).Explain(wrapped, Nodes(*node));
        });
      };
    }
  }

  static void AddWhatIfs(berth_plugin_class& made) {
    if constexpr (requires { &T::AddPod; }) {
      made.clone_data = CloneData;
      made.add_pod = [](void* self, berth_call* call, const berth_pod* other,
                        const berth_nodes* node) noexcept -> berth_code {
        return Guard(call, [&]() -> Status {
          Call wrapped(*call);
          return std::as_const(Self(self)).AddPod(wrapped, Pod(*other), Nodes(*node));
        });
      };
    }
    if constexpr (requires { &T::RemovePod; }) {
      made.remove_pod = [](void* self, berth_call* call, const berth_pod* other,
                           const berth_nodes* node) noexcept -> berth_code {
        return Guard(call, [&]() -> Status {
          Call wrapped(*call);
          return std::as_const(Self(self)).RemovePod(wrapped, Pod(*other), Nodes(*node));
        });
      };
    }
    if constexpr (requires { &T::PostFilter; }) {
      made.post_filter = [](void* self, berth_call* call, const berth_nodes* nodes,
                            const berth_code* codes) noexcept -> berth_code {
        return Guard(call, [&]() -> Status {
          Call wrapped(*call);
          return std::as_const(Self(self))
              .PostFilter(wrapped, Nodes(*nodes), std::span<const berth_code>(codes, nodes->count));
        });
      };
    }
  }

  static void AddScoring(berth_plugin_class& made) {
    if constexpr (requires { &T::PreScore; }) {
      made.pre_score = [](void* self, berth_call* call, const berth_nodes* feasible) noexcept -> berth_code {
        return Guard(call, [&]() -> Status {
          Call wrapped(*call);
          return std::as_const(Self(self)).PreScore(wrapped, Nodes(*feasible));
        });
      };
    }
    if constexpr (requires { &T::Score; }) {
      made.score = [](void* self, berth_call* call, const berth_nodes* nodes, int64_t* scores) noexcept -> berth_code {
        return Guard(call, [&] {
          Call wrapped(*call);
          std::as_const(Self(self)).Score(wrapped, Nodes(*nodes), std::span<int64_t>(scores, nodes->count));
        });
      };
    }
    if constexpr (requires { &T::Normalize; }) {
      made.normalize = [](void* self, berth_call* call, const berth_nodes* nodes,
                          int64_t* scores) noexcept -> berth_code {
        return Guard(call, [&] {
          Call wrapped(*call);
          std::as_const(Self(self)).Normalize(wrapped, Nodes(*nodes), std::span<int64_t>(scores, nodes->count));
        });
      };
    }
  }

  static void AddBinding(berth_plugin_class& made) {
    if constexpr (requires { &T::Reserve; }) {
      made.reserve = [](void* self, berth_call* call, berth_string node) noexcept -> berth_code {
        return Guard(call, [&]() -> Status {
          Call wrapped(*call);
          return Self(self).Reserve(wrapped, ToView(node));
        });
      };
    }
    if constexpr (requires { &T::Unreserve; }) {
      made.unreserve = [](void* self, berth_call* call, berth_string node) noexcept {
        Guard(call, [&] {
          Call wrapped(*call);
          Self(self).Unreserve(wrapped, ToView(node));
        });
      };
    }
    if constexpr (requires { &T::Permit; }) {
      made.permit = [](void* self, berth_call* call, berth_string node, int64_t* timeout_ms) noexcept -> berth_code {
        return Guard(call, [&]() -> Status {
          Call wrapped(*call);
          Status status = Self(self).Permit(wrapped, ToView(node));
          *timeout_ms = status.timeout().count();
          return status;
        });
      };
    }
  }
};

template <class... Plugins>
BERTH_LIBRARY_OWN const berth_plugin_library_table* MakeLibrary(const berth_host* given) noexcept {
  host = given;
  static const berth_plugin_class* const kClasses[] = {Bridge<Plugins>::Class()...};
  static const berth_plugin_library_table kTable{BERTH_PLUGIN_ABI, sizeof(berth_plugin_library_table), kClasses,
                                                 sizeof...(Plugins), 0};
  return &kTable;
}

}  // namespace berth::library

// Exports the given classes; use it once per library.
#define BERTH_PLUGIN_LIBRARY(...)                                                                         \
  extern "C" const berth_plugin_library_table* berth_plugin_library(const berth_host* berth_host_given) { \
    return ::berth::library::MakeLibrary<__VA_ARGS__>(berth_host_given);                                  \
  }
