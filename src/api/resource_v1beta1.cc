#include "api/resource_v1beta1.h"

#include <utility>

#include "api/resource_claim.h"
#include "api/scalars.h"
#include "api/selector_schema.h"
#include "base/check.h"
#include "codec/schema.h"

namespace berth::api {

namespace v1beta1 {

// What v1 has below `exactly` is in the request itself.
struct DeviceRequest {
  std::string name;
  ExactDeviceRequest exactly;
  std::vector<DeviceSubRequest> first_available;
};
struct DeviceClaim {
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  std::vector<DeviceClaimConfiguration> config;
};
struct ResourceClaimSpec {
  DeviceClaim devices;
};
struct ResourceClaim {
  ObjectMeta metadata;
  ResourceClaimSpec spec;
  ResourceClaimStatus status;
};
struct ResourceClaimTemplateSpec {
  ObjectMeta metadata;
  ResourceClaimSpec spec;
};
struct ResourceClaimTemplate {
  ObjectMeta metadata;
  ResourceClaimTemplateSpec spec;
};

// What v1 has in the device is below `basic`.
struct Device {
  std::string name;
  api::Device basic;
};
struct ResourceSliceSpec {
  std::string driver;
  ResourcePool pool;
  std::string node_name;
  std::optional<NodeSelector> node_selector;
  bool all_nodes = false;
  std::vector<Device> devices;
  std::optional<bool> per_device_node_selection;
  std::vector<CounterSet> shared_counters;
};
struct ResourceSlice {
  ObjectMeta metadata;
  ResourceSliceSpec spec;
};

// One row of a table per line, whatever its length would allow.
// clang-format off

const codec::Message& Describe(const DeviceRequest*) {
  static const codec::Message message = codec::MessageOf<DeviceRequest>("DeviceRequest", {
      codec::Field("name", 1, &DeviceRequest::name),
      codec::Inline("exactly", 2, &DeviceRequest::exactly),
      codec::Field("firstAvailable", 7, &DeviceRequest::first_available),
  });
  return message;
}

const codec::Message& Describe(const DeviceClaim*) {
  static const codec::Message message = codec::MessageOf<DeviceClaim>("DeviceClaim", {
      codec::Field("requests", 1, &DeviceClaim::requests),
      codec::Field("constraints", 2, &DeviceClaim::constraints),
      codec::Field("config", 3, &DeviceClaim::config),
  });
  return message;
}

const codec::Message& Describe(const ResourceClaimSpec*) {
  static const codec::Message message = codec::MessageOf<ResourceClaimSpec>("ResourceClaimSpec", {
      codec::Field("devices", 1, &ResourceClaimSpec::devices),
  });
  return message;
}

const codec::Message& Describe(const ResourceClaim*) {
  static const codec::Message message = codec::MessageOf<ResourceClaim>("ResourceClaim", {
      codec::Field("metadata", 1, &ResourceClaim::metadata),
      codec::Field("spec", 2, &ResourceClaim::spec),
      codec::Field("status", 3, &ResourceClaim::status),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const ResourceClaimTemplateSpec*) {
  static const codec::Message message = codec::MessageOf<ResourceClaimTemplateSpec>("ResourceClaimTemplateSpec", {
      codec::Field("metadata", 1, &ResourceClaimTemplateSpec::metadata),
      codec::Field("spec", 2, &ResourceClaimTemplateSpec::spec),
  });
  return message;
}

const codec::Message& Describe(const ResourceClaimTemplate*) {
  static const codec::Message message = codec::MessageOf<ResourceClaimTemplate>("ResourceClaimTemplate", {
      codec::Field("metadata", 1, &ResourceClaimTemplate::metadata),
      codec::Field("spec", 2, &ResourceClaimTemplate::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

const codec::Message& Describe(const Device*) {
  static const codec::Message message = codec::MessageOf<Device>("Device", {
      codec::Field("name", 1, &Device::name),
      codec::Field("basic", 2, &Device::basic),
  });
  return message;
}

const codec::Message& Describe(const ResourceSliceSpec*) {
  static const codec::Message message = codec::MessageOf<ResourceSliceSpec>("ResourceSliceSpec", {
      codec::Field("driver", 1, &ResourceSliceSpec::driver),
      codec::Field("pool", 2, &ResourceSliceSpec::pool),
      codec::Field("nodeName", 3, &ResourceSliceSpec::node_name),
      codec::Field("nodeSelector", 4, &ResourceSliceSpec::node_selector),
      codec::Field("allNodes", 5, &ResourceSliceSpec::all_nodes),
      codec::Field("devices", 6, &ResourceSliceSpec::devices),
      codec::Field("perDeviceNodeSelection", 7, &ResourceSliceSpec::per_device_node_selection),
      codec::Field("sharedCounters", 8, &ResourceSliceSpec::shared_counters),
  });
  return message;
}

const codec::Message& Describe(const ResourceSlice*) {
  static const codec::Message message = codec::MessageOf<ResourceSlice>("ResourceSlice", {
      codec::Field("metadata", 1, &ResourceSlice::metadata),
      codec::Field("spec", 2, &ResourceSlice::spec),
  }).Ignore({"apiVersion", "kind"});
  return message;
}

// clang-format on

}  // namespace v1beta1

namespace {

ResourceClaimSpec Converted(v1beta1::ResourceClaimSpec old) {
  ResourceClaimSpec spec;
  spec.devices.constraints = std::move(old.devices.constraints);
  spec.devices.config = std::move(old.devices.config);
  for (v1beta1::DeviceRequest& request : old.devices.requests) {
    DeviceRequest& made = spec.devices.requests.emplace_back();
    made.name = std::move(request.name);
    made.first_available = std::move(request.first_available);
    if (made.first_available.empty()) made.exactly = std::move(request.exactly);
  }
  return spec;
}

void Convert(v1beta1::ResourceClaim old, ResourceClaim& claim) {
  claim.metadata = std::move(old.metadata);
  claim.spec = Converted(std::move(old.spec));
  claim.status = std::move(old.status);
}

void Convert(v1beta1::ResourceClaimTemplate old, ResourceClaimTemplate& made) {
  made.metadata = std::move(old.metadata);
  made.spec.metadata = std::move(old.spec.metadata);
  made.spec.spec = Converted(std::move(old.spec.spec));
}

void Convert(v1beta1::ResourceSlice old, ResourceSlice& slice) {
  slice.metadata = std::move(old.metadata);
  slice.spec.driver = std::move(old.spec.driver);
  slice.spec.pool = std::move(old.spec.pool);
  // Since v1 an absent name differs from an empty one.
  if (!old.spec.node_name.empty()) slice.spec.node_name = std::move(old.spec.node_name);
  slice.spec.node_selector = std::move(old.spec.node_selector);
  if (old.spec.all_nodes) slice.spec.all_nodes = true;
  slice.spec.per_device_node_selection = old.spec.per_device_node_selection;
  slice.spec.shared_counters = std::move(old.spec.shared_counters);
  for (v1beta1::Device& device : old.spec.devices) {
    device.basic.name = std::move(device.name);
    slice.spec.devices.push_back(std::move(device.basic));
  }
}

template <class Old, class New>
void DecodeAs(const codec::Value& value, void* object, const codec::DecodeOptions& options,
              std::vector<codec::Diagnostic>& problems, const std::string& path) {
  Old old;
  codec::Decode(value, codec::DescriptionOf<Old>(), &old, options, problems, path);
  Convert(std::move(old), *static_cast<New*>(object));
}

}  // namespace

bool HasV1beta1Form(Kind kind, std::string_view api_version) {
  if (api_version != "resource.k8s.io/v1beta1") return false;
  return kind == Kind::kResourceClaim || kind == Kind::kResourceClaimTemplate || kind == Kind::kResourceSlice;
}

void DecodeV1beta1(Kind kind, const codec::Value& value, void* object, const codec::DecodeOptions& options,
                   std::vector<codec::Diagnostic>& problems, const std::string& path) {
  switch (kind) {
    case Kind::kResourceClaim:
      return DecodeAs<v1beta1::ResourceClaim, ResourceClaim>(value, object, options, problems, path);
    case Kind::kResourceClaimTemplate:
      return DecodeAs<v1beta1::ResourceClaimTemplate, ResourceClaimTemplate>(value, object, options, problems, path);
    case Kind::kResourceSlice:
      return DecodeAs<v1beta1::ResourceSlice, ResourceSlice>(value, object, options, problems, path);
    default:
      CHECK_WHY(false, "the kind has one form in all versions");
  }
}

}  // namespace berth::api
