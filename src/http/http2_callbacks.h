// The callbacks from nghttp2 to an Http2Connection. Internal to it.
#pragma once

#include <nghttp2/nghttp2.h>

#include "http/http2_connection.h"

namespace berth::http {

struct Http2Callbacks {
  // A client's session whose events go to `connection`.
  static nghttp2_session* MakeSession(Http2Connection& connection);
  // Where the body of a request comes from.
  static nghttp2_data_provider BodyOf(Http2Stream& stream);

 private:
  static Http2Stream* StreamOf(nghttp2_session* session, int32_t id) {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }
  static ssize_t ReadBody(nghttp2_session* session, int32_t id, uint8_t* into, size_t size, uint32_t* flags,
                          nghttp2_data_source* source, void* connection);
  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t flags, void* connection);
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* connection);
  static int OnData(nghttp2_session* session, uint8_t flags, int32_t id, const uint8_t* data, size_t size,
                    void* connection);
  static int OnSent(nghttp2_session* session, const nghttp2_frame* frame, void* connection);
  static int OnClosed(nghttp2_session* session, int32_t id, uint32_t error_code, void* connection);
};

}  // namespace berth::http
