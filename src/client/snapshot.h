// A picture of a running cluster, for schedulers that only pretend: every object that scheduling reads, listed once.
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

// Only lists, one after the other: nothing is written. Each kind is as it is at one moment, its own. Pods come first,
// then what they refer to: that is older than they are, so it is there unless it has been deleted since.
//
// A kind that the server does not have or does not show (404, 403) is a warning, except that there is no picture
// without pods and nodes. Any other refusal is an error. `done` is called on the loop; both must outlive the call.
void TakeSnapshot(ApiClient& client, base::Loop& loop, std::function<void(Result<Snapshot>)> done);

}  // namespace berth::client
