#include "input/object_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/policy.h"
#include "base/testing/temporary_folder.h"
#include "codec/gzip.h"
#include "input/input.h"
#include "testing/builders.h"

namespace berth::input {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeNode;
using testing::MakePod;
using ::testing::StartsWith;

class ObjectFileTest : public ::testing::Test {
 protected:
  const base::testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

std::vector<api::Object> SomeObjects() {
  api::PodDisruptionBudget budget;
  budget.metadata.name = "budget";
  budget.metadata.namespace_ = Symbol("default");
  return {
      api::MakeObject(MakeNode("n1").Label("zone", "a").Capacity("cpu", "4").Capacity("pods", "110").Obj()),
      api::MakeObject(MakePod("web").Node("n1").Request("cpu", "500m").Obj()),
      // Without quotes, YAML would read these as other types.
      api::MakeObject(
          MakePod("odd").Request("cpu", "1").Label("version", "1.10").Label("answer", "no").Label("empty", "").Obj()),
      api::MakeObject(budget),
  };
}

TEST(ObjectFileFormat, IsInTheName) {
  const struct {
    const char* path;
    bool json, gzip;
  } cases[] = {{"a.yaml", false, false},     {"a.yml", false, false}, {"a.json", true, false},
               {"a.json.gz", true, true},    {"a.gz", false, true},   {"a.yaml.gz", false, true},
               {"dir.json/a", false, false}, {"-", false, false},     {".gz", false, true}};
  for (const auto& [path, json, gzip] : cases) {
    EXPECT_EQ(FormatOf(path).json, json) << path;
    EXPECT_EQ(FormatOf(path).gzip, gzip) << path;
  }
}

TEST_F(ObjectFileTest, IsReadBackAsItWas) {
  const std::vector<api::Object> objects = SomeObjects();
  const Result<ClusterInput> live = ReadCluster({}, objects);
  ASSERT_TRUE(live) << live.error().message;
  for (const char* name : {"/a.yaml", "/a.json", "/a.yaml.gz", "/a.json.gz"}) {
    const std::string path = folder_ + name;
    ASSERT_TRUE(WriteObjectFile(objects, path));
    const Result<ClusterInput> read = ReadCluster({path});
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->objects.size(), objects.size()) << name;
    for (size_t i = 0; i < objects.size(); ++i) {
      EXPECT_EQ(api::EncodeJson(read->objects[i]), api::EncodeJson(live->objects[i])) << name;
    }
    EXPECT_THAT(read->warnings, IsEmpty()) << name;
  }
}

TEST(ObjectFileText, IsTheSameForTheSameObjects) {
  const std::string yaml = ObjectFileText(SomeObjects(), {});
  EXPECT_THAT(yaml, StartsWith("apiVersion: v1\nkind: Node\n"));
  EXPECT_THAT(yaml, HasSubstr("\n---\napiVersion: v1\nkind: Pod\n"));
  EXPECT_EQ(ObjectFileText(SomeObjects(), {}), yaml);
  const std::string packed = ObjectFileText(SomeObjects(), {.gzip = true});
  EXPECT_EQ(packed, ObjectFileText(SomeObjects(), {.gzip = true}));
  EXPECT_EQ(*codec::Gunzip(packed), yaml);
  EXPECT_EQ(ObjectFileText({}, {.json = true}), "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n]}\n");
}

TEST_F(ObjectFileTest, SaysWhatCannotBeWritten) {
  const Result<void> written = WriteObjectFile(SomeObjects(), folder_ + "/missing/a.yaml");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "cannot write to " + folder_ + "/missing/a.yaml: No such file or directory");
  const Result<void> full = WriteObjectFile(SomeObjects(), "/dev/full");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "cannot write to /dev/full: No space left on device");
}

}  // namespace
}  // namespace berth::input
