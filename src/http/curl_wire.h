// CurlWire: exchanges over libcurl's multi interface, with HTTP/2 where the server has it.
//
// libcurl by itself repeats a request when a connection that was kept from before turns out to be dead without a byte
// of answer. It knows no way to make a server wait: Request::paced is not looked at.
#pragma once

#include <memory>
#include <vector>

#include "http/curl_setup.h"
#include "http/wire.h"

namespace berth::http {

class CurlWire final : public Wire {
 public:
  // All must outlive this.
  CurlWire(const Server& server, const TransportOptions& options, WireOwner& owner);
  ~CurlWire() override;

  void Begin(Exchange& exchange, const Headers& headers, const CredentialsPtr& credentials) override;
  void Drop(Exchange& exchange) override;
  void Suspect(Exchange& exchange, SteadyTime now) override;
  void Consumed(Exchange&, size_t) override {}
  void Perform() override;
  void Wait(SteadyTime until, int wake) override;

 private:
  struct Handle;

  CURL* TakeHandle();
  // Frees what carried an exchange, whether or not it has finished.
  void Release(Handle& handle);
  void ReapFinished();
  void Nudge();

  WireOwner& owner_;
  const CurlSetup setup_;
  CurlConnections connections_;  // before multi_: closing a connection tells it
  CURLM* const multi_;
  std::vector<CURL*> spare_;
  std::vector<Handle*> on_wire_;
  uint64_t seen_activity_ = 0;
  SteadyTime nudge_from_{};
  size_t nudges_;  // since then
};

}  // namespace berth::http
