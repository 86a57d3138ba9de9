#include "codec/field_mark.h"

#include <gtest/gtest.h>

#include "codec/yaml.h"

namespace berth::codec {
namespace {

TEST(FieldMark, FindsTheFieldOrItsNearestAncestor) {
  const auto documents = ParseYaml(
      "spec:\n"
      "  containers:\n"
      "  - name: a\n"
      "  - name: b\n"
      "    requests: {example.com/gpu: 1}\n",
      "file");
  ASSERT_TRUE(documents);
  const Value& root = documents->front().root();
  EXPECT_EQ(FieldMark(root, ""), (Mark{1, 1}));
  EXPECT_EQ(FieldMark(root, "spec.containers[1].name"), (Mark{4, 11}));
  EXPECT_EQ(FieldMark(root, "spec.containers[1].requests[example.com/gpu]"), (Mark{5, 33}));
  EXPECT_EQ(FieldMark(root, "spec.containers[1].image"), (Mark{4, 5}));
  EXPECT_EQ(FieldMark(root, "spec.containers[7].name"), (Mark{3, 3}));
  EXPECT_EQ(FieldMark(root, "spec.containers[x"), (Mark{3, 3}));
  EXPECT_EQ(FieldMark(root, "metadata.name"), (Mark{1, 1}));
}

TEST(TextMark, FindsTheFirstStringOfThatText) {
  const auto documents = ParseYaml("a: [1, x]\nb: {c: z, d: z}\n", "file");
  ASSERT_TRUE(documents);
  const Value& root = documents->front().root();
  EXPECT_EQ(TextMark(root, "x"), (Mark{1, 8}));
  EXPECT_EQ(TextMark(root, "z"), (Mark{2, 8}));
  EXPECT_EQ(TextMark(root, "1"), Mark{}) << "a number is not a string";
  EXPECT_EQ(TextMark(root, "b"), Mark{}) << "a key is not a value";
}

}  // namespace
}  // namespace berth::codec
