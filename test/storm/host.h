// Host: runs one scheduler process, and acts as the kubelet that restarts it whenever it ends.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "storm/instance.h"
#include "storm/process.h"

namespace berth::storm {

class Host {
 public:
  using Report = std::function<void(std::string invariant, std::string message, std::vector<std::string> subjects)>;

  using OnBinding = std::function<void(const Process& process, const SentBinding& binding)>;

  // `on_life` is called for each new instance, `on_binding` before each binding that one sends.
  Host(Timeline& timeline, Network& network, Trace& trace, const Scheduler& scheduler, std::string name,
       const Plan& plan, uint64_t seed, std::function<void(const Host& host)> on_life, Report report,
       OnBinding on_binding);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void Launch();
  // Ends the process at once; it is restarted some seconds later.
  void Crash();
  void Terminate();
  void SilenceWatches();
  void Pause(base::Duration how_long);
  void Partition(base::Duration how_long, bool breaks_connections);

  Process& process() { return process_; }
  const Process& process() const { return process_; }
  // Null while it is down.
  const Instance* instance() const { return instance_.get(); }
  bool is_leader() const { return instance_ != nullptr && instance_->is_leader(); }

 private:
  // Destroys the instance of that life, unless another has started.
  void End(int life);

  Timeline& timeline_;
  Network& network_;
  Trace& trace_;
  const Scheduler& scheduler_;
  const Plan& plan_;
  base::Random random_;
  const std::function<void(const Host& host)> on_life_;
  const Report report_;
  const OnBinding on_binding_;
  Process process_;
  std::unique_ptr<Instance> instance_;
};

}  // namespace berth::storm
