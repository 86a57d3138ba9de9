#include "framework/nominator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/builders.h"

namespace berth::framework {
namespace {

using berth::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Nominator, KeepsOneNominationPerPod) {
  const PodInfoPtr a = MakePod("a").Info();
  const PodInfoPtr b = MakePod("b").Info();
  const PodInfoPtr later_a = MakePod("a").Label("changed", "yes").Info();
  Nominator nominator;
  EXPECT_TRUE(nominator.empty());

  nominator.Nominate(a, "n1");
  nominator.Nominate(b, "n1");
  EXPECT_THAT(nominator.NominatedTo("n1"), ElementsAre(a, b));
  EXPECT_EQ(nominator.NodeOf(a->uid()), "n1");
  EXPECT_EQ(nominator.size(), 2u);

  nominator.Nominate(later_a, "n2");
  EXPECT_THAT(nominator.NominatedTo("n1"), ElementsAre(b));
  EXPECT_THAT(nominator.NominatedTo("n2"), ElementsAre(later_a));

  nominator.Nominate(later_a, "");
  EXPECT_EQ(nominator.NodeOf(a->uid()), "");
  nominator.Remove(b->uid());
  nominator.Remove(b->uid());
  EXPECT_THAT(nominator.NominatedTo("n1"), IsEmpty());
  EXPECT_TRUE(nominator.empty());
}

TEST(Nominator, ListsNodesWhoseNominationsHaveChanged) {
  Nominator nominator;
  const PodInfoPtr a = MakePod("a").Info();
  nominator.Nominate(a, "n1");
  const uint64_t then = nominator.change_count();
  nominator.Nominate(a, "n2");
  nominator.Remove("nobody");
  std::vector<std::string_view> names;
  EXPECT_TRUE(nominator.ListChangedNodes(then, names));
  EXPECT_THAT(names, ElementsAre("n1", "n2"));
  for (int i = 0; i < 300; ++i) nominator.Nominate(a, i % 2 ? "n1" : "n2");
  EXPECT_FALSE(nominator.ListChangedNodes(then, names)) << "that is too long ago";
  names.clear();
  EXPECT_TRUE(nominator.ListChangedNodes(nominator.change_count() - 1, names));
  EXPECT_THAT(names, ElementsAre("n1"));
}

TEST(Nominator, EndedNominationsAreToldOnceThePodIsNominatedNowhere) {
  const PodInfoPtr a = MakePod("a").Info();
  const PodInfoPtr b = MakePod("b").Info();
  Nominator nominator;
  nominator.Nominate(a, "n1");
  nominator.Remove(a->uid());
  EXPECT_THAT(nominator.TakeEnded(), IsEmpty()) << "nobody has asked for it yet";

  nominator.RememberEnded();
  const auto taken = [&] {
    std::vector<std::string> names;
    for (const Nominator::Ended& ended : nominator.TakeEnded()) {
      names.push_back(ended.pod->name() + " " + ended.node_name);
    }
    return names;
  };
  nominator.Nominate(a, "n1");
  nominator.Nominate(MakePod("a").Label("changed", "yes").Info(), "n1");
  nominator.Nominate(a, "n2");
  nominator.Nominate(a, "n1");
  nominator.Nominate(a, "n3");
  nominator.Nominate(b, "n1");
  nominator.Remove(b->uid());
  EXPECT_THAT(taken(), ElementsAre("b n1"));
  EXPECT_TRUE(nominator.remembers_any());
  nominator.ForgetEnded(a->uid(), "n2");
  nominator.Remove(a->uid());
  EXPECT_THAT(taken(), ElementsAre("a n1", "a n3"));
  EXPECT_FALSE(nominator.remembers_any());
}

TEST(Nominator, RenominatingToTheNameItGaveOutIsSafe) {
  const PodInfoPtr pod = MakePod("a").Info();
  Nominator nominator;
  nominator.Nominate(pod, "a-node-name-too-long-to-be-stored-in-place");
  nominator.Nominate(pod, nominator.NodeOf(pod->uid()));
  EXPECT_THAT(nominator.NominatedTo("a-node-name-too-long-to-be-stored-in-place"), ElementsAre(pod));
}

}  // namespace
}  // namespace berth::framework
