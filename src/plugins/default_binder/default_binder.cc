#include "plugins/default_binder/default_binder.h"

#include "plugins/args.h"

namespace berth::plugins {

Result<std::unique_ptr<framework::Plugin>> DefaultBinder::Create(const config::PluginArgs& args, framework::Handle&) {
  if (const Result<void> none = ExpectNoArgs(args, kName); !none) return none.error();
  return std::unique_ptr<framework::Plugin>(new DefaultBinder);
}

framework::Status DefaultBinder::Bind(framework::BindingHandle& handle, framework::CycleState&,
                                      const framework::PodInfo& pod, const std::string& node_name) {
  return handle.api().Bind(pod, node_name);
}

}  // namespace berth::plugins
