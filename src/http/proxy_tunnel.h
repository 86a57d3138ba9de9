// ProxyTunnel: the exchange with a proxy until it forwards bytes to a server, by CONNECT or by SOCKS 5. It only
// produces and consumes bytes; it knows no socket.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/proxy.h"

namespace berth::http {

class ProxyTunnel {
 public:
  virtual ~ProxyTunnel() = default;

  // The bytes to send next.
  std::string_view output() const { return output_; }
  void Sent(size_t bytes) { output_.erase(0, bytes); }
  // Takes bytes from the proxy. An error says what the proxy rejected and why.
  virtual Result<void> Receive(std::string_view bytes) = 0;
  bool is_open() const { return open_; }

 protected:
  std::string output_;
  bool open_ = false;
};

// `name`, without the brackets of IPv6, and `port` are the server's; the proxy looks up the name. `proxy` must outlive
// it.
std::unique_ptr<ProxyTunnel> MakeProxyTunnel(const Proxy& proxy, const std::string& name, const std::string& port,
                                             const std::string& user_agent);

}  // namespace berth::http
