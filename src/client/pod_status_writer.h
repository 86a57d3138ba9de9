// PodStatusWriter: what is to be in pods' statuses, one patch of a pod at a time.
//
// Changes of a pod that have not been sent yet become one patch: of each field the newest value wins. A patch is the
// difference to the pod as it is known, and what is known may be old: a change that was sent and has not come back by
// the watch counts, and one whose answer was lost is written again in full. So a nomination that is cleared is cleared,
// whatever becomes of the patch that made it.
//
// Of the loop's thread. Remembers what exists: pods with a patch under way, and the last few thousand patched ones.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/pod.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/result.h"
#include "client/write_bodies.h"
#include "client/write_path.h"

namespace berth::client {

// Of each field, the newer one. A condition of another type would need a patch of two: the newer one wins there, too,
// and no caller writes two types for one pod at a time.
void Merge(const PodStatusChange& newer, PodStatusChange& change);
// What a patch needs of a pod.
api::Pod StatusPartOf(const api::Pod& pod);
// Which writes are of the same pod: its UID. Only pods that were made up have none.
std::string WriteKeyOf(const api::Pod& pod);

class PodStatusWriter {
 public:
  using Done = std::function<void(Result<void>)>;
  // The request for a patch of that pod.
  using MakeRequest = std::function<http::Request(const api::Pod& pod, std::string body)>;

  PodStatusWriter(WritePath& path, base::Loop& loop, const base::Clock& clock, MakeRequest make_request)
      : path_(path), loop_(loop), clock_(clock), make_request_(std::move(make_request)) {}

  // With a place in line that was reserved for `write_class`. `pod` is StatusPartOf it.
  void Patch(api::Pod pod, const PodStatusChange& change, WriteClass write_class, Done done);

  size_t remembered() const { return recent_.size(); }

 private:
  // Of one call, over all its attempts.
  struct Batch {
    PodStatusChange change{};
    std::vector<Done> dones{};
    WriteClass write_class{};
  };
  using BatchPtr = std::shared_ptr<Batch>;
  struct Entry {
    api::Pod pod;                            // the newest version that was handed in
    PodStatusChange wanted{};                // not part of a batch yet
    std::vector<Done> dones{};               // of that
    std::optional<WriteClass> in_line_as{};  // of the call that will take it
    size_t calls = 0;                        // under way
  };
  // What has been written that the watch may not have shown yet.
  struct Recent {
    std::string key;
    PodStatusChange confirmed{};
    std::string version{};        // of the pod with that in it; "" when the server did not say
    std::string before{};         // of the pod that it was the difference to
    PodStatusChange uncertain{};  // sent, and not known to have happened or not
    base::Duration written{};
  };

  std::optional<http::Request> Make(const std::string& key, const BatchPtr& batch);
  void Finish(const std::string& key, const BatchPtr& batch, const ApiAnswer& answer);
  // The pod as it is at the server, as far as that is known.
  api::Pod Base(const api::Pod& pod) const;
  Recent& Remember(const std::string& key);

  WritePath& path_;
  base::Loop& loop_;
  const base::Clock& clock_;
  const MakeRequest make_request_;
  std::unordered_map<std::string, Entry> entries_;  // by WriteKeyOf
  std::list<Recent> recent_;                        // the oldest first
  std::unordered_map<std::string, std::list<Recent>::iterator> recent_by_key_;
};

}  // namespace berth::client
