#include "preemption/disruption_budgets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/builders.h"

namespace berth::preemption {
namespace {

using ::berth::testing::MakePdb;
using ::berth::testing::MakePod;
using ::berth::testing::SelectorOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Store = framework::ObjectStore<api::PodDisruptionBudget>;

Store StoreOf(std::vector<api::PodDisruptionBudget> budgets) {
  Store store;
  for (auto& budget : budgets) store.Upsert(std::make_shared<const api::PodDisruptionBudget>(std::move(budget)));
  return store;
}

std::vector<std::string> Violating(const DisruptionBudgets& budgets, const std::vector<framework::PodInfoPtr>& pods) {
  std::vector<const framework::PodInfo*> all;
  for (const framework::PodInfoPtr& pod : pods) all.push_back(pod.get());
  const BudgetVerdicts verdicts = budgets.Judge(all);
  EXPECT_EQ(verdicts.violates.size(), pods.size());
  std::vector<std::string> names;
  for (size_t i = 0; i < pods.size(); ++i) {
    if (verdicts.violates[i]) names.push_back(pods[i]->name());
  }
  return names;
}

std::vector<std::string> Violating(const Store& store, const std::vector<framework::PodInfoPtr>& pods) {
  return Violating(DisruptionBudgets(store), pods);
}

framework::PodInfoPtr Web(std::string_view name) { return MakePod(name).Label("app", "web").Info(); }

TEST(DisruptionBudgets, PodsBeyondTheAllowanceViolate) {
  const framework::PodInfoPtr other = MakePod("c").Label("app", "db").Info();
  const std::vector<framework::PodInfoPtr> pods = {Web("a"), Web("b"), other, Web("d")};
  EXPECT_THAT(Violating(StoreOf({MakePdb("web", {{"app", "web"}}, 0)}), pods), ElementsAre("a", "b", "d"));
  EXPECT_THAT(Violating(StoreOf({MakePdb("web", {{"app", "web"}}, 1)}), pods), ElementsAre("b", "d"));
  EXPECT_THAT(Violating(StoreOf({MakePdb("web", {{"app", "web"}}, 3)}), pods), IsEmpty());
  EXPECT_THAT(Violating(StoreOf({}), pods), IsEmpty());
}

TEST(DisruptionBudgets, EverySplitStartsWithFullBudgets) {
  const Store store = StoreOf({MakePdb("web", {{"app", "web"}}, 1)});
  const DisruptionBudgets budgets(store);
  EXPECT_THAT(Violating(budgets, {Web("a")}), IsEmpty());
  EXPECT_THAT(Violating(budgets, {Web("b")}), IsEmpty());
}

TEST(DisruptionBudgets, OneExhaustedBudgetOfSeveralIsEnough) {
  const Store store = StoreOf({MakePdb("one", {{"app", "web"}}, 5), MakePdb("two", {{"app", "web"}}, 0)});
  EXPECT_THAT(Violating(store, {Web("a")}), ElementsAre("a"));
}

TEST(DisruptionBudgets, WhomABudgetDoesNotCover) {
  api::PodDisruptionBudget empty = MakePdb("empty", {}, 0);
  empty.spec.selector = api::LabelSelector{};
  api::PodDisruptionBudget absent = MakePdb("absent", {}, 0);
  absent.spec.selector.reset();
  api::PodDisruptionBudget broken = MakePdb("broken", {}, 0);
  broken.spec.selector = SelectorOf("app", "NoSuchOperator", {"web"});
  EXPECT_THAT(Violating(StoreOf({empty, absent, broken}), {Web("a")}), IsEmpty());
  EXPECT_THAT(Violating(StoreOf({MakePdb("elsewhere", {{"app", "web"}}, 0, "other")}), {Web("a")}), IsEmpty());

  api::PodDisruptionBudget not_db = MakePdb("not-db", {}, 0);
  not_db.spec.selector = SelectorOf("app", "NotIn", {"db"});
  EXPECT_THAT(Violating(StoreOf({not_db}), {Web("a"), MakePod("unlabelled").Info()}), ElementsAre("a"));
}

TEST(DisruptionBudgets, PodsAlreadyCountedAsDisruptedAreFree) {
  api::PodDisruptionBudget budget = MakePdb("web", {{"app", "web"}}, 1);
  budget.status.disrupted_pods.Set("a", api::Time{});
  EXPECT_THAT(Violating(StoreOf({budget}), {Web("a"), Web("b"), Web("c")}), ElementsAre("c"));
}

}  // namespace
}  // namespace berth::preemption
