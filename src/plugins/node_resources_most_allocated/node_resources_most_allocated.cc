#include "plugins/node_resources_most_allocated/node_resources_most_allocated.h"

#include "plugins/args.h"

namespace berth::plugins {

Result<std::unique_ptr<framework::Plugin>> NodeResourcesMostAllocated::Create(const config::PluginArgs& args,
                                                                              framework::Handle& handle) {
  const auto mine = ReadArgs<config::NodeResourcesMostAllocatedArgs>(args, kName);
  if (!mine) return mine.error();
  return std::unique_ptr<framework::Plugin>(new NodeResourcesMostAllocated(MostAllocated(), mine->resources, handle));
}

}  // namespace berth::plugins
