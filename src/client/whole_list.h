// WholeList: every object of a kind in one answer, which is decoded while it arrives. The API server encodes a list in
// a quarter of the time that it takes to send the same objects as events of a watch, and it is held back while the loop
// is behind (WatchCall), so that no more of the list is in memory than has not been decoded yet.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/list_decoder.h"
#include "base/loop.h"
#include "client/api_client.h"
#include "client/list_pages.h"
#include "client/watch_call.h"

namespace berth::client {

// Of the loop's thread alone. As a watch, which it stands in for, it takes no token of the bucket.
class WholeList {
 public:
  // What has been decoded since the last time.
  struct Arrival {
    std::vector<api::Object> objects{};
    std::optional<ListOutcome> outcome{};  // the last one has it; the objects are not in it
  };

  // `request.limit` must be 0. `on_arrival` is called on the loop until the outcome has been reported, or Cancel().
  static std::shared_ptr<WholeList> Start(ApiClient& client, base::Loop& loop, const ListRequest& request,
                                          std::function<void(Arrival)> on_arrival);
  void Cancel();

 private:
  WholeList(const ListRequest& request, std::function<void(Arrival)> on_arrival)
      : request_(request), on_arrival_(std::move(on_arrival)) {}

  void Take(WatchCall::Arrival bytes);
  Result<void> Decode(const WatchCall::Arrival& bytes, api::DecodedObjects& decoded);
  ApiAnswer Conclude(const Result<void>& decoded, const Result<void>& ended) const;

  const ListRequest request_;
  std::function<void(Arrival)> on_arrival_;  // null once it is over
  std::shared_ptr<WatchCall> call_;
  http::Response response_;                  // the body: a refusal, or a list in JSON, which is decoded as a whole
  std::optional<api::ListDecoder> decoder_;  // of a list in protobuf
  std::string resource_version_;
};

}  // namespace berth::client
