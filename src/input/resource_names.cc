#include "input/resource_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "api/label_syntax.h"
#include "base/printable.h"
#include "base/spelling.h"

namespace berth::input {

namespace {

constexpr std::string_view kOfContainers[] = {"cpu", "memory", "ephemeral-storage"};
constexpr std::string_view kOfNodes[] = {"cpu", "memory", "ephemeral-storage", "pods", "storage", "attachable-volumes"};
constexpr std::string_view kOfQuotas[] = {"cpu",
                                          "memory",
                                          "ephemeral-storage",
                                          "requests.cpu",
                                          "requests.memory",
                                          "requests.ephemeral-storage",
                                          "requests.storage",
                                          "limits.cpu",
                                          "limits.memory",
                                          "limits.ephemeral-storage",
                                          "persistentvolumeclaims",
                                          "pods",
                                          "services",
                                          "services.nodeports",
                                          "services.loadbalancers",
                                          "replicationcontrollers",
                                          "resourcequotas",
                                          "secrets",
                                          "configmaps"};
constexpr std::string_view kHugePages = "hugepages-";
constexpr std::string_view kNative = "kubernetes.io/";

// More than any machine will have for a long time, and small enough that the requests of all pods of a node can be
// summed.
constexpr int64_t kMostCores = 1'000'000;
constexpr int64_t kMostBytes = int64_t{1} << 50;
constexpr int64_t kMostOthers = int64_t{1} << 40;

bool IsOneOf(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "; did you mean memory?"
std::string Guess(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view wanted = name.substr(0, 64);
  if (wanted == "gpu" || wanted == "gpus") return "; did you mean nvidia.com/gpu?";
  if (wanted == "storage" || wanted == "disk") return "; did you mean ephemeral-storage?";
  if (wanted == "mem" || wanted == "ram") return "; did you mean memory?";
  const std::string_view meant = base::NearestWord(wanted, known);
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

bool IsBytes(std::string_view name) {
  return name == "memory" || name == "ephemeral-storage" || name == "storage" || name.starts_with(kHugePages);
}

}  // namespace

std::string ContainerResourceProblem(std::string_view name) {
  if (IsOneOf(name, kOfContainers) || name.starts_with(kHugePages)) return {};
  const std::vector<std::string> bad = api::LabelKeyProblems(name);
  if (!bad.empty()) return fmt::format("\"{}\" is no name of a resource: {}", base::Clipped(name), bad.front());
  if (name.find('/') == std::string_view::npos) {
    return fmt::format(
        "\"{}\" must be a standard resource for containers (cpu, memory, ephemeral-storage, hugepages-*) "
        "or fully qualified, as in example.com/name{}",
        name, Guess(name, kOfContainers));
  }
  const bool native = name.find(kNative) != std::string_view::npos;
  if (!native && !api::IsExtendedResourceName(name)) {
    return fmt::format("\"{}\" doesn't follow extended resource name standard", name);
  }
  return {};
}

std::string NodeResourceProblem(std::string_view name) {
  const std::vector<std::string> bad = api::LabelKeyProblems(name);
  if (!bad.empty()) return fmt::format("\"{}\" is no name of a resource: {}", base::Clipped(name), bad.front());
  if (name.find('/') != std::string_view::npos || IsOneOf(name, kOfNodes) || name.starts_with(kHugePages)) return {};
  if (name.starts_with("attachable-volumes-")) return {};
  const std::string guess = Guess(name, kOfNodes);
  return guess.empty() ? "" : fmt::format("\"{}\" is no resource that berth knows{}", name, guess);
}

std::string QuotaResourceProblem(std::string_view name) {
  const std::vector<std::string> bad = api::LabelKeyProblems(name);
  if (!bad.empty()) return fmt::format("\"{}\" is no name of a resource: {}", base::Clipped(name), bad.front());
  if (name.find('/') != std::string_view::npos || IsOneOf(name, kOfQuotas)) return {};
  if (name.starts_with(kHugePages) || name.starts_with("requests.hugepages-")) return {};
  const std::string_view meant = base::NearestWord(name.substr(0, 64), kOfQuotas);
  return fmt::format("\"{}\" must be a standard resource for quota, or fully qualified{}", name,
                     meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
}

std::string AmountProblem(std::string_view name, const api::Quantity& amount) {
  if (amount.Sign() <= 0) return {};
  const bool cpu = name == "cpu";
  const int64_t most = cpu ? kMostCores : IsBytes(name) ? kMostBytes : kMostOthers;
  if (amount > api::Quantity::FromInt(most)) {
    const api::Quantity limit = api::Quantity::FromInt(
        most, IsBytes(name) ? api::Quantity::Format::kBinarySI : api::Quantity::Format::kDecimalSI);
    return fmt::format("cannot be meant: expected at most {}, found {}", limit.ToString(),
                       base::Clipped(amount.ToString()));
  }
  const bool whole = name == "pods" || name.find('/') != std::string_view::npos;
  if (whole && amount != api::Quantity::FromInt(amount.Value())) {
    return fmt::format("must be an integer, found {}", amount.ToString());
  }
  return {};
}

}  // namespace berth::input
