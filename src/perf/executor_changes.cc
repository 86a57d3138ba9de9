// The operations that change and delete objects, some of them slowly in the background.
#include <fmt/format.h>

#include "perf/executor.h"

namespace berth::perf {

namespace {

constexpr int64_t kDefaultChurnMilliseconds = 500;

base::Duration PerSecond(int64_t times) { return base::Duration(std::chrono::seconds(1)) / times; }

}  // namespace

Result<void> Executor::UpdateAny(const Operation& operation) {
  const int64_t count = operation.count.value_or(1);
  const auto update = [this, &operation, count](int64_t index) -> Result<void> {
    Result<api::Object> object = MakeAny(operation.template_path, operation.name_space, index, count);
    if (!object) return object.error();
    return cluster_.Update(*object);
  };
  if (operation.update_per_second == 0) {
    for (int64_t i = 0; i < count; ++i) {
      if (Result<void> updated = update(i); !updated) return updated;
    }
    return {};
  }
  int64_t next = 0;
  const std::shared_ptr<bool> done = StartTicker(PerSecond(operation.update_per_second), [&]() -> Result<bool> {
    if (next >= count) return false;
    if (Result<void> updated = update(next++); !updated) return updated.error();
    return next < count;
  });
  return RunUntil([&] { return *done; }, [&] { return fmt::format("to update {} objects; {} are", count, next); });
}

Result<void> Executor::DeletePods(const Operation& operation) {
  const std::string name_space = operation.name_space.value_or("");
  const PodFilter filter({name_space}, operation.label_selector);
  auto names = std::make_shared<std::vector<std::string>>();
  for (const InMemoryCluster::PodRecord* record : cluster_.Pods()) {
    if (filter.Matches(*record->pod)) names->push_back(record->pod->metadata.name);
  }
  if (operation.delete_pods_per_second == 0) {
    for (const std::string& name : *names) (void)cluster_.Delete(api::Kind::kPod, name_space, name);
    return {};
  }
  auto next = std::make_shared<size_t>(0);
  const std::shared_ptr<bool> done =
      StartTicker(PerSecond(operation.delete_pods_per_second), [this, names, next, name_space]() -> Result<bool> {
        if (*next >= names->size()) return false;
        (void)cluster_.Delete(api::Kind::kPod, name_space, (*names)[(*next)++]);
        return *next < names->size();
      });
  if (operation.skip_wait_to_completion) return {};
  return RunUntil([&] { return *done; },
                  [&] { return fmt::format("to delete {} pods; {} are", names->size(), *next); });
}

// create: one of each template every interval, `number` times or forever. recreate: the objects have `number` slots;
// each turn fills the next slot, or empties it if it is full.
Result<void> Executor::Churn(const Operation& operation) {
  const std::string name_space = NamespaceOf(operation);
  if (!cluster_.HasNamespace(name_space)) {
    if (Result<void> made = EnsureNamespace(name_space); !made) return made;
    pods_wanted_.erase(name_space);  // a barrier does not wait for churning pods
  }
  struct CreatedObject {
    api::Kind kind;
    std::string name_space;
    std::string name;  // empty: none
  };
  struct State {
    int64_t turn = 0;
    std::vector<std::vector<CreatedObject>> slots;  // by template
  };
  auto state = std::make_shared<State>();
  const bool recreate = operation.mode == "recreate";
  if (recreate) {
    state->slots.assign(operation.template_paths.size(),
                        std::vector<CreatedObject>(static_cast<size_t>(operation.number), CreatedObject{}));
  }
  const auto create = [this, name_space](const std::string& path) -> Result<CreatedObject> {
    Result<api::Object> made = templates_.MakeAny(suite_.PathOf(path), 0, 1);
    if (!made) return made.error();
    Result<api::Object> admitted = cluster_.Admit(*made, name_space);
    if (!admitted) return admitted.error();
    // Upstream continues if an object of that name still exists.
    if (!cluster_.Create(*admitted)) return CreatedObject{};
    const api::ObjectMeta& metadata = admitted->metadata();
    return CreatedObject{admitted->kind(), std::string(metadata.namespace_.str()), metadata.name};
  };
  // A template that cannot be read is reported at once, not at the first tick.
  for (const std::string& path : operation.template_paths) {
    if (Result<api::Object> made = templates_.MakeAny(suite_.PathOf(path), 0, 1); !made) return made.error();
  }
  const int64_t interval =
      operation.interval_milliseconds == 0 ? kDefaultChurnMilliseconds : operation.interval_milliseconds;
  (void)StartTicker(std::chrono::milliseconds(interval), [this, &operation, state, create, recreate]() -> Result<bool> {
    const int64_t turn = state->turn++;
    for (size_t i = 0; i < operation.template_paths.size(); ++i) {
      CreatedObject* slot = recreate ? &state->slots[i][static_cast<size_t>(turn % operation.number)] : nullptr;
      if (slot && !slot->name.empty()) {
        (void)cluster_.Delete(slot->kind, slot->name_space, slot->name);
        slot->name.clear();
        continue;
      }
      Result<CreatedObject> created = create(operation.template_paths[i]);
      if (!created) return created.error();
      if (slot) *slot = std::move(*created);
    }
    return recreate || operation.number == 0 || state->turn < operation.number;
  });
  return {};
}

}  // namespace berth::perf
