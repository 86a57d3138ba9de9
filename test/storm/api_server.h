// ApiServer: a model of an API server in front of a Store: reads, watches and writes of the kinds a scheduler uses, and
// the ways in which a real one rejects requests.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storm/api_watches.h"
#include "storm/api_wire.h"
#include "storm/api_writes.h"
#include "storm/faults.h"
#include "storm/network.h"
#include "storm/store.h"
#include "storm/trace.h"

namespace berth::storm {

struct ServerOptions {
  StreamingLists streaming = StreamingLists::kWork;
  // The most objects on a page; 0: as many as the client allows.
  size_t page_size = 0;
  // There is no watch cache: lists of any version are paged, too.
  bool pages_any_version = false;
  // Consistent lists fail for good, as with an etcd in trouble, once a client has filled its caches. Watches, and lists
  // from the server's cache, work.
  bool relists_latest = true;
};

class ApiServer {
 public:
  ApiServer(Timeline& timeline, Store& store, Faults& faults, Trace& trace, ServerOptions options, uint64_t seed);

  void Serve(const ExchangePtr& exchange);
  // Whether the process has filled its caches.
  void set_has_picture(std::function<bool(const std::string& process)> has_picture) {
    has_picture_ = std::move(has_picture);
  }

  // Whether reads of the kind are answered with 404.
  void SetServed(api::Kind kind, bool served);
  // Watches and lists from before now are expired.
  void Compact();

  ApiWrites& writes() { return writes_; }
  ApiWatches& watches() { return watches_; }

 private:
  // True if it answered the request.
  bool Refuse(const ExchangePtr& exchange, const ApiRequest& request);
  void List(const ExchangePtr& exchange, const ApiRequest& request);
  void Get(const ExchangePtr& exchange, const ApiRequest& request);
  void HandleWrite(const ExchangePtr& exchange, const ApiRequest& request);

  bool FailsToRelist(const Exchange& exchange, const ApiRequest& request) const;

  struct Rest {
    uint64_t revision;
    std::vector<api::Object> objects;
  };

  Timeline& timeline_;
  Store& store_;
  Faults& faults_;
  Trace& trace_;
  const ServerOptions options_;
  ApiWrites writes_;
  ApiWatches watches_;
  std::set<api::Kind> not_served_;
  std::function<bool(const std::string& process)> has_picture_;
  std::map<std::string, Rest> continues_;  // by token
  uint64_t last_token_ = 0;
  base::Duration in_doubt_until_{};  // some proxy answers whoever reads a pod
};

}  // namespace berth::storm
