#include "live/loopback_console.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <utility>

#include "base/check.h"
#include "serving/authentication.h"

namespace berth::live {

using serving::HttpRequest;
using serving::HttpResponse;

namespace {

constexpr std::string_view kLoopbackAddress = "127.0.0.1";

// 128 bits that nobody can guess.
std::string MakeToken() {
  unsigned char bytes[16];
  CHECK_WHY(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes, "the kernel has random numbers");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

// In constant time, so that a token cannot be guessed character by character.
bool AreEqualTokens(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned char>(a[i] ^ b[i]);
  return different == 0;
}

Inspection::Options OverPlainHttp(Inspection::Options options) {
  options.scheme = "http";
  return options;
}

}  // namespace

LoopbackConsole::LoopbackConsole(std::unique_ptr<Inspected> inspected, Options options)
    : token_(MakeToken()), inspection_(std::move(inspected), OverPlainHttp(std::move(options.inspection))) {}

LoopbackConsole::~LoopbackConsole() = default;

Result<std::unique_ptr<LoopbackConsole>> LoopbackConsole::Start(std::unique_ptr<Inspected> inspected, Options options) {
  const uint16_t port = options.port;
  std::unique_ptr<LoopbackConsole> console(new LoopbackConsole(std::move(inspected), std::move(options)));
  serving::ServerOptions server;
  server.bind_address = kLoopbackAddress;
  server.port = port;
  Result<std::unique_ptr<serving::HttpsServer>> started = serving::HttpsServer::StartOnLoopback(server, *console);
  if (!started) return started.error();
  console->server_ = *std::move(started);
  return console;
}

std::string LoopbackConsole::url() const {
  return fmt::format("http://{}:{}/{}/console", kLoopbackAddress, port(), token_);
}

bool LoopbackConsole::IsForUs(std::string_view host) const {
  return host == fmt::format("{}:{}", kLoopbackAddress, port()) || host == fmt::format("localhost:{}", port());
}

HttpResponse LoopbackConsole::Handle(const HttpRequest& request) {
  if (!IsForUs(request.Header("host"))) {
    return serving::TextError(403,
                              "this is served to 127.0.0.1 and localhost only, and the request is for another host");
  }
  // "/TOKEN/page"
  const std::string_view path = request.path;
  const size_t end = path.find('/', 1);
  if (end == std::string_view::npos || !AreEqualTokens(path.substr(1, end - 1), token_)) {
    return serving::TextError(403, "open the address that berth has printed, with the token in it");
  }
  HttpRequest inner = request;
  inner.path = std::string(serving::kDebugPrefix) + std::string(path.substr(end + 1));
  return inspection_.Serve(inner);
}

}  // namespace berth::live
