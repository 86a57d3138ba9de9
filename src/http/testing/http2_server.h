// Just enough HTTP/2 for an HttpServer to observe how a client uses it: requests are counted, not parsed, and every
// answer is "200" with the same body.
#pragma once

#include "http/testing/http_server.h"

namespace berth::http {

struct Http2Behaviour {
  int max_streams = 100;           // in the settings sent to the client
  int answer_when_open = 1;        // so many requests have to be waiting before they are answered, all at once
  int answer_at_most = 1'000'000;  // then the connection stays open, and silent
  bool break_off = false;          // ends the connection in the middle of the first answer
  // After this many requests it sends GOAWAY: those are answered, the others count as not processed. 0: never.
  int go_away_after = 0;
  bool refuse_first = false;  // rejects the first request as not processed
  bool answers_pings = true;
};

inline constexpr std::string_view kHttp2Body = "over http/2";

void ServeHttp2(ServedConnection& connection, const Http2Behaviour& behaviour);

}  // namespace berth::http
