// For tests: scripted plugins, each for one extension point (or for two that belong together).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/ticket.h"
#include "config/types.h"
#include "framework/registry.h"

namespace berth::engine::testing {

using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

class Named : public framework::Plugin {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }

 private:
  std::string name_;
};

class Sorter final : public Named, public framework::QueueSortPlugin {
 public:
  using Named::Named;
  bool Less(const framework::QueuedPodView& a, const framework::QueuedPodView& b) const override {
    return a.added < b.added;
  }
};

class Binder final : public Named, public framework::BindPlugin {
 public:
  Binder(std::string name, std::function<Status()> bind) : Named(std::move(name)), bind_(std::move(bind)) {}
  Status Bind(framework::BindingHandle&, CycleState&, const PodInfo&, const std::string&) override { return bind_(); }

 private:
  std::function<Status()> bind_;
};

class PreEnqueuer final : public Named, public framework::PreEnqueuePlugin {
 public:
  PreEnqueuer(std::string name, Status answer) : Named(std::move(name)), answer_(std::move(answer)) {}
  Status PreEnqueue(const PodInfo&) const override { return answer_; }

 private:
  Status answer_;
};

using FilterFn = std::function<Status(const PodInfo&, const NodeInfo&)>;

// Signs by the pod's label "shape".
class Filterer final : public Named, public framework::FilterPlugin, public framework::SignPlugin {
 public:
  Filterer(std::string name, FilterFn filter, framework::DependsOn depends_on = framework::DependsOn::kAnything)
      : Named(std::move(name)), filter_(std::move(filter)), depends_on_(depends_on) {}
  Status Filter(const CycleState&, const PodInfo& pod, const NodeInfo& node) const override {
    return filter_(pod, node);
  }
  framework::DependsOn filter_depends_on() const override { return depends_on_; }
  bool Sign(const PodInfo& pod, framework::SignatureBuilder& signature) const override {
    const Symbol* shape = pod.labels().Find(Symbol("shape"));
    signature.Add("shape", shape ? shape->str() : "");
    return true;
  }

 private:
  FilterFn filter_;
  framework::DependsOn depends_on_;
};

class PreFilterer final : public Named, public framework::PreFilterPlugin, public framework::FilterPlugin {
 public:
  PreFilterer(std::string name, std::function<framework::PreFilterResult()> pre_filter, FilterFn filter = {})
      : Named(std::move(name)), pre_filter_(std::move(pre_filter)), filter_(std::move(filter)) {}
  framework::PreFilterResult PreFilter(CycleState&, const PodInfo&) const override { return pre_filter_(); }
  Status AddPod(CycleState&, const PodInfo&, const PodInfo&, const NodeInfo&) const override {
    ++added;
    return add_answer;
  }
  Status Filter(const CycleState&, const PodInfo& pod, const NodeInfo& node) const override {
    return filter_ ? filter_(pod, node) : Status::Success();
  }

  mutable int added = 0;
  Status add_answer;

 private:
  std::function<framework::PreFilterResult()> pre_filter_;
  FilterFn filter_;
};

class PostFilterer final : public Named, public framework::PostFilterPlugin {
 public:
  PostFilterer(std::string name, framework::PostFilterResult answer)
      : Named(std::move(name)), answer_(std::move(answer)) {}
  framework::PostFilterResult PostFilter(CycleState&, const PodInfo&, const framework::NodeToStatus&) const override {
    return answer_;
  }

 private:
  framework::PostFilterResult answer_;
};

using ScoreFn = std::function<framework::ScoreResult(const NodeInfo&)>;

class Scorer : public Named, public framework::ScorePlugin, public framework::SignPlugin {
 public:
  Scorer(std::string name, ScoreFn score, framework::DependsOn depends_on = framework::DependsOn::kAnything)
      : Named(std::move(name)), score_(std::move(score)), depends_on_(depends_on) {}
  framework::ScoreResult Score(const CycleState&, const PodInfo&, const NodeInfo& node) const override {
    return score_(node);
  }
  framework::DependsOn score_depends_on() const override { return depends_on_; }
  bool Sign(const PodInfo&, framework::SignatureBuilder&) const override { return true; }

 private:
  ScoreFn score_;
  framework::DependsOn depends_on_;
};

class PreScorer final : public Scorer, public framework::PreScorePlugin {
 public:
  PreScorer(std::string name, Status pre_score, ScoreFn score)
      : Scorer(std::move(name), std::move(score)), pre_score_(std::move(pre_score)) {}
  Status PreScore(CycleState&, const PodInfo&, std::span<const NodeInfo* const>) const override { return pre_score_; }

 private:
  Status pre_score_;
};

// Logs the calls it gets.
class Reserver final : public Named, public framework::ReservePlugin {
 public:
  Reserver(std::string name, std::vector<std::string>* log, std::function<Status()> reserve = {})
      : Named(std::move(name)), log_(log), reserve_(std::move(reserve)) {}
  Status Reserve(CycleState&, const PodInfo&, const std::string&) override {
    log_->push_back("reserve " + std::string(name()));
    return reserve_ ? reserve_() : Status::Success();
  }
  void Unreserve(CycleState&, const PodInfo&, const std::string&) override {
    log_->push_back("unreserve " + std::string(name()));
  }

 private:
  std::vector<std::string>* log_;
  std::function<Status()> reserve_;
};

class Permitter final : public Named, public framework::PermitPlugin {
 public:
  // `attempt`: set to the attempt that was asked about last.
  Permitter(std::string name, framework::PermitResult answer, base::Ticket* attempt = nullptr)
      : Named(std::move(name)), answer_(std::move(answer)), attempt_(attempt) {}
  framework::PermitResult Permit(CycleState& state, const PodInfo&, const std::string&) override {
    if (attempt_) *attempt_ = state.attempt;
    return answer_;
  }

 private:
  framework::PermitResult answer_;
  base::Ticket* attempt_;
};

class PreBinder final : public Named, public framework::PreBindPlugin {
 public:
  PreBinder(std::string name, std::vector<std::string>* log, Status pre_flight, Status pre_bind = {})
      : Named(std::move(name)), log_(log), pre_flight_(std::move(pre_flight)), pre_bind_(std::move(pre_bind)) {}
  framework::PreBindPreFlightResult PreBindPreFlight(const CycleState&, const PodInfo&, const std::string&) override {
    log_->push_back("pre-flight " + std::string(name()));
    return {pre_flight_};
  }
  Status PreBind(framework::BindingHandle&, CycleState&, const PodInfo&, const std::string&) override {
    log_->push_back("pre-bind " + std::string(name()));
    return pre_bind_;
  }

 private:
  std::vector<std::string>* log_;
  Status pre_flight_;
  Status pre_bind_;
};

// Registers a plugin that is made anew, from the same arguments, for each profile.
template <class T, class... Args>
void Add(framework::Registry& registry, const std::string& name, Args... args) {
  const Result<void> added = registry.Register(
      name,
      [name, args...](const config::PluginArgs&, framework::Handle&) -> Result<std::unique_ptr<framework::Plugin>> {
        return std::unique_ptr<framework::Plugin>(std::make_unique<T>(name, args...));
      },
      "a test");
  CHECK(added.ok());
}

// With "Sort" and "Bind", without which no profile works.
inline framework::Registry MinimalRegistry() {
  framework::Registry registry;
  Add<Sorter>(registry, "Sort");
  Add<Binder>(registry, "Bind", std::function<Status()>([] { return Status::Success(); }));
  return registry;
}

inline std::vector<config::Plugin> PluginsNamed(const std::vector<std::string>& names) {
  std::vector<config::Plugin> plugins;
  for (const std::string& name : names) plugins.push_back({name, 0});
  return plugins;
}

// "Sort", "Bind" and these, all by multiPoint.
inline config::Profile ProfileOf(const std::vector<std::string>& names) {
  config::Profile profile;
  profile.scheduler_name = "default-scheduler";
  profile.plugins.multi_point.enabled = PluginsNamed({"Sort", "Bind"});
  for (const std::string& name : names) profile.plugins.multi_point.enabled.push_back({name, 0});
  return profile;
}

}  // namespace berth::engine::testing
