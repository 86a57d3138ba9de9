#include "api/list_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/envelope.h"
#include "api/node.h"
#include "codec/protobuf.h"
#include "codec/protobuf_wire.h"

namespace berth::api {
namespace {

using ::testing::HasSubstr;

// Two empty fields of the envelope.
constexpr size_t kAfterTheList = 4;

std::string ListOf(size_t count, std::string_view kind = "NodeList") {
  std::string raw;
  codec::WireWriter writer(raw);
  const size_t metadata = writer.StartMessage(1);
  writer.Bytes(2, "4711");
  writer.Bytes(3, "more");
  writer.Integer(4, 12);
  writer.EndMessage(metadata);
  for (size_t i = 0; i < count; ++i) {
    Node node;
    node.metadata.name = "n" + std::to_string(i);
    node.metadata.labels.Set(Symbol("text"), Symbol(std::string(i * 37 % 300, 'x')));
    const size_t item = writer.StartMessage(2);
    codec::AppendProtobuf(codec::DescriptionOf<Node>(), &node, raw);
    writer.EndMessage(item);
  }
  return SealEnvelope({.api_version = "v1", .kind = kind, .raw = raw});
}

std::string Summary(const DecodedObjects& decoded) {
  std::string text = decoded.resource_version + " " + decoded.continue_token;
  for (const LocatedObject& found : decoded.objects) text += "\n" + EncodeJson(found.object);
  return text;
}

// What decoding a whole list gives, which is the slow twin.
TEST(ListDecoder, AListThatArrivesInPiecesIsTheSameList) {
  for (const size_t count : {0, 1, 2, 40}) {
    const std::string bytes = ListOf(count);
    const Result<DecodedObjects> whole = DecodeProtobufObjects(bytes);
    ASSERT_TRUE(whole.ok());
    ASSERT_EQ(whole->objects.size(), count);
    for (const size_t piece : {size_t{1}, size_t{2}, size_t{7}, size_t{100}, bytes.size()}) {
      ListDecoder decoder(Kind::kNode);
      DecodedObjects decoded;
      for (size_t at = 0; at < bytes.size(); at += piece) {
        const bool is_whole = at >= bytes.size() - kAfterTheList;
        EXPECT_TRUE(is_whole || !decoder.Finish().ok()) << "at byte " << at;
        ASSERT_TRUE(decoder.Append(std::string_view(bytes).substr(at, piece), decoded).ok()) << at;
      }
      EXPECT_TRUE(decoder.Finish().ok());
      EXPECT_EQ(Summary(decoded), Summary(*whole)) << count << " nodes in pieces of " << piece;
    }
  }
}

TEST(ListDecoder, AnObjectIsDecodedAsSoonAsItIsThere) {
  const std::string bytes = ListOf(3);
  ListDecoder decoder(Kind::kNode);
  DecodedObjects decoded;
  ASSERT_TRUE(decoder.Append(std::string_view(bytes).substr(0, bytes.size() - 10), decoded).ok());
  EXPECT_EQ(decoded.objects.size(), 2u);
  EXPECT_EQ(decoded.resource_version, "4711");
}

// The same verdict as decoding it whole, wherever a byte is wrong; and never a crash.
TEST(ListDecoder, ADamagedListIsRefusedOrReadAsAWholeOneIs) {
  const std::string bytes = ListOf(3);
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char flip : {char(0x01), char(0x80), char(0xff)}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      ListDecoder decoder(Kind::kNode);
      DecodedObjects decoded;
      const bool read = decoder.Append(damaged, decoded).ok() && decoder.Finish().ok();
      const Result<DecodedObjects> whole = DecodeProtobufObjects(damaged);
      refused += !read;
      if (read) {
        ASSERT_TRUE(whole.ok()) << at;
        EXPECT_EQ(Summary(decoded), Summary(*whole)) << at;
      }
    }
  }
  EXPECT_GT(refused, 50u);
}

TEST(ListDecoder, SaysWhatIsWrong) {
  const auto problem = [](std::string_view bytes) {
    ListDecoder decoder(Kind::kNode);
    DecodedObjects decoded;
    const Result<void> appended = decoder.Append(bytes, decoded);
    return appended ? decoder.Finish().error().message : appended.error().message;
  };
  EXPECT_EQ(problem(ListOf(1, "PodList")), "list: expected NodeList, found v1 PodList");
  EXPECT_EQ(problem(ListOf(1, "Node")), "list: expected NodeList, found v1 Node");
  EXPECT_EQ(problem("<html>"), "list: it does not begin as Kubernetes' protobuf does");
  EXPECT_EQ(problem(ListOf(2).substr(0, 60)), "list: it has ended early");
  EXPECT_EQ(problem(""), "list: it has ended early");
}

}  // namespace
}  // namespace berth::api
