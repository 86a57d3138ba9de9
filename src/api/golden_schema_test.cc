// Compares the schema tables with bytes that Kubernetes' own Go types (k8s.io/api v0.36.4) produced. Four objects of
// every kind: one has every field of the Go type set to a distinct value; in each of the others about half of the
// fields are left out, and any two bools of a struct differ in at least one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "api/envelope.h"
#include "api/object.h"
#include "codec/json.h"
#include "codec/protobuf.h"

namespace berth::api {
namespace {

constexpr const char* kVariants[] = {"", ".sparse1", ".sparse2", ".sparse3"};

std::string ReadGolden(std::string_view kind, std::string_view suffix) {
  const std::string path =
      std::string(BERTH_SOURCE_DIR "/src/api/testdata/golden/") + std::string(kind) + std::string(suffix);
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string NameOf(const testing::TestParamInfo<KindInfo>& info) { return std::string(info.param.name); }

// The single object in the bytes.
Object FromProtobuf(const std::string& bytes) {
  Result<DecodedObjects> decoded = DecodeProtobufObjects(bytes);
  EXPECT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->objects.size(), 1u);
  return decoded->objects.at(0).object;
}

Object FromStrictJson(const std::string& text) {
  Result<codec::Document> document = codec::ParseJson(text, "golden.json");
  EXPECT_TRUE(document.ok()) << document.error().message;
  DecodedObjects decoded;
  std::vector<codec::Diagnostic> problems;
  // The filler sets everything, even a namespace on cluster-scoped objects: hence the one tolerated problem.
  DecodeObjects(document->root(), {.strict = true}, decoded, problems);
  for (const codec::Diagnostic& problem : problems) EXPECT_EQ(problem.path, "metadata.namespace") << problem.ToString();
  decoded = {};
  problems.clear();
  DecodeObjects(document->root(), {}, decoded, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(decoded.objects.size(), 1u);
  return decoded.objects.at(0).object;
}

class GoldenTest : public testing::TestWithParam<KindInfo> {};

TEST_P(GoldenTest, ProtobufAndJsonDecodeToTheSameObject) {
  for (const char* variant : kVariants) {
    SCOPED_TRACE(variant);
    const Object from_protobuf = FromProtobuf(ReadGolden(GetParam().name, std::string(variant) + ".pb"));
    const Object from_json = FromStrictJson(ReadGolden(GetParam().name, std::string(variant) + ".json"));
    EXPECT_EQ(from_protobuf.kind(), GetParam().kind);
    EXPECT_EQ(EncodeJson(from_protobuf), EncodeJson(from_json));
  }
}

TEST_P(GoldenTest, RoundTripsKeepEverything) {
  for (const char* variant : kVariants) {
    SCOPED_TRACE(variant);
    const Object object = FromProtobuf(ReadGolden(GetParam().name, std::string(variant) + ".pb"));
    const std::string json = EncodeJson(object);
    const std::string protobuf = EncodeProtobuf(object);
    EXPECT_EQ(EncodeJson(FromStrictJson(json)), json);
    EXPECT_EQ(EncodeProtobuf(FromStrictJson(json)), protobuf);
    EXPECT_EQ(EncodeJson(FromProtobuf(protobuf)), json);
    EXPECT_EQ(EncodeProtobuf(FromProtobuf(protobuf)), protobuf);
  }
}

// No bytes were recorded for these; resource_claim_test.cc has them by hand.
bool IsRecorded(const KindInfo& info) {
  return info.kind != Kind::kResourceClaimTemplate && info.kind != Kind::kDeviceTaintRule;
}

std::vector<KindInfo> RecordedKinds() {
  std::vector<KindInfo> kinds(AllKinds().begin(), AllKinds().end());
  std::erase_if(kinds, [](const KindInfo& info) { return !IsRecorded(info); });
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(EveryKind, GoldenTest, testing::ValuesIn(RecordedKinds()), NameOf);

using FieldNames = std::set<std::string>;

std::string FieldName(const codec::Message& message, const codec::FieldSpec& field) {
  return std::string(message.name()) + "." + std::string(field.json_name);
}

// Every reachable field of every table.
void CollectFields(const codec::Message& message, FieldNames& names);
void CollectFields(const codec::Type& type, FieldNames& names) {
  if (type.element != nullptr) CollectFields(*type.element, names);
  if (type.message != nullptr) CollectFields(type.message(), names);
}
void CollectFields(const codec::Message& message, FieldNames& names) {
  for (const codec::FieldSpec& field : message.fields()) {
    if (names.insert(FieldName(message, field)).second) CollectFields(*field.type, names);
  }
}

// Every field that is set in this object.
void CollectFilled(const codec::Message& message, const void* object, FieldNames& names);
void CollectFilled(const codec::Type& type, const void* value, FieldNames& names) {
  switch (type.kind) {
    case codec::Type::Kind::kMessage:
      CollectFilled(type.message(), value, names);
      break;
    case codec::Type::Kind::kList:
      for (size_t i = 0; i < type.list->size(value); ++i) CollectFilled(*type.element, type.list->at(value, i), names);
      break;
    case codec::Type::Kind::kMap:
      for (size_t i = 0; i < type.map->size(value); ++i) {
        CollectFilled(*type.element, type.map->at(value, i).second, names);
      }
      break;
    case codec::Type::Kind::kNullable:
      if (const void* inner = type.nullable->get(value)) CollectFilled(*type.element, inner, names);
      break;
    default:
      break;
  }
}
void CollectFilled(const codec::Message& message, const void* object, FieldNames& names) {
  for (const codec::FieldSpec& field : message.fields()) {
    if (codec::IsEmpty(*field.type, field.In(object))) continue;
    names.insert(FieldName(message, field));
    CollectFilled(*field.type, field.In(object), names);
  }
}

// A wrong field number finds nothing in the full objects, or something that differs from the JSON.
TEST(GoldenCoverage, EveryFieldOfEveryTableIsFoundInProtobuf) {
  FieldNames known;
  FieldNames filled;
  for (const KindInfo& info : RecordedKinds()) {
    CollectFields(info.message(), known);
    // Decoded by hand: the decoder of objects would remove the namespace from cluster-scoped ones.
    const std::string bytes = ReadGolden(info.name, ".pb");
    Result<Envelope> envelope = OpenEnvelope(bytes);
    ASSERT_TRUE(envelope.ok()) << envelope.error().message;
    const std::shared_ptr<void> object = info.make();
    Result<void> decoded = codec::DecodeProtobuf(envelope->raw, info.message(), object.get());
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    CollectFilled(info.message(), object.get(), filled);
  }
  EXPECT_GT(known.size(), 400u);
  EXPECT_THAT(filled, testing::ContainerEq(known));
}

}  // namespace
}  // namespace berth::api
