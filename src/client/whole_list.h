// WholeList: every object of a kind in one answer, which is decoded while it arrives. The API server encodes a list in
// a quarter of the time that it needs to send the same objects as events of a watch. It is throttled while the loop is
// behind (WatchCall), so that only the part of the list that has not been decoded yet is in memory as bytes.
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

// Used on the loop's thread only. Like a watch, which it replaces, it takes no token of the bucket.
class WholeList {
 public:
  // What has been decoded since the last call.
  struct Arrival {
    std::vector<api::Object> objects{};
    std::optional<ListOutcome> outcome{};  // set in the last one; does not contain the objects
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
  http::Response response_;                  // the body: of a rejection, or a list in JSON, which is decoded as a whole
  std::optional<api::ListDecoder> decoder_;  // of a list in protobuf
  std::string resource_version_;
};

}  // namespace berth::client
