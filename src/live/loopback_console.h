// LoopbackConsole: the console for this machine only, over plain HTTP on a loopback address. The address contains a
// token, which other users of the machine and other pages in a browser do not know. Requests for another host (a name
// that was rebound to 127.0.0.1) and requests from another origin are rejected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "live/inspected.h"
#include "live/inspection.h"
#include "serving/server.h"

namespace berth::live {

class LoopbackConsole final : private serving::RequestHandler {
 public:
  struct Options {
    uint16_t port = 0;  // 0: any free one
    Inspection::Options inspection{};
  };

  static Result<std::unique_ptr<LoopbackConsole>> Start(std::unique_ptr<Inspected> inspected, Options options);
  ~LoopbackConsole() override;

  // Ends what is being served. Call it before what is inspected is destroyed, if that happens earlier.
  void Stop() { server_->Stop(); }
  uint16_t port() const { return server_->port(); }
  // The address to open in a browser.
  std::string url() const;
  const std::string& token() const { return token_; }

 private:
  LoopbackConsole(std::unique_ptr<Inspected> inspected, Options options);
  std::optional<serving::HttpResponse> TryHandle(const serving::HttpRequest&) override { return std::nullopt; }
  serving::HttpResponse Handle(const serving::HttpRequest& request) override;
  bool IsForUs(std::string_view host) const;

  const std::string token_;
  Inspection inspection_;
  std::unique_ptr<serving::HttpsServer> server_;  // last: its threads use the others
};

}  // namespace berth::live
