// A recording of a cluster that another scheduler serves: inputs, and no decision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "config/load.h"
#include "plugins/registry.h"
#include "record/file_reader.h"
#include "replay/input_stream.h"
#include "replay/recorder.h"
#include "replay/replayer.h"
#include "replay/what_if.h"
#include "testing/builders.h"

namespace berth::replay {
namespace {

using berth::testing::MakeNode;
using berth::testing::MakePod;

class FollowedTest : public ::testing::Test, private framework::SimpleApiWriter, private scheduler::DriverObserver {
 protected:
  FollowedTest() : folder_(::testing::TempDir() + "followed-" + std::to_string(::getpid())) {
    std::filesystem::remove_all(folder_);
  }
  ~FollowedTest() override { std::filesystem::remove_all(folder_); }

  // A pod is seen pending, and a second later on n2.
  void Record() {
    Recorder::Options options;
    options.ring.folder = folder_;
    options.threaded = false;
    options.header = MakeHeader(config::DefaultConfiguration(gates_), gates_, {});
    options.header.seed = 1;
    options.header.max_unschedulable = std::chrono::minutes(5);
    options.header.max_binding = 8;
    options.header.followed = true;
    auto recorder = Recorder::Start(std::move(options));
    ASSERT_TRUE(recorder.ok());
    auto driver = scheduler::Driver::Create(config::DefaultConfiguration(gates_), registry_, gates_, clock_, *this,
                                            *this, {.tap = recorder->get()});
    ASSERT_TRUE(driver.ok());
    for (const char* name : {"n1", "n2"}) {
      (*driver)->Put(
          api::Object(MakeNode(name).Capacity("cpu", name[1] == '1' ? "16" : "4").Capacity("memory", "8Gi").Shared()));
    }
    const auto pod = [] { return MakePod("p").SchedulerName("default-scheduler").Request("cpu", "1"); };
    (*driver)->Put(api::Object(pod().Shared()));
    (*recorder)->OnStep(clock_.Now());
    clock_.Advance(std::chrono::seconds(1));
    (*driver)->Put(api::Object(pod().Node("n2").Shared()));
    (*recorder)->OnStep(clock_.Now());
  }
  record::Recording Only() const {
    auto found = record::FindRecordings(folder_);
    CHECK_WHY(found.ok() && found->size() == 1, "one recording was expected");
    return found->front();
  }
  record::Header Header() const {
    auto reader = record::FileReader::Open(Only().files.front());
    CHECK(reader.ok());
    return (*reader)->header();
  }
  void ForEachInput(const std::function<void(const Input&)>& visit) {
    InputStream inputs(Only().files, gates_);
    for (Input input;;) {
      const Result<bool> more = inputs.Next(input);
      ASSERT_TRUE(more.ok());
      if (!*more) return;
      visit(input);
    }
  }

  config::FeatureGates gates_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  base::FakeClock clock_{base::Time(std::chrono::hours(1000))};
  const std::string folder_;

 private:
  framework::Status Bind(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status Evict(const framework::PodInfo&, const framework::PodInfo&) override { return {}; }
  framework::Status SetNominatedNode(const framework::PodInfo&, const std::string&) override { return {}; }
  framework::Status UpdatePersistentVolume(std::shared_ptr<const api::PersistentVolume>) override { return {}; }
  framework::Status UpdatePersistentVolumeClaim(std::shared_ptr<const api::PersistentVolumeClaim>) override {
    return {};
  }
};

TEST_F(FollowedTest, AReplayFollowsAndDecidesNothing) {
  Record();
  EXPECT_TRUE(Header().followed);
  auto replayer = Replayer::Create(Header(), registry_, {});
  ASSERT_TRUE(replayer.ok());
  ForEachInput([&](const Input& input) { EXPECT_TRUE((*replayer)->Apply(input)); });
  EXPECT_FALSE((*replayer)->difference().has_value());
  EXPECT_EQ((*replayer)->counts().decisions, 0u);
  EXPECT_EQ(std::as_const((*replayer)->driver()).cluster().NodeOf("default/p"), "n2");
}

TEST_F(FollowedTest, AnotherConfigurationDecidesWhatTheOtherSchedulerDid) {
  Record();
  auto what_if = WhatIf::Create(Header(), config::DefaultConfiguration(gates_), registry_, gates_);
  ASSERT_TRUE(what_if.ok());
  ForEachInput([&](const Input& input) { (*what_if)->Apply(input); });
  EXPECT_EQ((*what_if)->Recorded().pods.at("default/p").node, "n2");
  EXPECT_EQ((*what_if)->Decided().pods.at("default/p").node, "n1");
}

}  // namespace
}  // namespace berth::replay
