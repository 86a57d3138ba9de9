// Every input of this folder goes through the function that its fuzzer runs. An input that broke something once is put
// here under the name of what went wrong, and stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "api/testing/fuzz_targets.h"
#include "cel/testing/fuzz_targets.h"
#include "codec/testing/fuzz_targets.h"
#include "config/testing/fuzz_targets.h"
#include "record/testing/fuzz_targets.h"
#include "sim/testing/fuzz_targets.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

using Target = void (*)(std::string_view);

const std::map<std::string, Target>& Targets() {
  static const std::map<std::string, Target> targets = {
      {"cel_fuzz", cel::FuzzCel},
      {"json_fuzz", codec::FuzzJson},
      {"yaml_fuzz", codec::FuzzYaml},
      {"protobuf_fuzz", codec::FuzzProtobuf},
      {"quantity_fuzz", api::FuzzQuantity},
      {"selector_fuzz", api::FuzzSelector},
      {"object_json_fuzz", api::FuzzObjectJson},
      {"object_protobuf_fuzz", api::FuzzObjectProtobuf},
      {"configuration_fuzz", config::FuzzConfiguration},
      {"recording_fuzz", record::FuzzRecording},
      {"simulate_fuzz", sim::FuzzSimulate},
  };
  return targets;
}

std::string ReadBytes(const fs::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

size_t Replay(const fs::path& folder, Target target) {
  std::vector<fs::path> inputs;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) inputs.push_back(entry.path());
  }
  std::sort(inputs.begin(), inputs.end());
  for (const fs::path& input : inputs) {
    SCOPED_TRACE(input.string());
    target(ReadBytes(input));
  }
  return inputs.size();
}

TEST(FuzzCorpus, EveryInputIsSurvived) {
  size_t folders = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(BERTH_SOURCE_DIR "/test/fuzz_corpus")) {
    if (!entry.is_directory()) continue;
    const auto target = Targets().find(entry.path().filename());
    ASSERT_NE(target, Targets().end()) << entry.path() << " belongs to no fuzzer";
    EXPECT_GT(Replay(entry.path(), target->second), 0u) << entry.path();
    ++folders;
  }
  EXPECT_GT(folders, 0u);
}

TEST(FuzzCorpus, WhatFuzzersStartFromIsSurvived) {
  const fs::path root = BERTH_SOURCE_DIR;
  EXPECT_GT(Replay(root / "test/config_cases", config::FuzzConfiguration), 100u);
  EXPECT_GT(Replay(root / "src/api/testdata/golden", api::FuzzObjectJson), 100u);
  EXPECT_GT(Replay(root / "src/api/testdata/golden", api::FuzzObjectProtobuf), 100u);
  EXPECT_GT(Replay(root / "test/scenarios", codec::FuzzYaml), 10u);
  EXPECT_GT(Replay(root / "test/scenarios", sim::FuzzSimulate), 10u);
  for (const fs::directory_entry& example : fs::directory_iterator(root / "examples")) {
    if (example.is_directory()) Replay(example.path(), sim::FuzzSimulate);
  }
}

}  // namespace
}  // namespace berth
