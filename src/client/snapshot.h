// A snapshot of a running cluster, for simulations: every object that scheduling reads, listed once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/object.h"
#include "base/loop.h"
#include "base/result.h"
#include "client/api_client.h"

namespace berth::client {

struct Snapshot {
  std::vector<api::Object> objects;   // by kind, namespace and name
  std::vector<std::string> warnings;  // kinds that could not be read
};

// Only lists, one after the other: nothing is written. Each kind is consistent in itself, not with the others. Pods
// come first, then what they refer to: those objects existed before the pods, so they are present unless deleted since.
//
// A kind that the server does not have or does not allow (404, 403) is a warning, except that a snapshot needs pods and
// nodes. Any other rejection is an error. `done` is called on the loop; both must outlive the call.
void TakeSnapshot(ApiClient& client, base::Loop& loop, std::function<void(Result<Snapshot>)> done);

}  // namespace berth::client
