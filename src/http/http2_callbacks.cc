#include "http/http2_callbacks.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace berth::http {
namespace {

// For the whole connection: large enough never to delay an answer, because throttling is done per stream. More than all
// watches of a scheduler together may leave unused (kPacedBytes each).
constexpr int32_t kConnectionWindow = 32 << 20;

std::string_view Text(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace

nghttp2_session* Http2Callbacks::MakeSession(Http2Connection& connection) {
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &OnSent);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnClosed);
  nghttp2_option* option = nullptr;
  CHECK(nghttp2_option_new(&option) == 0);
  // The window is updated as the data is used.
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_session* session = nullptr;
  CHECK(nghttp2_session_client_new2(&session, callbacks, &connection, option) == 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);

  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<uint32_t>(kPacedBytes)},
  };
  CHECK(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings)) == 0);
  CHECK(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow) == 0);
  return session;
}

nghttp2_data_provider Http2Callbacks::BodyOf(Http2Stream&) {
  // The stream is looked up by its id each time: it may have ended by then.
  return {.source = {.ptr = nullptr}, .read_callback = &ReadBody};
}

ssize_t Http2Callbacks::ReadBody(nghttp2_session* session, int32_t id, uint8_t* into, size_t size, uint32_t* flags,
                                 nghttp2_data_source*, void*) {
  Http2Stream* stream = StreamOf(session, id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::string_view left = std::string_view(stream->exchange.request().body).substr(stream->sent);
  const size_t count = std::min(size, left.size());
  std::memcpy(into, left.data(), count);
  stream->sent += count;
  if (count == left.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(count);
}

int Http2Callbacks::OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                             size_t name_size, const uint8_t* value, size_t value_size, uint8_t, void*) {
  Http2Stream* stream = StreamOf(session, frame->hd.stream_id);
  if (stream == nullptr || stream->exchange.answered()) return 0;  // unknown stream, or trailers
  const std::string_view field = Text(name, name_size), text = Text(value, value_size);
  if (field == ":status") {
    stream->answer.clear();
    stream->status = 0;
    std::from_chars(text.data(), text.data() + text.size(), stream->status);
    return 0;
  }
  stream->answer.emplace_back(field, text);
  return 0;
}

int Http2Callbacks::OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
  auto& connection = *static_cast<Http2Connection*>(self);
  using State = Http2Connection::State;
  switch (frame->hd.type) {
    case NGHTTP2_HEADERS: {
      Http2Stream* stream = StreamOf(session, frame->hd.stream_id);
      if (stream == nullptr || stream->exchange.answered() || stream->status < 200) break;  // 1xx: another follows
      connection.heard_ = connection.alive_;
      stream->exchange.TakeHead(stream->status, std::move(stream->answer));
      break;
    }
    case NGHTTP2_SETTINGS:
      if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0 && connection.state_ == State::kOpening) {
        connection.state_ = State::kReady;
        connection.was_ready_ = true;
      }
      break;
    case NGHTTP2_GOAWAY:
      // Requests that the server has accepted are completed; nghttp2 closes the rest as refused.
      connection.state_ = State::kLeaving;
      break;
    default:
      break;
  }
  return 0;
}

int Http2Callbacks::OnData(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data, size_t size,
                           void* self) {
  auto& connection = *static_cast<Http2Connection*>(self);
  nghttp2_session_consume_connection(session, size);
  Http2Stream* stream = StreamOf(session, id);
  if (stream == nullptr) return 0;
  connection.heard_ = connection.alive_;
  if (!stream->exchange.is_paced()) nghttp2_session_consume_stream(session, id, size);
  if (!stream->exchange.TakeData(Text(data, size))) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  }
  return 0;
}

int Http2Callbacks::OnSent(nghttp2_session* session, const nghttp2_frame* frame, void*) {
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;
  if (Http2Stream* stream = StreamOf(session, frame->hd.stream_id)) stream->went_out = true;
  return 0;
}

int Http2Callbacks::OnClosed(nghttp2_session* session, int32_t id, uint32_t error_code, void* self) {
  if (Http2Stream* stream = StreamOf(session, id))
    static_cast<Http2Connection*>(self)->OnStreamClosed(*stream, error_code);
  return 0;
}

}  // namespace berth::http
