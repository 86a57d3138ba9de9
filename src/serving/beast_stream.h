// What a connection of the server reads from and writes to. Of server.cc alone: it brings Asio and Beast.
#pragma once

#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace berth::serving {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

inline asio::ssl::context ShareContext(SSL_CTX* tls) {
  SSL_CTX_up_ref(tls);
  return asio::ssl::context(tls);
}

// What a connection reads from and writes to, with TLS or without. Beast's operations are deeply nested templates: with
// this one class as the stream, each of them is instantiated once for both kinds.
class ByteStream {
 public:
  using executor_type = beast::tcp_stream::executor_type;
  using Done = std::function<void(error_code)>;
  using Transferred = std::function<void(error_code, size_t)>;

  virtual ~ByteStream() = default;
  virtual beast::tcp_stream& tcp() = 0;
  virtual SSL* tls() = 0;  // null without TLS
  virtual void Handshake(Done done) = 0;
  virtual void Shutdown(Done done) = 0;

  // The names and signatures that Asio's and Beast's operations expect of a stream.
  executor_type get_executor() { return tcp().get_executor(); }
  template <class Buffers, class Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    ReadSome(First<asio::mutable_buffer>(buffers), Copyable(std::forward<Handler>(handler)));
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    WriteSome(Joined(buffers), Copyable(std::forward<Handler>(handler)));
  }

 protected:
  virtual void ReadSome(asio::mutable_buffer into, Transferred done) = 0;
  virtual void WriteSome(asio::const_buffer from, Transferred done) = 0;

 private:
  static constexpr size_t kMaxJoined = 16 * 1024;  // one TLS record

  template <class Buffer, class Buffers>
  static Buffer First(const Buffers& buffers) {
    const auto end = asio::buffer_sequence_end(buffers);
    for (auto it = asio::buffer_sequence_begin(buffers); it != end; ++it) {
      if (const Buffer buffer(*it); buffer.size() != 0) return buffer;
    }
    return {};
  }

  // A head and a short body are sent in one record and one packet.
  template <class Buffers>
  asio::const_buffer Joined(const Buffers& buffers) {
    const auto first = First<asio::const_buffer>(buffers);
    const size_t size = std::min(asio::buffer_size(buffers), kMaxJoined);
    if (first.size() >= size) return first;
    joined_.resize(size);
    asio::buffer_copy(asio::buffer(joined_), buffers);
    return asio::buffer(joined_);
  }

  // Asio's operations are move-only.
  template <class Handler>
  static Transferred Copyable(Handler&& handler) {
    return [held = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler))](
               error_code error, size_t size) { (*held)(error, size); };
  }

  std::string joined_;  // while it is written
};

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(asio::ip::tcp::socket socket) : stream_(std::move(socket)) {}
  beast::tcp_stream& tcp() override { return stream_; }
  SSL* tls() override { return nullptr; }
  void Handshake(Done done) override { done({}); }
  void Shutdown(Done done) override {
    error_code error;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
    done(error);
  }

 private:
  void ReadSome(asio::mutable_buffer into, Transferred done) override {
    stream_.async_read_some(into, std::move(done));
  }
  void WriteSome(asio::const_buffer from, Transferred done) override {
    stream_.async_write_some(from, std::move(done));
  }

  beast::tcp_stream stream_;
};

class TlsStream final : public ByteStream {
 public:
  TlsStream(asio::ip::tcp::socket socket, SSL_CTX* tls)
      : context_(ShareContext(tls)), stream_(std::move(socket), context_) {}
  beast::tcp_stream& tcp() override { return stream_.next_layer(); }
  SSL* tls() override { return stream_.native_handle(); }
  void Handshake(Done done) override { stream_.async_handshake(asio::ssl::stream_base::server, std::move(done)); }
  void Shutdown(Done done) override { stream_.async_shutdown(std::move(done)); }

 private:
  void ReadSome(asio::mutable_buffer into, Transferred done) override {
    stream_.async_read_some(into, std::move(done));
  }
  void WriteSome(asio::const_buffer from, Transferred done) override {
    stream_.async_write_some(from, std::move(done));
  }

  asio::ssl::context context_;
  asio::ssl::stream<beast::tcp_stream> stream_;
};

}  // namespace berth::serving
