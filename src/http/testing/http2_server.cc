#include "http/testing/http2_server.h"

#include <cstdint>

namespace berth::http {
namespace {

enum FrameType : uint8_t { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7 };
constexpr uint32_t kRefusedStream = 7;
constexpr uint8_t kAck = 1, kEndStream = 1, kEndHeaders = 4;
constexpr uint16_t kMaxConcurrentStreams = 3;

std::string Number(uint32_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

uint32_t ReadNumber(std::string_view bytes) {
  uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

std::string Frame(FrameType type, uint8_t flags, uint32_t stream, std::string_view payload) {
  return Number(static_cast<uint32_t>(payload.size()), 3) + static_cast<char>(type) + static_cast<char>(flags) +
         Number(stream, 4) + std::string(payload);
}

constexpr std::string_view kStatus200 = "\x88";  // an entry of HPACK's static table

std::string Answer(uint32_t stream) {
  return Frame(kHeaders, kEndHeaders, stream, kStatus200) + Frame(kData, kEndStream, stream, kHttp2Body);
}

}  // namespace

void ServeHttp2(ServedConnection& connection, const Http2Behaviour& behaviour) {
  char preface[24];
  if (!connection.ReadExactly(preface, sizeof(preface))) return;
  connection.Write(Frame(kSettings, 0, 0,
                         Number(kMaxConcurrentStreams, 2) + Number(static_cast<uint32_t>(behaviour.max_streams), 4)));
  std::vector<uint32_t> waiting;
  int answered = 0;
  uint32_t last_stream = 0;  // that was seen; 0: all are
  for (;;) {
    char head[9];
    if (!connection.ReadExactly(head, sizeof(head))) return;
    std::string payload(ReadNumber({head, 3}), '\0');
    if (!connection.ReadExactly(payload.data(), payload.size())) return;
    const auto type = static_cast<uint8_t>(head[3]), flags = static_cast<uint8_t>(head[4]);
    if (type == kGoAway) return;
    if (type == kPing && !behaviour.answers_pings) continue;
    if ((type == kSettings || type == kPing) && (flags & kAck) == 0) {
      connection.Write(Frame(static_cast<FrameType>(type), kAck, 0, type == kPing ? payload : ""));
    }
    if ((type != kHeaders && type != kData) || (flags & kEndStream) == 0) continue;
    const uint32_t stream = ReadNumber({head + 5, 4});
    if (behaviour.refuse_first && stream == 1) {
      connection.Write(Frame(kReset, 0, stream, Number(kRefusedStream, 4)));
      continue;
    }
    if (last_stream != 0) continue;  // unseen
    waiting.push_back(stream);
    if (static_cast<int>(waiting.size()) < behaviour.answer_when_open) continue;
    if (behaviour.break_off) {
      connection.Write(Frame(kHeaders, kEndHeaders, waiting.front(), kStatus200) +
                       Frame(kData, 0, waiting.front(), kHttp2Body));
      return;
    }
    for (const uint32_t one : waiting) {
      if (answered++ < behaviour.answer_at_most) connection.Write(Answer(one));
    }
    waiting.clear();
    if (behaviour.go_away_after > 0 && answered >= behaviour.go_away_after) {
      last_stream = stream;
      connection.Write(Frame(kGoAway, 0, 0, Number(last_stream, 4) + Number(0, 4)));
    }
  }
}

}  // namespace berth::http
