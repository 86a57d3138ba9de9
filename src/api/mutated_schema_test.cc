// Damaged input of every kind: decoders may reject it but must never crash. Seeded, so that a failure can be repeated.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "api/object.h"
#include "base/random.h"
#include "codec/json.h"
#include "codec/yaml.h"

namespace berth::api {
namespace {

constexpr int kRounds = 1000;

std::string ReadWhole(std::string_view kind, std::string_view suffix) {
  const std::string path =
      std::string(BERTH_SOURCE_DIR "/src/api/testdata/golden/") + std::string(kind) + std::string(suffix);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  EXPECT_FALSE(content.str().empty()) << kind;
  return content.str();
}

// One to four of: flip a byte, cut the end off, remove, repeat or overwrite a stretch.
std::string Mutate(std::string bytes, base::Random& random) {
  for (uint64_t edits = 1 + random.Below(4); edits > 0 && !bytes.empty(); --edits) {
    const size_t at = random.Below(bytes.size());
    const size_t length = 1 + random.Below(std::min<size_t>(bytes.size() - at, 16));
    switch (random.Below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random.Next());
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 4:
        bytes.replace(at, length, length, static_cast<char>(random.Below(2) == 0 ? 0xff : 0x80));
        break;
    }
  }
  return bytes;
}

// What survives must be a valid object: it can be encoded and read again.
void ExpectSound(const Result<DecodedObjects>& decoded) {
  if (!decoded) {
    EXPECT_FALSE(decoded.error().message.empty());
    return;
  }
  for (const LocatedObject& found : decoded->objects) {
    const std::string again = EncodeProtobuf(found.object);
    Result<DecodedObjects> reread = DecodeProtobufObjects(again);
    ASSERT_TRUE(reread.ok()) << reread.error().message;
    ASSERT_EQ(reread->objects.size(), 1u);
    EXPECT_EQ(EncodeProtobuf(reread->objects[0].object), again);
  }
}

class MutationTest : public testing::TestWithParam<KindInfo> {};

TEST_P(MutationTest, DamagedProtobufIsRefusedOrSound) {
  const std::string golden = ReadWhole(GetParam().name, ".pb");
  base::Random random(1);
  for (int round = 0; round < kRounds; ++round) ExpectSound(DecodeProtobufObjects(Mutate(golden, random)));
}

TEST_P(MutationTest, DamagedJsonIsRefusedOrSound) {
  const std::string golden = ReadWhole(GetParam().name, ".sparse1.json");
  base::Random random(2);
  for (int round = 0; round < kRounds; ++round) {
    Result<codec::Document> document = codec::ParseJson(Mutate(golden, random), "mutated.json");
    if (document) ExpectSound(DecodeObjects(*document, {.strict = round % 2 == 0}));
  }
}

TEST_P(MutationTest, DamagedYamlIsRefusedOrSound) {
  const std::string golden = ReadWhole(GetParam().name, ".sparse1.json");
  base::Random random(3);
  for (int round = 0; round < kRounds / 3; ++round) {
    Result<std::vector<codec::Document>> documents = codec::ParseYaml(Mutate(golden, random), "mutated.yaml");
    if (!documents) continue;
    for (const codec::Document& document : *documents) ExpectSound(DecodeObjects(document, {.strict = true}));
  }
}

// The kinds for which bytes were recorded.
std::vector<KindInfo> KindsWithBytes() {
  std::vector<KindInfo> kinds(AllKinds().begin(), AllKinds().end());
  std::erase_if(kinds, [](const KindInfo& info) {
    return info.kind == Kind::kResourceClaimTemplate || info.kind == Kind::kDeviceTaintRule;
  });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(EveryKind, MutationTest, testing::ValuesIn(KindsWithBytes()),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace berth::api
