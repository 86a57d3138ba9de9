#include "http/curl_setup.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/socket_options.h"

namespace berth::http {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

int LocalPort(curl_socket_t socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  const bool v6 = address.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                  : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

}  // namespace

void CurlConnections::Attach(CURL* easy) {
  Curl().easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &CurlConnections::Open);
  Curl().easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  Curl().easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &CurlConnections::Close);
  Curl().easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
  Curl().easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  Curl().easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, static_cast<long>(kKeepAliveIdleSeconds));
  Curl().easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, static_cast<long>(kKeepAliveIntervalSeconds));
}

curl_socket_t CurlConnections::Open(void* self, curlsocktype, curl_sockaddr* address) {
  const int opened = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (opened < 0) return CURL_SOCKET_BAD;
  const auto timeout = static_cast<unsigned>(kKernelTimeout.count());
  setsockopt(opened, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof(timeout));
  static_cast<CurlConnections*>(self)->open_.insert(opened);
  return opened;
}

int CurlConnections::Close(void* self, curl_socket_t socket) {
  auto& connections = *static_cast<CurlConnections*>(self);
  connections.open_.erase(socket);
  connections.heard_.erase(LocalPort(socket));
  return close(socket);
}

void CurlConnections::Heard(int port, SteadyTime now) {
  ++activity_;
  heard_[port] = now;
}

void CurlConnections::Suspect(int port, SteadyTime now) {
  const auto found = heard_.find(port);
  if (found == heard_.end() || now - found->second < silence_) return;
  for (const curl_socket_t socket : open_) {
    // libcurl then sees the end of the connection, and fails whatever else is on it.
    if (LocalPort(socket) == port) shutdown(socket, SHUT_RDWR);
  }
}

CurlSetup::CurlSetup(const Server& server, const TransportOptions& options)
    : server_(server),
      connect_timeout_(options.connect_timeout),
      base_url_(server.config().server),
      proxy_(server.config().proxy_url) {
  // Go leaves looking up names to a SOCKS proxy.
  if (proxy_.starts_with("socks5://")) proxy_.replace(0, 6, "socks5h");
  if (server.config().is_tls() && !server.config().tls_server_name.empty()) {
    // The URL has the name that the certificate is for; libcurl connects to where the server really is.
    const std::string there = server.tls_name() + ":" + server.port();
    base_url_ = "https://" + there + server.prefix();
    const bool has_port = server.host().ends_with(":" + server.port());
    connect_to_ =
        Curl().slist_append(nullptr, (there + ":" + server.host() + (has_port ? "" : ":" + server.port())).c_str());
  }
}

void CurlSetup::ApplyProxy(CURL* easy) const {
  if (!proxy_.empty()) {
    Curl().easy_setopt(easy, CURLOPT_PROXY, proxy_.c_str());
    Curl().easy_setopt(easy, CURLOPT_NOPROXY, "");
    Curl().easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  } else if (server_.is_loopback()) {
    // As Go has it: the environment's proxy is not for this machine.
    Curl().easy_setopt(easy, CURLOPT_NOPROXY, "*");
  }
}

void CurlSetup::Apply(CURL* easy) const {
  const RestConfig& config = server_.config();
  Curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  Curl().easy_setopt(easy, CURLOPT_PROTOCOLS_STR, config.is_tls() ? "https" : "http");
  Curl().easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Waits to learn whether the connection being made can be shared, instead of making one more. Without TLS there is
  // nothing to learn: libcurl would wait until the first answer has ended, which for a watch is never.
  Curl().easy_setopt(easy, CURLOPT_PIPEWAIT, config.is_tls() ? 1L : 0L);
  Curl().easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  Curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(duration_cast<milliseconds>(connect_timeout_).count()));
  if (!config.disable_compression) Curl().easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  if (connect_to_ != nullptr) Curl().easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_);
  ApplyProxy(easy);
  if (!config.is_tls()) return;
  Curl().easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (config.insecure) {
    Curl().easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    Curl().easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    return;
  }
  curl_blob ca = {.data = const_cast<char*>(config.ca.data()), .len = config.ca.size(), .flags = CURL_BLOB_NOCOPY};
  Curl().easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
  // Otherwise the system's authorities would be good enough too.
  Curl().easy_setopt(easy, CURLOPT_CAPATH, nullptr);
}

}  // namespace berth::http
