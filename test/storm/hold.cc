#include "storm/hold.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "framework/handle.h"
#include "plugins/registry.h"
#include "storm/plan.h"

namespace berth::storm {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration kHoldTime = 2s;
constexpr uint64_t kSlowestAnswer = 1'500'000'000;  // nanoseconds
// No answer is that late, however long the process pauses.
constexpr base::Duration kAnsweredInTime = 10min;

class Hold final : public framework::Plugin, public framework::PermitPlugin, public framework::EnqueueExtensions {
 public:
  Hold(framework::Handle& handle, base::Loop* answers, uint64_t seed)
      : handle_(handle), answers_(answers), random_(seed) {}

  std::string_view name() const override { return kHoldName; }

  // The room of the pod is taken in the meantime, and free again if it is not allowed.
  framework::PermitResult Permit(framework::CycleState&, const framework::PodInfo& pod, const std::string&) override {
    const Symbol* what = pod.pod().metadata.labels.Find(Symbol(kHeld));
    if (what == nullptr) return {};
    const bool is_allowed = *what == Symbol(kHeldAllowed);
    if (!is_allowed && *what != Symbol(kHeldRejected)) return {framework::Status::Wait(), kHoldTime};
    if (answers_ != nullptr) AnswerLater(pod.uid(), is_allowed);
    return {framework::Status::Wait(), kAnsweredInTime};
  }

  // Not for freed resources: held pods would requeue each other forever.
  std::vector<framework::ClusterEventWithHint> EventsToRegister() const override {
    return {{{framework::EventResource::kNode, framework::ActionType::kAdd}, {}}};
  }

 private:
  // From another thread: directly, or by work that the scheduling thread does.
  void AnswerLater(const std::string& uid, bool is_allowed) {
    const auto answer = [this, uid, is_allowed] {
      is_allowed ? handle_.Allow(uid, std::string(kHoldName))
                 : handle_.Reject(uid, std::string(kHoldName), "rejected by its owner");
    };
    const bool posts = random_.Below(2) == 0;
    answers_->RunAfter(base::Duration(1 + random_.Below(kSlowestAnswer)),
                       [this, answer, posts] { posts ? handle_.Post(answer) : answer(); });
  }

  framework::Handle& handle_;
  base::Loop* const answers_;
  base::Random random_;
};

}  // namespace

framework::Registry PluginsWithHold(base::Loop* answers, uint64_t seed) {
  framework::Registry all = plugins::InTreeRegistry();
  const auto make = [answers, seed](const config::PluginArgs&,
                                    framework::Handle& handle) -> Result<std::unique_ptr<framework::Plugin>> {
    return std::unique_ptr<framework::Plugin>(std::make_unique<Hold>(handle, answers, seed));
  };
  CHECK(all.Register(std::string(kHoldName), make, "storm").ok());
  return all;
}

}  // namespace berth::storm
