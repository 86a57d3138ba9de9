#include "plugin_library/instance.h"

#include <fmt/format.h>

#include "plugin_library/trial.h"

namespace berth::plugin_library {

namespace {

constexpr size_t kMostReasons = 200;  // well below FilterPlugin::kAskFilter

}  // namespace

std::string ThrownBy(const std::function<void()>& call) {
  try {
    call();
    return {};
  } catch (const std::exception& thrown) {
    return fmt::format("threw an exception: {}", thrown.what());
  } catch (...) {
    return "threw an exception that is no std::exception";
  }
}

Result<std::shared_ptr<Instance>> Instance::Make(std::shared_ptr<const PluginClass> plugin_class,
                                                 const std::string& args_json, framework::Handle& handle) {
  const auto make = [&] { return std::shared_ptr<Instance>(new Instance(plugin_class, handle)); };
  if (plugin_class->table.init != nullptr) {
    const auto trial = [&] { static_cast<void>(make()->Init(args_json)); };
    if (const std::optional<std::string> failure = HowItFails(trial, plugin_class->patience)) {
      return Error::InvalidArgument(make()->Blame(fmt::format("init {}", *failure)));
    }
  }
  std::shared_ptr<Instance> instance = make();
  if (const Result<void> made = instance->Init(args_json); !made) return made.error();
  return instance;
}

Result<void> Instance::Init(const std::string& args_json) {
  berth_code code = BERTH_SUCCESS;
  if (table().init != nullptr) {
    const std::string thrown = ThrownBy([&] { code = table().init(this, args_json.c_str(), &self_); });
    if (!thrown.empty()) return Error::InvalidArgument(Blame("init " + thrown));
  }
  if (code == BERTH_ERROR) return Error::InvalidArgument(Blame(said_.empty() ? "init failed without a reason" : said_));
  if (code != BERTH_SUCCESS) {
    return Error::InvalidArgument(Blame(fmt::format("init returned {}, expected BERTH_SUCCESS or BERTH_ERROR", code)));
  }
  made_ = true;
  return {};
}

Instance::~Instance() {
  // There is nobody to report an exception to.
  if (made_ && table().destroy != nullptr) ThrownBy([&] { table().destroy(self_); });
}

std::string Instance::Blame(std::string_view what) const {
  return fmt::format("plugin \"{}\" of library {}: {}", class_->name, class_->library, what);
}

uint8_t Instance::AddReason(berth_code code, std::string_view text) {
  const framework::Status reason(static_cast<framework::Code>(code), {std::string(text)});
  const bool known = code >= BERTH_SUCCESS && code <= BERTH_PENDING;
  if (made_ || !known || !reason.IsRejected() || reasons_.size() >= kMostReasons) return 0;
  // Attributed here, once, so that the runtime need not copy it for every node.
  reasons_.push_back(reason.WithPlugin(class_->name));
  return static_cast<uint8_t>(reasons_.size());
}

const berth_label_key* Instance::LabelKey(std::string_view key) {
  return &keys_.emplace_back(berth_label_key{Symbol(key)});
}

std::optional<framework::EventResource> ResourceOf(uint32_t resource) {
  using framework::EventResource;
  static constexpr EventResource kResources[] = {
      EventResource::kWildCard,
      EventResource::kPod,
      EventResource::kNode,
      EventResource::kPersistentVolume,
      EventResource::kPersistentVolumeClaim,
      EventResource::kCSINode,
      EventResource::kCSIDriver,
      EventResource::kVolumeAttachment,
      EventResource::kCSIStorageCapacity,
      EventResource::kStorageClass,
      EventResource::kResourceClaim,
      EventResource::kResourceSlice,
      EventResource::kDeviceClass,
      EventResource::kService,
  };
  static_assert(std::size(kResources) == BERTH_SERVICE + 1);
  if (resource < std::size(kResources)) return kResources[resource];
  if (resource > UINT8_MAX || framework::NameOfCustom(static_cast<EventResource>(resource)).empty()) return {};
  return static_cast<EventResource>(resource);
}

uint32_t Instance::WatchResource(std::string_view resource, bool keep_json) {
  const Result<api::GroupVersionResource> parsed = api::GroupVersionResource::Parse(resource);
  if (made_ || !parsed) return 0;
  const Result<framework::EventResource> number = handle_.WatchResource(*parsed, keep_json);
  return number ? static_cast<uint32_t>(*number) : 0;
}

bool Instance::AddEvent(uint32_t resource, uint32_t actions) {
  const std::optional<framework::EventResource> known = ResourceOf(resource);
  if (made_ || !known || actions == 0 || (actions & ~BERTH_ALL_ACTIONS) != 0) return false;
  events_.push_back({*known, static_cast<framework::ActionType>(actions)});
  return true;
}

berth_pod ViewOf(const framework::PodInfo& pod) {
  return {sizeof(berth_pod),
          pod.priority(),
          ToC(pod.name()),
          ToC(pod.namespace_().str()),
          ToC(pod.uid()),
          pod.requests().milli_cpu,
          pod.requests().memory,
          pod.requests().ephemeral_storage,
          pod.non_zero_milli_cpu(),
          pod.non_zero_memory(),
          &pod};
}

CallFrame::CallFrame(const framework::PodInfo& pod)
    : info_(pod), pod_(ViewOf(pod)), call_{sizeof(berth_call), 0, &pod_, nullptr, nullptr, this} {}

}  // namespace berth::plugin_library
