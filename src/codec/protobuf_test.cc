#include "codec/protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "codec/protobuf_field_buffer.h"
#include "codec/protobuf_wire.h"
#include "codec/testing/toy_schema.h"

namespace berth::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using toy::Cargo;
using toy::Ship;

Ship FromJson(std::string json) {
  Result<Document> document = ParseJson(std::move(json), "f");
  EXPECT_TRUE(document.ok());
  Result<Ship> ship = DecodeDocument<Ship>(*document, {.strict = true});
  EXPECT_TRUE(ship.ok()) << (ship.ok() ? "" : ship.error().message);
  return std::move(*ship);
}

std::string DecodeError(std::string_view bytes) {
  Ship ship;
  const Result<void> result = DecodeProtobuf(bytes, ship);
  return result.ok() ? "no error" : result.error().message;
}

TEST(Protobuf, CarriesEverythingThereAndBack) {
  const std::string long_text(1000, 'x');
  const std::string json =
      R"({"name":"Aurora","flag":"PA","afloat":true,"crew":-12,"imo":-9074729000000000000,"decks":4294967295,)"
      R"("serial":18446744073709551615,"draft":9.25,"length":"180m","insured":false,"aliases":["A",""],)"
      R"("berths":[0,-1,2147483647],"holds":[{"kind":"grain","tons":0},{}],"notes":{"":"","a":")" +
      long_text +
      R"("},"cranes":{"aft":"1m","fore":"20m"},"manifest":{"x":["p",""],"y":[]},)"
      R"("deckCargo":{"d":{"kind":"cars"},"e":{}},"mainCargo":{"kind":"ore"},"wharf":{},"barge":{"kind":"coal"},)"
      R"("tenders":[{"name":"T1","crew":1},{"name":""}]})";
  const Ship ship = FromJson(json);
  const std::string bytes = EncodeProtobuf(ship);
  Ship again;
  const Result<void> result = DecodeProtobuf(bytes, again);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(EncodeJson(again), json);
  EXPECT_EQ(EncodeProtobuf(again), bytes);
}

TEST(WireWriter, ALengthOfSeveralBytesIsPutBeforeWhatItCounts) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{127}, size_t{128}, size_t{16383}, size_t{16384}}) {
    std::string out = "before";
    WireWriter writer(out);
    const size_t outer = writer.StartMessage(1);
    const size_t inner = writer.StartMessage(200);
    writer.out().append(size, 'x');
    writer.EndMessage(inner);
    writer.Integer(3, UINT64_MAX);
    writer.EndMessage(outer);
    writer.Bytes(4, "after");

    WireReader fields(std::string_view(out).substr(6));
    ASSERT_TRUE(fields.Next());
    EXPECT_EQ(fields.number(), 1u);
    WireReader nested(fields.bytes());
    ASSERT_TRUE(nested.Next());
    EXPECT_EQ(nested.number(), 200u);
    EXPECT_EQ(nested.bytes(), std::string(size, 'x'));
    ASSERT_TRUE(nested.Next());
    EXPECT_EQ(nested.integer(), UINT64_MAX);
    EXPECT_FALSE(nested.Next());
    EXPECT_TRUE(nested.ok());
    ASSERT_TRUE(fields.Next());
    EXPECT_EQ(fields.bytes(), "after");
    EXPECT_FALSE(fields.Next());
    EXPECT_TRUE(fields.ok());
  }
}

TEST(Protobuf, WritesTheKnownWireForm) {
  EXPECT_EQ(EncodeProtobuf(Ship{}), std::string("\x0a\x00", 2));  // name is required
  Ship ship;
  ship.name = "A";
  ship.crew = -1;
  ship.berths = {1, 300};
  ship.notes = {{"k", "v"}};
  ship.source.wharf = std::make_unique<Cargo>();
  ship.port = "not in protobuf";
  EXPECT_EQ(EncodeProtobuf(ship), std::string("\x0a\x01"
                                              "A"
                                              "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                              "\x60\x01\x60\xac\x02"
                                              "\x72\x06\x0a\x01k\x12\x01v"
                                              "\x9a\x01\x02\x0a\x00",
                                              32));
}

TEST(Protobuf, ReadsPackedAndUnpackedLists) {
  Ship ship;
  ASSERT_TRUE(DecodeProtobuf("\x62\x03\x01\xac\x02\x60\x05", ship).ok());
  EXPECT_THAT(ship.berths, ElementsAre(1, 300, 5));
}

TEST(Protobuf, SkipsFieldsItDoesNotKnow) {
  std::string bytes;
  WireWriter writer(bytes);
  writer.Integer(1000, 7);
  writer.Bytes(99, "unknown");
  writer.Double(98, 1.5);
  bytes +=
      "\xad\x06"
      "abcd";  // field 101, fixed32
  writer.Bytes(1, "Aurora");
  Ship ship;
  ASSERT_TRUE(DecodeProtobuf(bytes, ship).ok());
  EXPECT_EQ(ship.name, "Aurora");
}

TEST(Protobuf, ReadsMapEntriesInAnyShape) {
  std::string bytes;
  WireWriter writer(bytes);
  writer.Bytes(14, std::string_view("\x12\x01v\x0a\x01k", 6));  // value before key
  writer.Bytes(14, "");                                         // neither
  writer.Bytes(14, std::string_view("\x0a\x08secret/x\x12\x01v", 13));
  Ship ship;
  ASSERT_TRUE(DecodeProtobuf(bytes, ship).ok());
  EXPECT_EQ(ship.notes, (base::FlatMap<std::string, std::string>{{"", ""}, {"k", "v"}}));
}

TEST(Protobuf, MergesAMessageThatComesInParts) {
  std::string bytes;
  WireWriter writer(bytes);
  writer.Bytes(18, std::string_view("\x0a\x01k", 3));
  writer.Bytes(18, std::string_view("\x10\x05", 2));
  Ship ship;
  ASSERT_TRUE(DecodeProtobuf(bytes, ship).ok());
  EXPECT_EQ(ship.main_cargo, (Cargo{"k", 5}));
}

TEST(Protobuf, SaysWhatIsMalformed) {
  const std::vector<std::pair<std::string_view, std::string>> cases = {
      {"\x0a", "malformed protobuf: Ship: malformed length"},
      {"\x0a\x05"
       "abc",
       "malformed protobuf: Ship: length goes beyond the end"},
      {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
       "abc",
       "malformed protobuf: Ship: length goes beyond the end"},
      {"\x20", "malformed protobuf: Ship: malformed integer"},
      {"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "malformed protobuf: Ship: malformed integer"},
      {"\xff", "malformed protobuf: Ship: malformed field number"},
      {std::string_view("\x00\x00", 2), "malformed protobuf: Ship: field number out of range"},
      {"\x0b", "malformed protobuf: Ship: unknown wire type"},
      {"\x41"
       "abc",
       "malformed protobuf: Ship: truncated 64-bit value"},
      {"\xad\x06"
       "abc",
       "malformed protobuf: Ship: truncated 32-bit value"},
      {"\x08\x01", "malformed protobuf: Ship.name: expected wire type 2, found 0"},
      {"\x22\x01x", "malformed protobuf: Ship.crew: expected wire type 0, found 2"},
      {"\x62\x01\x80", "malformed protobuf: Ship.berths: malformed list of numbers"},
      {"\x4a\x03\x0a\x01x", "malformed protobuf: Ship.length: malformed value"},
      {"\x6a\x02\x0a\x05", "malformed protobuf: Ship.holds: length goes beyond the end"},
      {"\x72\x02\x0a\x05", "malformed protobuf: Ship.notes: length goes beyond the end"},
      {"\x7a\x08\x0a\x01k\x12\x03\x0a\x01x", "malformed protobuf: Ship.cranes[k]: malformed value"},
      {"\x9a\x01\x04\x0a\x02\x0a\x09", "malformed protobuf: Ship.source.wharf: length goes beyond the end"},
  };
  for (const auto& [bytes, message] : cases) EXPECT_THAT(DecodeError(bytes), StartsWith(message));
}

// Random sizes, so that the array becomes full at any place within a field.
TEST(FieldBuffer, WritesWhatAWireWriterDoes) {
  base::Random random(9);
  for (int round = 0; round < 500; ++round) {
    std::string plain = "before", buffered = "before";
    {
      WireWriter writer(plain);
      FieldBuffer buffer(buffered);
      for (uint64_t fields = random.Below(30); fields > 0; --fields) {
        const auto number = static_cast<uint32_t>(1 + (random.Next() >> (35 + random.Below(29))));
        const uint64_t value = random.Next() >> random.Below(64);
        const std::string text(random.Below(random.Below(8) == 0 ? 1000 : 60), 'a');
        switch (random.Below(3)) {
          case 0:
            writer.Integer(number, value);
            buffer.Integer(number, value);
            break;
          case 1:
            writer.Bytes(number, text);
            buffer.Bytes(number, text);
            break;
          default:
            writer.Bytes(number, text + "/" + text);
            buffer.Joined(number, text, "/", text);
        }
      }
    }
    ASSERT_EQ(buffered, plain) << round;
  }
}

TEST(Protobuf, RefusesHostileNesting) {
  std::string bytes;
  for (int depth = 0; depth < 20'000; ++depth) {
    std::string outer;
    WireWriter(outer).Bytes(20, bytes);
    bytes = std::move(outer);
    if (bytes.size() > 60'000) break;
  }
  EXPECT_THAT(DecodeError(bytes), HasSubstr("nested deeper than 100 messages"));
}

TEST(Protobuf, SurvivesEveryTruncation) {
  const std::string bytes = EncodeProtobuf(
      FromJson(R"({"name":"Aurora","length":"180m","berths":[1,2],"holds":[{"kind":"x"}],"cranes":{"a":"1m"},
                   "manifest":{"x":["p"]},"wharf":{"tons":5},"tenders":[{"name":"t"}]})"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    Ship ship;
    (void)DecodeProtobuf(std::string_view(bytes).substr(0, size), ship).ok();
  }
}

}  // namespace
}  // namespace berth::codec
