#include "cluster/image_table.h"

#include <algorithm>

namespace berth::cluster {

ImageTable::NodeImages ImageTable::Add(const api::Node& node) {
  NodeImages images;
  for (const api::ContainerImage& image : node.status.images) {
    for (const std::string& name : image.names) {
      const Symbol symbol(name);
      Entry& entry = images_[symbol];
      if (!entry.state)
        entry.state = std::make_shared<framework::ImageState>(framework::ImageState{image.size_bytes, 0});
      if (entry.nodes.insert(node.metadata.name).second) {
        ++entry.state->node_count;
        images.emplace_back(symbol, entry.state);
      }
    }
  }
  std::sort(images.begin(), images.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return images;
}

void ImageTable::Remove(const api::Node& node) {
  for (const api::ContainerImage& image : node.status.images) {
    for (const std::string& name : image.names) {
      const auto it = images_.find(Symbol(name));
      if (it == images_.end() || it->second.nodes.erase(node.metadata.name) == 0) continue;
      --it->second.state->node_count;
      if (it->second.nodes.empty()) images_.erase(it);
    }
  }
}

}  // namespace berth::cluster
