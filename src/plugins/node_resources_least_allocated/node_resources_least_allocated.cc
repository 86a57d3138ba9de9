#include "plugins/node_resources_least_allocated/node_resources_least_allocated.h"

#include "plugins/args.h"

namespace berth::plugins {

Result<std::unique_ptr<framework::Plugin>> NodeResourcesLeastAllocated::Create(const config::PluginArgs& args,
                                                                               framework::Handle& handle) {
  const auto mine = ReadArgs<config::NodeResourcesLeastAllocatedArgs>(args, kName);
  if (!mine) return mine.error();
  return std::unique_ptr<framework::Plugin>(new NodeResourcesLeastAllocated(LeastAllocated(), mine->resources, handle));
}

}  // namespace berth::plugins
