#include "http/http1_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace berth::http {
namespace {

using ::testing::HasSubstr;

// What a parser made of an answer, in one line: "200 name=value; body".
struct Reading final : Http1Parser::Sink {
  void OnHead(int status, Headers headers) override {
    text += std::to_string(status);
    for (const auto& [name, value] : headers) text += " " + name + "=" + value;
    text += ";";
  }
  Result<void> OnData(std::string_view bytes) override {
    EXPECT_FALSE(bytes.empty());
    body += bytes;
    return {};
  }
  std::string text, body;
};

struct Outcome {
  std::string text;   // of a whole answer; empty: there is none
  std::string error;  // of Take() or TakeEnd()
  bool keeps_alive = false;
  size_t left = 0;  // bytes after its end

  bool operator==(const Outcome&) const = default;
};

// Parses the bytes in pieces that end at `cuts`, then the end of the connection.
Outcome Parse(const std::string& bytes, std::vector<size_t> cuts = {}, const char* method = "GET") {
  Reading reading;
  Http1Parser parser(method, reading);
  cuts.push_back(bytes.size());
  size_t at = 0;
  for (const size_t cut : cuts) {
    const std::string_view piece = std::string_view(bytes).substr(at, cut - at);
    const Result<size_t> taken = parser.Take(piece);
    if (!taken) return {.error = taken.error().message};
    at += *taken;
    if (*taken < piece.size()) break;
  }
  if (Result<void> ended = parser.TakeEnd(); !ended) return {.error = ended.error().message};
  return {reading.text + " " + reading.body, "", parser.keeps_alive(), bytes.size() - at};
}

struct WholeCase {
  const char* name;
  std::string bytes;
  Outcome outcome;
};

const WholeCase kWhole[] = {
    {"Length",
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Kind:  Echo \t\r\n\r\nhello",
     {"200 content-length=5 x-kind=Echo; hello", "", true, 0}},
    {"LengthTwiceTheSame",
     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
     {"200 content-length=2 content-length=2; hi", "", true, 0}},
    {"Empty", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", {"404 content-length=0; ", "", true, 0}},
    {"Chunks",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\none\r\n0A ;x=\"y\"\r\n0123456789\r\n0\r\n\r\n",
     {"200 transfer-encoding=Chunked; one0123456789", "", true, 0}},
    {"ChunksAndTrailers",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\nX-Sum: 1\r\nX-Other:\r\n\r\n",
     {"200 transfer-encoding=chunked; 1", "", true, 0}},
    {"UntilClose", "HTTP/1.1 200 OK\r\n\r\nall of it", {"200; all of it", "", false, 0}},
    {"NoBody", "HTTP/1.1 204 No Content\r\n\r\n", {"204; ", "", true, 0}},
    {"NotModified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", {"304 content-length=9; ", "", true, 0}},
    {"Close",
     "HTTP/1.1 200 OK\r\nConnection: upgrade, Close\r\nContent-Length: 0\r\n\r\n",
     {"200 connection=upgrade, Close content-length=0; ", "", false, 0}},
    {"Version10", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", {"200 content-length=2; hi", "", false, 0}},
    {"Version10KeepAlive",
     "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
     {"200 connection=keep-alive content-length=2; hi", "", true, 0}},
    {"Informational",
     "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1",
     {"200 content-length=1; 1", "", true, 0}},
    {"BareLineFeeds", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", {"200 content-length=2; hi", "", true, 0}},
    {"OtherBytesInValues",
     "HTTP/1.1 200 \xc3\xa4\r\nX: \xc3\xa4\r\nContent-Length: 0\r\n\r\n",
     {"200 x=\xc3\xa4 content-length=0; ", "", true, 0}},
    {"MoreThanTheAnswer",
     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK",
     {"200 content-length=2; hi", "", true, 15}},
};

TEST(Http1Parser, ReadsAnswersWhereverTheyAreCut) {
  for (const WholeCase& test : kWhole) {
    EXPECT_EQ(Parse(test.bytes).text, test.outcome.text) << test.name;
    EXPECT_EQ(Parse(test.bytes), test.outcome) << test.name;
    std::vector<size_t> everywhere;
    for (size_t cut = 0; cut <= test.bytes.size(); ++cut) {
      EXPECT_EQ(Parse(test.bytes, {cut}), test.outcome) << test.name << " cut at " << cut;
      everywhere.push_back(cut);
    }
    EXPECT_EQ(Parse(test.bytes, everywhere), test.outcome) << test.name;
  }
}

TEST(Http1Parser, TakesNoPartForTheWhole) {
  for (const WholeCase& test : kWhole) {
    const std::string_view name = test.name;
    if (name == "UntilClose" || name == "MoreThanTheAnswer") continue;
    for (size_t size = 0; size < test.bytes.size(); ++size) {
      EXPECT_NE(Parse(test.bytes.substr(0, size)).error, "") << name << " up to " << size;
    }
  }
}

TEST(Http1Parser, KnowsThatSomeAnswersHaveNoBody) {
  const std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  EXPECT_EQ(Parse(bytes, {}, "HEAD").text, "200 content-length=5; ");
  EXPECT_EQ(Parse("HTTP/1.1 200 Established\r\n\r\nbytes", {}, "CONNECT").left, 5u);
}

std::string WithFields(size_t count) {
  std::string bytes = "HTTP/1.1 200 OK\r\n";
  for (size_t i = 0; i < count; ++i) bytes += "X: y\r\n";
  return bytes + "\r\n";
}

TEST(Http1Parser, RefusesWhatCouldBeReadTwoWays) {
  const std::string ok = "HTTP/1.1 200 OK\r\n", chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
  std::string many_hints;
  for (size_t i = 0; i <= Http1Parser::kMaxInformational; ++i) many_hints += "HTTP/1.1 103 Hints\r\n\r\n";
  struct Case {
    std::string bytes;
    const char* error;
  };
  for (const Case& c : {
           Case{"rubbish\r\n", "expected a status line, found \"rubbish\""},
           Case{"HTTP/2.0 200 OK\r\n", "expected a status line"},
           Case{"HTTP/1.1 20 OK\r\n", "expected a status line"},
           Case{"HTTP/1.1 2000 OK\r\n", "expected a status line"},
           Case{"HTTP/1.1  200 OK\r\n", "expected a status line"},
           Case{"HTTP/1.1 200 a\rb\r\n", "expected a status line"},
           Case{"HTTP/1.1 101 Switching Protocols\r\n\r\n", "protocol that was not asked for"},
           Case{ok + "no colon\r\n", "expected \"name: value\", found \"no colon\""},
           Case{ok + "Name : x\r\n", "expected \"name: value\""},
           Case{ok + ": x\r\n", "expected \"name: value\""},
           Case{ok + "X: y\r\n folded\r\n", "expected \"name: value\""},
           Case{ok + "X: a\rb\r\n", "invalid value of field \"X\""},
           Case{ok + std::string("X: a\0b\r\n", 8), "invalid value of field \"X\""},
           Case{ok + "X: \x7f\r\n", "invalid value of field"},
           Case{ok + "Content-Length: -1\r\n\r\n", "expected a length, found \"-1\""},
           Case{ok + "Content-Length: +1\r\n\r\n", "expected a length"},
           Case{ok + "Content-Length: 1, 1\r\n\r\n", "expected a length"},
           Case{ok + "Content-Length:\r\n\r\n", "expected a length"},
           Case{ok + "Content-Length: 99999999999999999999\r\n\r\n", "expected a length"},
           Case{ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "two lengths"},
           Case{ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both a length and chunks"},
           Case{ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", "unsupported transfer encoding"},
           Case{ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
                "unsupported transfer encoding"},
           Case{"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "unsupported transfer encoding"},
           Case{chunked + "zz\r\n", "expected the size of a chunk, found \"zz\""},
           Case{chunked + "-1\r\n", "expected the size of a chunk"},
           Case{chunked + "0x1\r\n", "expected the size of a chunk"},
           Case{chunked + "\r\n", "expected the size of a chunk"},
           Case{chunked + "11111111111111111\r\n", "expected the size of a chunk"},
           Case{chunked + "1;\x01\r\n", "expected the size of a chunk"},
           Case{chunked + "1\r\nab\r\n", "a chunk is longer than its size"},
           Case{chunked + "0\r\nno colon\r\n\r\n", "expected \"name: value\""},
           Case{chunked + "1;" + std::string(Http1Parser::kMaxChunkLine, 'x'), "the line of a chunk is too long"},
           Case{ok + "X: " + std::string(Http1Parser::kMaxHeadBytes, 'x'), "the head is larger than 262144 bytes"},
           Case{chunked + "0\r\nX: " + std::string(Http1Parser::kMaxHeadBytes, 'x'), "the head is larger than"},
           Case{WithFields(Http1Parser::kMaxFields + 1), "more than 1000 fields"},
           Case{many_hints, "too many informational heads"},
       }) {
    EXPECT_THAT(Parse(c.bytes).error, HasSubstr(c.error)) << c.bytes.substr(0, 80);
    std::vector<size_t> everywhere;
    for (size_t cut = 0; cut < std::min<size_t>(c.bytes.size(), 200); ++cut) everywhere.push_back(cut);
    EXPECT_THAT(Parse(c.bytes, everywhere).error, HasSubstr(c.error)) << "in pieces: " << c.bytes.substr(0, 80);
  }
  EXPECT_EQ(Parse(WithFields(Http1Parser::kMaxFields)).error, "");
}

TEST(Http1Parser, ReadsRubbishTheSameWhereverItIsCut) {
  base::Random random(11);
  for (int i = 0; i < 500; ++i) {
    std::string bytes = kWhole[random.Below(std::size(kWhole))].bytes;
    for (uint64_t changes = 1 + random.Below(4); changes > 0; --changes) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    }
    const Outcome at_once = Parse(bytes);
    EXPECT_EQ(Parse(bytes, {random.Below(bytes.size())}), at_once) << i;
  }
}

}  // namespace
}  // namespace berth::http
