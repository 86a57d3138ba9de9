// What nodes see, kept up to date slice by slice, against a table that is filled from nothing.
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "dra/testing/devices.h"

namespace berth::dra {
namespace {

using namespace testing;  // NOLINT: builders

using SlicePointer = std::shared_ptr<const api::ResourceSlice>;

std::shared_ptr<const api::Node> NodeInZone(const std::string& name, const std::string& zone) {
  auto node = std::make_shared<api::Node>();
  node->metadata.name = name;
  node->metadata.labels.Set(Symbol("zone"), Symbol(zone));
  return node;
}

api::NodeSelector ZoneSelector(const std::string& op, const std::string& zone) {
  api::NodeSelector selector;
  selector.node_selector_terms.push_back({{{Symbol("zone"), op, {Symbol(zone)}}}, {}});
  return selector;
}

void ChooseNodes(base::Random& random, api::ResourceSlice& slice) {
  slice.spec.node_name.reset();
  switch (random.Below(10)) {
    case 0:
      slice.spec.all_nodes = true;
      break;
    case 1:
    case 2:
    case 3:
      slice.spec.node_selector = ZoneSelector("In", random.Below(2) ? "a" : "b");
      break;
    case 4:
      slice.spec.per_device_node_selection = true;
      for (api::Device& device : slice.spec.devices) device.node_name = "n" + std::to_string(random.Below(4));
      break;
    case 5:
      // Now and then one that cannot be read.
      slice.spec.node_selector = ZoneSelector(random.Below(4) ? "NotIn" : "Beside", "a");
      break;
    default:
      slice.spec.node_name = "n" + std::to_string(random.Below(4));
  }
}

SlicePointer RandomSlice(base::Random& random, const std::string& name) {
  auto slice = MakeSlice("x", {});
  slice->metadata.name = name;
  if (random.Below(4) == 0) slice->spec.driver = "nic.example.com";
  slice->spec.pool = {"pool-" + std::to_string(random.Below(3)), static_cast<int64_t>(1 + random.Below(5) / 4),
                      static_cast<int64_t>(1 + random.Below(3))};
  for (uint64_t i = 0, count = random.Below(4); i < count; ++i) {
    const std::string prefix = random.Below(20) == 0 ? "g" : name + "-";
    api::Device& device = slice->spec.devices.emplace_back(MakeDevice(prefix + std::to_string(i)));
    if (random.Below(8) == 0) device.binding_conditions = {"Ready"};
    if (random.Below(4) == 0) device.consumes_counters = {{"set", {{"a", {api::Quantity::FromInt(1)}}}}};
  }
  ChooseNodes(random, *slice);
  if (random.Below(5) == 0) {
    slice->spec.devices.clear();
    slice->spec.shared_counters = {{"set", {{"a", {api::Quantity::FromInt(3)}}}}};
  }
  return slice;
}

std::string TextOf(const NodePools& seen) {
  if (!seen.pools) return seen.pools.error().message;
  std::string text;
  for (const PoolPtr& pool : *seen.pools) {
    text += pool->key.first + "/" + pool->key.second + (pool->incomplete ? " incomplete" : "") + pool->invalid_reason;
    for (const Pool::Device& device : pool->devices) {
      text += " " + device.object().name;
      EXPECT_EQ(device.pool, pool.get());
    }
    text += "; ";
  }
  return text + std::to_string(seen.devices) + (seen.is_shareable ? " shareable" : "") +
         (seen.has_unusable ? " unusable" : "");
}

TEST(PoolsTwin, ChangesOneByOneLeadToWhatAFreshTableShows) {
  std::map<std::string, int> seen_texts;
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    base::Random random(seed);
    Inventory kept{Features()};
    std::vector<std::shared_ptr<const api::Node>> nodes;
    for (int i = 0; i < 4; ++i) nodes.push_back(NodeInZone("n" + std::to_string(i), i % 2 ? "a" : "b"));
    std::map<std::string, SlicePointer> slices;
    for (int step = 0; step < 40; ++step) {
      const std::string name = "s" + std::to_string(random.Below(8));
      SlicePointer& place = slices[name];
      const SlicePointer before = place;
      place = before && random.Below(3) == 0 ? nullptr : RandomSlice(random, name);
      kept.Follow(before, place);
      if (random.Below(10) == 0) nodes[0] = NodeInZone("n0", random.Below(2) ? "a" : "b");
      Inventory fresh{Features()};
      for (const auto& [key, slice] : slices) {
        if (slice) fresh.Follow({}, slice);
      }
      for (uint32_t i = 0; i < nodes.size(); ++i) {
        // Not every node is asked after each change.
        if (random.Below(3) == 0) continue;
        const std::string text = TextOf(fresh.pools().PoolsOf(nodes[i], i));
        const uint64_t set_before = kept.pools().PoolsOf(nodes[i], i).set;
        EXPECT_EQ(TextOf(kept.pools().PoolsOf(nodes[i], i)), text) << "seed " << seed << " step " << step;
        EXPECT_EQ(kept.pools().PoolsOf(nodes[i], i).set, set_before);
        ++seen_texts[text];
      }
    }
  }
  EXPECT_GT(seen_texts.size(), 2000u) << "the clusters should differ";
}

}  // namespace
}  // namespace berth::dra
