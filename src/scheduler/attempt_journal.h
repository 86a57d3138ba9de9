// AttemptJournal: the most recent attempts to schedule pods, encoded compactly in a bounded amount of memory. It stores
// what an attempt has computed anyway; everything else is computed on request (explain/, inspect/).
//
// Records are stored one after another in chunks. At the limit the oldest chunk is dropped as a whole, so the pods that
// have not been tried for the longest time are forgotten first. There is no index, because writing must cost almost
// nothing: a query scans all records, which takes about ten milliseconds for 32 MB.
//
// Successive unschedulable pods mostly fail for the same reasons. The reasons of a failure are then stored once per
// chunk, and later records refer to them.
//
// Not thread-safe; owned by the scheduling thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "scheduler/attempt.h"

namespace berth::scheduler {

// How an attempt ended.
enum class Ending : uint8_t {
  kBound,
  kUnschedulable,
  kError,
  kStale,  // it failed after the pod was deleted, bound, or in another attempt: the failure is ignored
};

// One attempt, as recorded.
struct AttemptRecord {
  struct Reason {
    std::string plugin;  // "" for nodes that PreFilter excluded
    std::string reason;
    uint32_t nodes = 0;
  };
  struct Victim {
    std::string pod;  // namespace/name
    int32_t priority = 0;
  };

  uint64_t sequence = 0;  // in the order in which attempts ended, from 1
  std::string name_space;
  std::string name;
  std::string uid;
  std::string scheduler_name;
  int32_t priority = 0;
  base::Time started{};
  base::Time ended{};
  std::optional<base::Time> first_attempt{};  // when the pod first entered the active queue
  uint32_t number = 0;                        // of this attempt among those of the pod, from 1
  bool flushed = false;                       // it was requeued because it had been unschedulable for too long
  Ending ending = Ending::kBound;
  Way way = Way::kNone;
  std::string node;        // if bound; otherwise the node whose resources it held before its binding failed
  bool nominated = false;  // the node is the one that the pod was nominated to
  uint32_t nodes = 0;      // in the cluster
  uint32_t feasible = 0;
  uint32_t ties = 0;                 // number of nodes with the highest total; 0 if unknown
  std::optional<int64_t> score{};    // unset if nothing was scored
  std::string message;               // why it has no node
  std::vector<Reason> reasons;       // the most frequent first
  std::vector<std::string> plugins;  // that rejected the pod: their events may requeue it
  std::vector<std::string> pending_plugins;
  bool preempted = false;  // preemption was tried
  std::string nominated_node;
  std::vector<Victim> victims;
  uint32_t victim_count = 0;  // may be more than are listed
  int64_t pdb_violations = 0;
  bool shortened = false;  // texts or lists were truncated
};

class AttemptJournal {
 public:
  // The smallest limit in which every record fits.
  static constexpr size_t kLeastBytes = 64 * 1024;

  explicit AttemptJournal(size_t max_bytes);
  AttemptJournal(const AttemptJournal&) = delete;
  AttemptJournal& operator=(const AttemptJournal&) = delete;
  ~AttemptJournal();

  // `nodes` is the number of nodes in the cluster.
  void Record(const Attempt& attempt, Ending ending, base::Time ended, size_t nodes);

  // Which attempts to show; an empty text means any.
  struct Filter {
    std::string name_space;
    std::string name;
    std::string node;  // AttemptRecord::node or nominated_node
    std::optional<Ending> ending;
    size_t limit = 100;
    uint64_t before = 0;  // only those with a lower sequence; 0: the newest
  };
  // Newest first. At most `max_visited` records are scanned.
  std::vector<AttemptRecord> Find(const Filter& filter, size_t max_visited = 500'000) const;
  // The last attempts for pods of that name, with any UID, newest first.
  std::vector<AttemptRecord> OfPod(std::string_view name_space, std::string_view name, size_t limit) const {
    return Find(
        {.name_space = std::string(name_space), .name = std::string(name), .node = {}, .ending = {}, .limit = limit});
  }

  // The sequence of the newest attempt; 0 if there was none.
  uint64_t last_sequence() const { return last_sequence_; }
  size_t size() const { return records_; }
  // Memory in use; never above the limit given.
  size_t bytes() const;

 private:
  struct Header;
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t used = 0;
    std::vector<uint32_t> starts;
  };

  void WriteBound(const Attempt& attempt, Header& header);
  void WriteFailed(const Attempt& attempt, Header& header);
  // Whether it failed for exactly the reasons of the last failure stored, so that it can refer to those.
  bool RepeatsLast(const Attempt& attempt, const Header& header) const;
  bool HasSameReasons(const Attempt& attempt, size_t nodes) const;
  void WriteRepeated(const Attempt& attempt, Header& header);
  void NoteFailure(const Attempt& attempt, const Header& header);
  void Pack(const Attempt& attempt, Header& header, size_t longest_message, bool lists);
  void PackReasons(const Attempt& attempt, Header& header);
  void PackVictims(const Attempt& attempt, Header& header);
  // Returns memory for a record at the end.
  char* Reserve(size_t size);
  bool HasRoom(size_t size) const;
  uint16_t NameId(std::string_view name);
  AttemptRecord Unpack(const Chunk& chunk, uint32_t start) const;
  bool Matches(const char* at, const Filter& filter) const;

  const size_t max_bytes_;
  const size_t chunk_bytes_;
  std::deque<Chunk> chunks_;
  uint64_t last_sequence_ = 0;
  size_t records_ = 0;
  std::vector<std::string> names_;    // of plugins and schedulers, by id
  uint16_t last_scheduler_name_ = 0;  // its id
  std::string texts_;                 // of the record being packed; a member so that its memory is reused
  size_t identity_bytes_ = 0;         // the part of texts_ that precedes the reasons of the failure

  // The last failure in the last chunk that was stored completely; null if records cannot refer to one.
  std::unique_ptr<Header> last_failure_;
  bool can_repeat_ = false;
  std::vector<framework::NodeToStatus::Group> last_groups_;
  framework::Status last_absent_;
};

}  // namespace berth::scheduler
