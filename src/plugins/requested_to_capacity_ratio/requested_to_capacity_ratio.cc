#include "plugins/requested_to_capacity_ratio/requested_to_capacity_ratio.h"

#include "plugins/args.h"

namespace berth::plugins {

Result<std::unique_ptr<framework::Plugin>> RequestedToCapacityRatio::Create(const config::PluginArgs& args,
                                                                            framework::Handle& handle) {
  const auto mine = ReadArgs<config::RequestedToCapacityRatioArgs>(args, kName);
  if (!mine) return mine.error();
  // There is no default curve: enabling the plugin without arguments is a mistake.
  if (mine->shape.empty()) return Error::InvalidArgument("shape: Required value: at least one point must be specified");
  return std::unique_ptr<framework::Plugin>(
      new RequestedToCapacityRatio(UtilizationCurve(mine->shape), mine->resources, handle));
}

}  // namespace berth::plugins
