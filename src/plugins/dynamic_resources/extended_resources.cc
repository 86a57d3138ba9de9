#include "plugins/dynamic_resources/extended_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "framework/pod_resources.h"

namespace berth::plugins {
namespace {

using Mappings = std::vector<api::ContainerExtendedResourceRequest>;

struct Asked {
  std::optional<api::DeviceRequest> request;  // absent: nothing more is needed
  Mappings mappings;
};

struct Place {
  const api::Container* container;
  size_t index;  // init containers first
  bool is_short_lived;
};

std::vector<Place> PlacesOf(const api::Pod& pod) {
  std::vector<Place> places;
  for (const api::Container& container : pod.spec.init_containers) {
    places.push_back({&container, places.size(), !framework::IsRestartableInit(container)});
  }
  for (const api::Container& container : pod.spec.containers) places.push_back({&container, places.size(), false});
  return places;
}

// What one container asks for of one resource, after the requests that it may use before its own.
Asked Ask(const Place& place, const Symbol& resource, const std::string& class_name,
          std::span<const std::optional<api::DeviceRequest>> reusable) {
  Asked asked;
  const api::ResourceList& requests = place.container->resources.requests;
  const api::Quantity* amount = requests.Find(resource);
  if (!amount || amount->IsZero() || amount->nanos() % 1'000'000'000 != 0) return asked;
  const int64_t wanted = amount->Value();
  int64_t found = 0;
  const auto map_to = [&](const std::string& request) {
    asked.mappings.push_back({place.container->name, std::string(resource.str()), request});
  };
  for (const std::optional<api::DeviceRequest>& other : reusable) {
    if (!other) continue;
    found += other->exactly->count;
    map_to(other->name);
    if (found >= wanted) return asked;
  }
  size_t number = 0;  // among the names of the container's requests
  for (const auto& [name, unused] : requests) number += name < resource ? 1 : 0;
  api::DeviceRequest& request = asked.request.emplace();
  request.name = fmt::format("container-{}-request-{}", place.index, number);
  request.exactly.emplace();
  request.exactly->device_class_name = class_name;
  request.exactly->allocation_mode = "ExactCount";
  request.exactly->count = wanted - found;
  map_to(request.name);
  return asked;
}

void AddResource(const std::vector<Place>& places, const Symbol& resource, const std::string& class_name,
                 ExtendedRequests& result) {
  std::vector<std::optional<api::DeviceRequest>> long_lived(places.size());
  for (const Place& place : places) {
    if (place.is_short_lived) continue;
    Asked asked = Ask(place, resource, class_name, {});
    long_lived[place.index] = std::move(asked.request);
    result.mappings.insert(result.mappings.end(), asked.mappings.begin(), asked.mappings.end());
  }
  std::optional<api::DeviceRequest> most;
  std::set<std::string> short_lived_names;
  Mappings short_lived_mappings;
  for (const Place& place : places) {
    if (!place.is_short_lived) continue;
    Asked asked = Ask(place, resource, class_name, std::span(long_lived).subspan(place.index));
    short_lived_mappings.insert(short_lived_mappings.end(), asked.mappings.begin(), asked.mappings.end());
    if (!asked.request) continue;
    short_lived_names.insert(asked.request->name);
    if (!most || most->exactly->count < asked.request->exactly->count) most = std::move(asked.request);
  }
  for (api::ContainerExtendedResourceRequest& mapping : short_lived_mappings) {
    if (most && short_lived_names.contains(mapping.request_name)) mapping.request_name = most->name;
  }
  if (most) result.requests.push_back(std::move(*most));
  for (std::optional<api::DeviceRequest>& request : long_lived) {
    if (request) result.requests.push_back(std::move(*request));
  }
  result.mappings.insert(result.mappings.end(), short_lived_mappings.begin(), short_lived_mappings.end());
}

}  // namespace

ExtendedRequests MakeExtendedRequests(const api::Pod& pod, const std::vector<Symbol>& resources,
                                      const dra::ClassNames& classes) {
  ExtendedRequests result;
  const std::vector<Place> places = PlacesOf(pod);
  std::vector<Symbol> sorted = resources;
  std::sort(sorted.begin(), sorted.end());
  for (const Symbol& resource : sorted) {
    const api::DeviceClass* device_class = classes.Find(resource);
    if (device_class) AddResource(places, resource, device_class->metadata.name, result);
  }
  std::sort(result.requests.begin(), result.requests.end(),
            [](const api::DeviceRequest& a, const api::DeviceRequest& b) { return a.name < b.name; });
  return result;
}

bool AsksForServedResource(const framework::PodInfo& pod, const dra::ClassNames& classes) {
  if (classes.empty()) return false;
  return std::any_of(pod.requests().scalar.begin(), pod.requests().scalar.end(), [&](const auto& entry) {
    return entry.second != 0 && dra::IsExtendedResource(entry.first.str()) && classes.Find(entry.first);
  });
}

}  // namespace berth::plugins
