// ApiWrites: how the model API server handles a scheduler's writes: bindings, patches, deletions, leases, events; with
// the conflicts and preconditions of the real one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storm/api_wire.h"
#include "storm/faults.h"
#include "storm/store.h"

namespace berth::storm {

// The code of the answer when admission refuses a binding.
inline constexpr int kRefusedByAdmission = 422;

enum class WriteClass : uint8_t { kLease, kBind, kDelete, kStatus, kEvent, kClaim, kVolume, kOther };
std::string_view NameOf(WriteClass write_class);

// A write as the server saw it.
struct Write {
  WriteClass write_class = WriteClass::kOther;
  std::string process;
  int life = 0;  // of the process
  base::Duration sent{};
  std::string key{};   // of the object
  std::string uid{};   // of the pod
  std::string node{};  // of a binding
  int code = 0;        // of the answer, even if it was lost
  bool ok() const { return code < 300; }
};

class ApiWrites {
 public:
  ApiWrites(const Timeline& timeline, Store& store, Faults& faults)
      : timeline_(timeline), store_(store), faults_(faults) {}

  // `write` has its process, life and time.
  Reply Handle(const http::Request& request, const ApiRequest& parsed, Write write);

  // Called before a write takes effect (with code 0), and after it with its answer.
  void Observe(std::function<void(const Write& write)> observer) { observers_.push_back(std::move(observer)); }
  // By "namespace/name": how often it was written.
  const std::map<std::string, int>& events() const { return events_; }

  // What the server does when anyone asks it to delete a pod.
  void DeletePod(const std::string& key, int64_t default_grace_seconds);

 private:
  Reply Dispatch(const http::Request& request, const ApiRequest& parsed, Write& write);
  Reply Bind(const http::Request& request, const ApiRequest& parsed, Write& write);
  Reply PatchPodStatus(const http::Request& request, const ApiRequest& parsed, Write& write);
  Reply Delete(const http::Request& request, const ApiRequest& parsed, Write& write);
  Reply WriteLease(const http::Request& request, const ApiRequest& parsed);
  Reply WriteClaim(const http::Request& request, const ApiRequest& parsed, Write& write);
  Reply WriteVolume(const http::Request& request, const ApiRequest& parsed, Write& write);
  template <class T>
  Reply PatchStorage(const http::Request& request, const ApiRequest& parsed, Write& write);
  Reply WriteEvent(const http::Request& request, const ApiRequest& parsed, Write& write);
  void Tell(const Write& write);

  const Timeline& timeline_;
  Store& store_;
  Faults& faults_;
  std::map<std::string, int> events_;
  std::map<std::string, std::string>
      transitions_;  // the last time in a condition, by the UID of its pod: objects omit it
  std::vector<std::function<void(const Write& write)>> observers_;
};

}  // namespace berth::storm
