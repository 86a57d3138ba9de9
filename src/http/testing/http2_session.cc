#include "http/testing/http2_session.h"

#include <nghttp2/nghttp2.h>
#include <poll.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <optional>

#include "base/ascii.h"
#include "base/check.h"
#include "http/wake_signal.h"

namespace berth::http {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

class Session;

// One request and its answer; what the handler's thread shares with the connection's is guarded by the session's mutex.
struct Stream {
  int32_t id = 0;
  ServedRequest request{};
  std::thread handler{};
  // Guarded.
  std::optional<Fields> head{};
  bool head_submitted = false;
  std::string data{};
  bool ended = false;   // by the handler
  bool closed = false;  // by anybody
};

class Session {
 public:
  Session(ServedConnection& connection, const HttpServer::Handler& handler)
      : connection_(connection), handler_(handler) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &OnBegin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnClosed);
    CHECK(nghttp2_session_server_new(&session_, callbacks, this) == 0);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }

  ~Session() {
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [id, stream] : streams_) stream->closed = true;
      changed_.notify_all();
    }
    for (const auto& [id, stream] : streams_) {
      if (stream->handler.joinable()) stream->handler.join();
    }
    nghttp2_session_del(session_);
  }

  void Serve() {
    connection_.MakeNonBlocking();
    char buffer[16 << 10];
    for (;;) {
      if (!Send()) return;
      pollfd watched[] = {{connection_.fd(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}};
      poll(watched, 2, -1);
      wake_.Clear();
      std::optional<size_t> got;
      while ((got = connection_.ReadSome(buffer, sizeof(buffer))) && *got > 0) {
        const std::lock_guard lock(mutex_);
        if (nghttp2_session_mem_recv(session_, reinterpret_cast<uint8_t*>(buffer), *got) < 0) return;
      }
      if (!got) return;
    }
  }

  // Called by the handler.
  template <class Change>
  void Tell(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    wake_.Set();
  }
  void WaitUntilClosed(Stream& stream) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stream.closed; });
  }
  void Break() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    wake_.Set();
  }

 private:
  // Returns false when the connection is to be left as it is.
  bool Send() {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, stream] : streams_) {
      if (!stream->head || stream->closed) continue;
      if (!std::exchange(stream->head_submitted, true)) {
        std::vector<nghttp2_nv> fields;
        for (auto& [name, value] : *stream->head) {
          fields.push_back({reinterpret_cast<uint8_t*>(name.data()), reinterpret_cast<uint8_t*>(value.data()),
                            name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
        }
        nghttp2_data_provider body{.source = {.ptr = stream.get()}, .read_callback = &ReadBody};
        nghttp2_submit_response(session_, id, fields.data(), fields.size(), &body);
      } else {
        nghttp2_session_resume_data(session_, id);
      }
    }
    const bool broken = broken_;
    for (;;) {
      const uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
      if (size <= 0) break;
      if (!connection_.Write({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)})) return false;
    }
    return !broken;
  }

  // All of these are called with the lock held.
  static ssize_t ReadBody(nghttp2_session*, int32_t, uint8_t* into, size_t size, uint32_t* flags,
                          nghttp2_data_source* source, void*) {
    auto& stream = *static_cast<Stream*>(source->ptr);
    const size_t count = std::min(size, stream.data.size());
    std::memcpy(into, stream.data.data(), count);
    stream.data.erase(0, count);
    if (stream.data.empty() && stream.ended) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (count == 0 && !stream.ended) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(count);
  }

  static int OnBegin(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    auto stream = std::make_unique<Stream>();
    stream->id = frame->hd.stream_id;
    static_cast<Session*>(self)->streams_[stream->id] = std::move(stream);
    return 0;
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* self) {
    ServedRequest& request = static_cast<Session*>(self)->streams_.at(frame->hd.stream_id)->request;
    std::string field(reinterpret_cast<const char*>(name), name_size);
    std::string text(reinterpret_cast<const char*>(value), value_size);
    if (field == ":method") request.method = text;
    if (field == ":path") request.path = text;
    request.headers.emplace(field == ":authority" ? "host" : std::move(field), std::move(text));
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* self) {
    static_cast<Session*>(self)->streams_.at(id)->request.body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnClosed(nghttp2_session*, int32_t id, uint32_t, void* self) {
    auto& session = *static_cast<Session*>(self);
    session.streams_.at(id)->closed = true;
    session.changed_.notify_all();
    return 0;
  }

  ServedConnection& connection_;
  const HttpServer::Handler& handler_;
  nghttp2_session* session_ = nullptr;
  WakeSignal wake_;
  std::map<int32_t, std::unique_ptr<Stream>> streams_;  // of the connection's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  bool broken_ = false;  // guarded by mutex_
};

class Http2Reply final : public ServedReply {
 public:
  Http2Reply(Session& session, Stream& stream) : session_(session), stream_(stream) {}

  void Send(int status, std::string_view body, const Fields& headers) override {
    Begin(status, headers);
    Piece(body);
    End();
  }
  void Begin(int status, const Fields& headers) override {
    Fields fields = {{":status", std::to_string(status)}};
    for (auto [name, value] : headers) {
      fields.emplace_back(base::LowerCase(name), std::move(value));
    }
    session_.Tell([&] { stream_.head = std::move(fields); });
  }
  void Piece(std::string_view bytes) override {
    session_.Tell([&] { stream_.data += bytes; });
  }
  void End() override {
    session_.Tell([&] { stream_.ended = true; });
  }
  void WaitForEnd() override { session_.WaitUntilClosed(stream_); }

 private:
  Session& session_;
  Stream& stream_;
};

int Session::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  auto& session = *static_cast<Session*>(self);
  const bool carries = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
  if (!carries || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  Stream& stream = *session.streams_.at(frame->hd.stream_id);
  stream.request.client_name = session.connection_.ClientName();
  stream.request.server_name = session.connection_.ServerName();
  stream.handler = std::thread([&session, &stream] {
    Http2Reply reply(session, stream);
    session.handler_(stream.request, reply);
    if (reply.broken()) session.Break();
  });
  return 0;
}

}  // namespace

void ServeHttp2Session(ServedConnection& connection, const HttpServer::Handler& handler) {
  Session(connection, handler).Serve();
}

}  // namespace berth::http
