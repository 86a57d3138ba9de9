#include "http/testing/proxy_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <optional>

namespace berth::http {
namespace {

// A port on this machine; -1: nobody listens.
int ConnectTo(uint16_t port) {
  const int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (connect(opened, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return opened;
  close(opened);
  return -1;
}

bool WriteAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

// Forwards bytes until one side ends.
void Relay(ServedConnection& client, int server) {
  client.MakeNonBlocking();
  char buffer[16 << 10];
  for (;;) {
    std::optional<size_t> got = client.ReadSome(buffer, sizeof(buffer));
    for (; got && *got > 0; got = client.ReadSome(buffer, sizeof(buffer))) {
      if (!WriteAll(server, {buffer, *got})) break;
    }
    if (!got) break;
    pollfd both[] = {{.fd = client.fd(), .events = POLLIN, .revents = 0},
                     {.fd = server, .events = POLLIN, .revents = 0}};
    poll(both, 2, -1);
    if (both[1].revents == 0) continue;
    const ssize_t read = recv(server, buffer, sizeof(buffer), 0);
    if (read <= 0 || !client.Write({buffer, static_cast<size_t>(read)})) break;
  }
  close(server);
}

uint16_t PortOf(const std::string& target) {
  uint16_t port = 0;
  const size_t colon = target.rfind(':');
  std::from_chars(target.data() + colon + 1, target.data() + target.size(), port);
  return port;
}

}  // namespace

ProxyServer::ProxyServer(const Options& options)
    : options_(options),
      server_([](const ServedRequest&, ServedReply&) {},
              {.identity = options.identity,
               .raw = [this](ServedConnection& client) { options_.socks5 ? ServeSocks5(client) : Serve(client); }}) {}

std::string ProxyServer::url(const std::string& user) const {
  std::string url = server_.url();
  if (options_.socks5) url.replace(0, 4, "socks5");
  if (!user.empty()) url.insert(url.find("://") + 3, user + "@");
  return url;
}

std::vector<std::string> ProxyServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ProxyServer::Note(std::string request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(request));
}

void ProxyServer::Serve(ServedConnection& client) {
  ServedRequest request;
  while (client.ReadRequest(request)) {
    const std::string who = request.Header("proxy-authorization");
    Note(request.method + " " + request.path + (who.empty() ? "" : " " + who));
    if (request.method == "CONNECT") {
      const int server = ConnectTo(PortOf(request.path));
      if (server < 0) client.Write("HTTP/1.1 502 Failed to connect\r\nContent-Length: 0\r\n\r\n");
      if (server < 0) return;
      client.Write("HTTP/1.1 200 Connection established\r\n\r\n");
      return Relay(client, server);
    }
    const std::string body = "via " + request.path + " for " + request.Header("host");
    client.Write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    request = {};
  }
}

void ProxyServer::ServeSocks5(ServedConnection& client) {
  char greeting[3], head[4], size = 0;
  if (!client.ReadExactly(greeting, sizeof(greeting))) return;
  client.Write(std::string_view("\x05\x00", 2));
  if (!client.ReadExactly(head, sizeof(head))) return;
  if (head[3] == 3 && !client.ReadExactly(&size, 1)) return;
  std::string target(head[3] == 1 ? 4 : static_cast<size_t>(size), '\0');
  unsigned char port[2];
  if (!client.ReadExactly(target.data(), target.size())) return;
  if (!client.ReadExactly(reinterpret_cast<char*>(port), sizeof(port))) return;
  Note(head[3] == 1 ? "address" : target);
  const int server = ConnectTo(static_cast<uint16_t>(port[0] << 8 | port[1]));
  const char code = server < 0 ? 5 : 0;
  client.Write(std::string{5, code, 0, 1, 0, 0, 0, 0, 0, 0});
  if (server >= 0) Relay(client, server);
}

}  // namespace berth::http
