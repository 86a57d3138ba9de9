// ImageTable: which images are on how many nodes, and how large they are; ImageLocality scores by it.
// The first node to report an image decides its size. Not thread-safe; owned by the scheduling thread.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "api/node.h"
#include "base/symbol.h"
#include "framework/node_info.h"

namespace berth::cluster {

class ImageTable {
 public:
  using NodeImages = std::vector<std::pair<Symbol, std::shared_ptr<const framework::ImageState>>>;

  // Registers what the node reports and returns its images by name. Call Remove first when the node was here before.
  NodeImages Add(const api::Node& node);
  void Remove(const api::Node& node);
  bool Has(std::string_view name) const { return !images_.empty() && images_.contains(Symbol(name)); }

 private:
  struct Entry {
    std::shared_ptr<framework::ImageState> state;
    std::unordered_set<std::string> nodes;
  };
  std::unordered_map<Symbol, Entry> images_;
};

}  // namespace berth::cluster
