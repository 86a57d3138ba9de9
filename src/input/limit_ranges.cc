#include "input/limit_ranges.h"

#include <fmt/format.h>

#include <vector>

#include "framework/pod_resources.h"

namespace berth::input {

namespace {

using Report = std::function<void(std::string path, std::string text)>;

void FillMissing(const api::ResourceList& source, api::ResourceList& target) {
  for (const auto& [name, quantity] : source) {
    if (!target.Contains(name)) target.Set(name, quantity);
  }
}

// The defaults written in a LimitRange, and those the API server derives when it is created: a maximum is the default
// limit, a default limit the default request, and a minimum the default request where there is no other.
api::ResourceRequirements DefaultsOf(const api::LimitRange& range) {
  api::ResourceRequirements defaults;
  for (const api::LimitRangeItem& item : range.spec.limits) {
    if (item.type != "Container") continue;
    api::ResourceList limits = item.default_limit;
    FillMissing(item.max, limits);
    api::ResourceList requests = item.default_request;
    FillMissing(limits, requests);
    FillMissing(item.min, requests);
    for (const auto& [name, quantity] : limits) defaults.limits.Set(name, quantity);
    for (const auto& [name, quantity] : requests) defaults.requests.Set(name, quantity);
  }
  return defaults;
}

void Fill(const api::ResourceRequirements& defaults, std::vector<api::Container>& containers) {
  for (api::Container& container : containers) {
    FillMissing(defaults.limits, container.resources.limits);
    FillMissing(defaults.requests, container.resources.requests);
  }
}

// Checks one item of a LimitRange against the amounts of one container, or of a whole pod.
class BoundCheck {
 public:
  BoundCheck(const api::LimitRange& range, const api::LimitRangeItem& item, std::string path, const Report& report)
      : range_(range), item_(item), path_(std::move(path)), report_(report) {}

  void Check(const api::ResourceList& requests, const api::ResourceList& limits) const {
    for (const auto& [name, least] : item_.min) {
      const api::Quantity* request = requests.Find(name);
      if (!request) {
        Tell("requests", name, fmt::format("needs at least {}, and none is given", least.ToString()));
      } else if (*request < least) {
        Tell("requests", name, fmt::format("expected at least {}, found {}", least.ToString(), request->ToString()));
      }
      const api::Quantity* limit = limits.Find(name);
      if (!limit || *limit >= least) continue;
      Tell("limits", name, fmt::format("expected at least {}, found {}", least.ToString(), limit->ToString()));
    }
    for (const auto& [name, most] : item_.max) {
      const api::Quantity* limit = limits.Find(name);
      if (!limit) {
        Tell("limits", name, fmt::format("needs a limit of at most {}, and none is given", most.ToString()));
      } else if (*limit > most) {
        Tell("limits", name, fmt::format("expected at most {}, found {}", most.ToString(), limit->ToString()));
      }
      const api::Quantity* request = requests.Find(name);
      if (!request || *request <= most) continue;
      Tell("requests", name, fmt::format("expected at most {}, found {}", most.ToString(), request->ToString()));
    }
    for (const auto& [name, most] : item_.max_limit_request_ratio) CheckRatio(name, most, requests, limits);
  }

 private:
  void CheckRatio(const Symbol& name, const api::Quantity& most, const api::ResourceList& requests,
                  const api::ResourceList& limits) const {
    const api::Quantity* request = requests.Find(name);
    const api::Quantity* limit = limits.Find(name);
    if (!request || request->IsZero() || !limit || limit->IsZero()) {
      return Tell("limits", name,
                  fmt::format("needs a request and a limit of at most {} times as much", most.ToString()));
    }
    if (limit->AsDouble() / request->AsDouble() <= most.AsDouble()) return;
    Tell("limits", name,
         fmt::format("expected at most {} times the request of {}, found {}", most.ToString(), request->ToString(),
                     limit->ToString()));
  }

  void Tell(std::string_view list, const Symbol& name, std::string_view what) const {
    const std::string field = fmt::format("{}.{}[{}]", path_, list, name.str());
    report_(field,
            fmt::format("{}: LimitRange {} (type {}): {}", field, api::KeyOf(range_.metadata), item_.type, what));
  }

  const api::LimitRange& range_;
  const api::LimitRangeItem& item_;
  const std::string path_;
  const Report& report_;
};

void CheckContainers(const api::LimitRange& range, const api::LimitRangeItem& item, std::string_view path,
                     const std::vector<api::Container>& containers, const Report& report) {
  for (size_t i = 0; i < containers.size(); ++i) {
    BoundCheck(range, item, fmt::format("{}[{}].resources", path, i), report)
        .Check(containers[i].resources.requests, containers[i].resources.limits);
  }
}

void CheckSums(const api::LimitRange& range, const api::LimitRangeItem& item, const api::Pod& pod,
               const Report& report) {
  api::Pod bare = pod;
  bare.spec.overhead = {};
  BoundCheck(range, item, "spec.containers", report)
      .Check(framework::PodRequests(bare, {}), framework::PodLimits(bare));
}

}  // namespace

void FillFromLimitRanges(std::span<const LimitRangePtr> ranges, api::Pod& pod) {
  for (const LimitRangePtr& range : ranges) {
    const api::ResourceRequirements defaults = DefaultsOf(*range);
    Fill(defaults, pod.spec.containers);
    Fill(defaults, pod.spec.init_containers);
  }
}

void CheckLimitRanges(std::span<const LimitRangePtr> ranges, const api::Pod& pod, const Report& report) {
  for (const LimitRangePtr& range : ranges) {
    for (const api::LimitRangeItem& item : range->spec.limits) {
      if (item.type == "Container") {
        CheckContainers(*range, item, "spec.containers", pod.spec.containers, report);
        CheckContainers(*range, item, "spec.initContainers", pod.spec.init_containers, report);
      } else if (item.type == "Pod") {
        CheckSums(*range, item, pod, report);
      }
    }
  }
}

}  // namespace berth::input
