// FieldChecks: collects what is wrong with the fields of one object, by path, so that all of it is reported at once.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/labels.h"
#include "api/node_selector.h"
#include "api/resource_list.h"
#include "api/selector.h"

namespace berth::input {

struct FieldProblem {
  std::string path;  // spec.containers[0].resources.requests[cpu]
  std::string what;
  // Lines to show below it, indented and already safe for terminals; usually empty.
  std::string picture = {};

  // "PATH: WHAT"
  std::string ToString() const;
};

class FieldChecks {
 public:
  void Add(std::string path, std::string what) { problems_.push_back({std::move(path), std::move(what)}); }
  void AddWithPicture(std::string path, std::string what, std::string picture) {
    problems_.push_back({std::move(path), std::move(what), std::move(picture)});
  }
  void Required(const std::string& path, bool present);
  void OneOf(const std::string& path, std::string_view value, std::initializer_list<std::string_view> allowed);
  void NotNegative(const std::string& path, const api::ResourceList& amounts);
  // Resource names that a container, or a node, cannot have; and amounts that are negative, fractional where they must
  // be whole, or implausibly large.
  void ContainerResources(const std::string& path, const api::ResourceList& amounts);
  void NodeResources(const std::string& path, const api::ResourceList& amounts);
  // For a claim or a volume, whose only resource is storage.
  void Storage(const std::string& path, const api::ResourceList& amounts);
  void Amounts(const std::string& path, const api::ResourceList& amounts);
  // Empty names are accepted.
  void DnsName(const std::string& path, std::string_view name);   // a subdomain, as the names of most objects
  void DnsLabel(const std::string& path, std::string_view name);  // of a namespace, a container, a volume
  void LabelKey(const std::string& path, std::string_view key);
  void LabelValue(const std::string& path, std::string_view value);
  void LabelMap(const std::string& path, const api::Labels& labels);
  void Selector(const std::string& path, const std::optional<api::LabelSelector>& selector);
  void NodeSelector(const std::string& path, const std::optional<api::NodeSelector>& selector);

  std::vector<FieldProblem> Take() { return std::move(problems_); }

 private:
  std::vector<FieldProblem> problems_;
};

}  // namespace berth::input
