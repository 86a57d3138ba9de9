// The operations of dynamic resource allocation: a driver with devices on nodes, and claims.
#include <fmt/format.h>
#include <fnmatch.h>

#include "api/resource_claim.h"
#include "perf/executor.h"

namespace berth::perf {

namespace {

// The devices that upstream's test driver offers on a node.
api::ResourceSlice SliceOfDriver(const std::string& driver, const std::string& node, int64_t devices) {
  api::ResourceSlice slice;
  slice.metadata.name = node;
  slice.spec.driver = driver;
  slice.spec.node_name = node;
  slice.spec.pool.name = node;
  slice.spec.pool.resource_slice_count = 1;
  for (int64_t i = 0; i < devices; ++i) {
    api::Device& device = slice.spec.devices.emplace_back();
    device.name = fmt::format("instance-{}", i);
    device.attributes["model"].string_value = "A100";
    device.attributes["family"].string_value = "GPU";
    device.attributes["driverVersion"].version_value = "1.2.3";
    device.attributes["dra.example.com/numa"].int_value = i;
    device.capacity["memory"].value = *api::Quantity::Parse("1Gi");
  }
  return slice;
}

}  // namespace

Result<void> Executor::CreateResourceDriver(const Operation& operation) {
  for (const std::string& node : cluster_.NodeNames()) {
    if (fnmatch(operation.nodes.c_str(), node.c_str(), FNM_PATHNAME) != 0) continue;
    Result<api::Object> admitted = cluster_.Admit(
        api::MakeObject(SliceOfDriver(operation.driver_name, node, operation.max_claims_per_node.value_or(0))), "");
    if (!admitted) return admitted.error();
    if (Result<void> created = cluster_.Create(*admitted); !created) return created;
  }
  return {};
}

Result<void> Executor::CreateResourceClaims(const Operation& operation) {
  if (Result<void> made = EnsureNamespace(*operation.name_space); !made) return made;
  const int64_t count = operation.count.value_or(0);
  for (int64_t i = 0; i < count; ++i) {
    Result<api::ResourceClaim> claim =
        templates_.Make<api::ResourceClaim>(suite_.PathOf(operation.template_path), i, count);
    if (!claim) return claim.error();
    Result<api::Object> admitted = cluster_.Admit(api::MakeObject(std::move(*claim)), *operation.name_space);
    if (!admitted) return admitted.error();
    if (Result<void> created = cluster_.Create(*admitted); !created) return created;
  }
  return {};
}

}  // namespace berth::perf
