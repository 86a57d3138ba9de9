// PodStatusWriter: writes pods' statuses, one patch per pod at a time.
//
// Unsent changes of a pod become one patch: the newest value of each field wins. A patch is the difference to the pod
// as it is known, which may be outdated: a change that was sent but not yet seen in the watch counts as known, and one
// whose answer was lost is written again in full. So clearing a nomination takes effect, whatever happens to the patch
// that made it.
//
// Every patch is for one resourceVersion. One that arrives late, after a later one has changed the pod, is rejected, so
// that an older report does not replace a newer one. After a conflict the pod is read, and the patch made for the
// version that was read; if reading is refused, for any version. A later patch that changes nothing, such as the
// clearing of a nomination that the server does not have, leaves the version as it is, and a late one may still take
// effect: so it is sent again until that is over.
//
// Used on the loop's thread. Bounded: it keeps the pods with a patch in progress and the last few thousand patched
// ones.
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

// The newer value of each field. Conditions of two types would need two entries in the patch: the newer one wins there
// as well, and no caller writes two types for one pod at a time.
void Merge(const PodStatusChange& newer, PodStatusChange& change);
// The part of a pod that a patch needs.
api::Pod StatusPartOf(const api::Pod& pod);
// Identifies the pod that a write is about: its UID. Only synthetic pods have none.
std::string WriteKeyOf(const api::Pod& pod);

class PodStatusWriter {
 public:
  using Done = std::function<void(Result<void>)>;
  struct Requests {
    std::function<http::Request(const api::Pod& pod)> read;
    std::function<http::Request(const api::Pod& pod, std::string body)> patch;
  };

  PodStatusWriter(WritePath& path, base::Loop& loop, const base::Clock& clock, Requests requests)
      : path_(path), loop_(loop), clock_(clock), requests_(std::move(requests)) {}

  // Uses a place in the queue that was reserved for `write_class`. `pod` is its StatusPartOf.
  void Patch(api::Pod pod, const PodStatusChange& change, WriteClass write_class, Done done);

  size_t remembered() const { return recent_.size(); }

 private:
  enum class Step {
    kPatch,
    kRead,      // the last patch was for another version than the server's
    kPatchAny,  // the pod could not be read
    kGone,      // another pod has the name
  };
  // One call, over all its attempts.
  struct Batch {
    PodStatusChange change{};
    std::vector<Done> dones{};
    WriteClass write_class{};
    Step next = Step::kPatch;
    std::string version{};  // that the last patch was for
    struct Lost {
      std::string version;
      base::Duration at;
    };
    std::optional<Lost> lost{};  // the last patch without an answer
  };
  using BatchPtr = std::shared_ptr<Batch>;
  struct Entry {
    api::Pod pod;                            // the newest version passed in
    PodStatusChange wanted{};                // not part of a batch yet
    std::vector<Done> dones{};               // the callbacks for `wanted`
    std::optional<WriteClass> in_line_as{};  // the class of the queued call that will take it
    size_t calls = 0;                        // in progress
  };
  // What has been written and may not have appeared in the watch yet.
  struct Recent {
    std::string key;
    PodStatusChange confirmed{};
    std::string version{};        // of the pod that includes it; "" if the server did not say
    std::string before{};         // of the pod that the patch was computed against
    PodStatusChange uncertain{};  // sent, but it is unknown whether it took effect
    base::Duration written{};
  };

  std::optional<http::Request> Make(const std::string& key, const BatchPtr& batch);
  Again TakeAnswer(const std::string& key, Batch& batch, const ApiAnswer& answer);
  // After a read the patch is made anew.
  Again TakeRead(const std::string& key, Batch& batch, const ApiAnswer& answer);
  void Finish(const std::string& key, const BatchPtr& batch, const ApiAnswer& answer);
  // The pod as it is at the server, as far as that is known.
  api::Pod Base(const api::Pod& pod) const;
  Recent& Remember(const std::string& key);

  WritePath& path_;
  base::Loop& loop_;
  const base::Clock& clock_;
  const Requests requests_;
  std::unordered_map<std::string, Entry> entries_;  // by WriteKeyOf
  std::list<Recent> recent_;                        // the oldest first
  std::unordered_map<std::string, std::list<Recent>::iterator> recent_by_key_;
};

}  // namespace berth::client
