// What all requests to a server share, and the sockets they go through.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/curl_transport_exchange.h"
#include "client/kubeconfig.h"

namespace berth::client {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Probes on an idle connection; when they stay without an answer for kKernelTimeout, the kernel closes it.
constexpr long kKeepAliveIdleSeconds = 15;
constexpr long kKeepAliveIntervalSeconds = 5;
constexpr milliseconds kKernelTimeout = seconds(30);

constexpr size_t kSchemeSize = std::string_view("https://").size();

int LocalPort(curl_socket_t socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  const bool v6 = address.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                  : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host.starts_with("localhost:") || host.starts_with("127.") || host.starts_with("[::1]");
}

// The authorities of the system, as the path that libcurl was built with names them.
std::string SystemAuthorities() {
  const curl_version_info_data* info = curl_version_info(CURLVERSION_NOW);
  if (info->age < CURLVERSION_EIGHTH || info->cainfo == nullptr) return {};
  Result<std::string> pem = ReadFile(info->cainfo);
  return pem ? std::move(*pem) : std::string();
}

std::string PortOf(const std::string& host, bool tls) {
  const size_t colon = host.rfind(':');
  const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
  return has_port ? host.substr(colon + 1) : tls ? "443" : "80";
}

RestConfig WithAuthorities(RestConfig config) {
  if (config.is_tls() && !config.insecure && config.ca.empty()) config.ca = SystemAuthorities();
  return config;
}

}  // namespace

void Connections::Attach(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &Connections::Open);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &Connections::Close);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
}

curl_socket_t Connections::Open(void* self, curlsocktype, curl_sockaddr* address) {
  const int opened = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (opened < 0) return CURL_SOCKET_BAD;
  const auto timeout = static_cast<unsigned>(kKernelTimeout.count());
  setsockopt(opened, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof(timeout));
  static_cast<Connections*>(self)->open_.insert(opened);
  return opened;
}

int Connections::Close(void* self, curl_socket_t socket) {
  auto& connections = *static_cast<Connections*>(self);
  connections.open_.erase(socket);
  connections.heard_.erase(LocalPort(socket));
  return close(socket);
}

void Connections::Heard(int port, SteadyTime now) {
  ++activity_;
  heard_[port] = now;
}

void Connections::Suspect(int port, SteadyTime now) {
  const auto found = heard_.find(port);
  if (found == heard_.end() || now - found->second < silence_) return;
  for (const curl_socket_t socket : open_) {
    // libcurl then sees the end of the connection, and fails whatever else is on it.
    if (LocalPort(socket) == port) shutdown(socket, SHUT_RDWR);
  }
}

ServerSetup::ServerSetup(RestConfig config, const CurlOptions& options)
    : config_(WithAuthorities(std::move(config))), connect_timeout_(options.connect_timeout) {
  const size_t start = config_.is_tls() ? kSchemeSize : kSchemeSize - 1;
  const size_t slash = config_.server.find('/', start);
  host_ = config_.server.substr(start, slash == std::string::npos ? slash : slash - start);
  base_url_ = config_.server;
  loopback_ = IsLoopback(host_);
  proxy_ = config_.proxy_url;
  // Go leaves looking up names to a SOCKS proxy.
  if (proxy_.starts_with("socks5://")) proxy_.replace(0, 6, "socks5h");
  if (config_.is_tls() && !config_.tls_server_name.empty()) {
    // The URL has the name that the certificate is for; libcurl connects to where the server really is.
    const std::string port = PortOf(host_, true);
    const std::string prefix = slash == std::string::npos ? "" : config_.server.substr(slash);
    base_url_ = "https://" + config_.tls_server_name + ":" + port + prefix;
    const bool has_port = host_.ends_with(":" + port);
    connect_to_ = curl_slist_append(
        nullptr, (config_.tls_server_name + ":" + port + ":" + host_ + (has_port ? "" : ":" + port)).c_str());
  }
}

void ServerSetup::ApplyProxy(CURL* easy) const {
  if (!proxy_.empty()) {
    curl_easy_setopt(easy, CURLOPT_PROXY, proxy_.c_str());
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  } else if (loopback_) {
    // As Go has it: the environment's proxy is not for this machine.
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  }
}

void ServerSetup::Apply(CURL* easy) const {
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, config_.is_tls() ? "https" : "http");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Waits to learn whether the connection being made can be shared, instead of making one more. Without TLS there is
  // nothing to learn: libcurl would wait until the first answer has ended, which for a watch is never.
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, config_.is_tls() ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(duration_cast<milliseconds>(connect_timeout_).count()));
  if (!config_.disable_compression) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  if (connect_to_ != nullptr) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_);
  ApplyProxy(easy);
  if (!config_.is_tls()) return;
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (config_.insecure) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    return;
  }
  curl_blob ca = {.data = const_cast<char*>(config_.ca.data()), .len = config_.ca.size(), .flags = CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
  // Otherwise the system's authorities would be good enough too.
  curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
}

}  // namespace berth::client
