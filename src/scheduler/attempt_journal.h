// AttemptJournal: the last attempts to schedule pods, packed, within a bound of bytes. What is written down is what the
// attempt found out anyway; everything else is worked out when somebody asks (explain/, inspect/).
//
// Records stand one after the other in chunks. When the bound is reached the oldest chunk goes as a whole, whichever
// pods it tells of: a pod that has not been tried for long is forgotten first. There is no index: writing has to cost
// next to nothing, and whoever asks can wait for a pass over what is kept, some ten milliseconds for 32 MB.
//
// Pods that fit nowhere mostly fail for the same reasons as the one before: why an attempt failed is then written once
// in a chunk, and later records refer to it.
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
  kStale,  // it failed when the pod was nobody's business any more: deleted, bound after all, in another attempt
};

// One attempt, as it was written down.
struct AttemptRecord {
  struct Reason {
    std::string plugin;  // "" when PreFilter left nodes out
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
  std::optional<base::Time> first_attempt{};  // when the pod was first ready to be tried
  uint32_t number = 0;                        // the pod's so manieth attempt
  bool flushed = false;                       // it was tried because it had slept for too long
  Ending ending = Ending::kBound;
  Way way = Way::kNone;
  std::string node;        // when bound; otherwise where it held room before its binding failed
  bool nominated = false;  // the node is the one that preemption had promised
  uint32_t nodes = 0;      // in the cluster
  uint32_t feasible = 0;
  uint32_t ties = 0;                 // that many nodes had the highest total; 0: not known
  std::optional<int64_t> score{};    // unset when there was nothing to compare
  std::string message;               // why it has no node
  std::vector<Reason> reasons;       // the most frequent first
  std::vector<std::string> plugins;  // that rejected it: their events may wake it
  std::vector<std::string> pending_plugins;
  bool preempted = false;  // preemption was asked
  std::string nominated_node;
  std::vector<Victim> victims;
  uint32_t victim_count = 0;  // may be more than are listed
  int64_t pdb_violations = 0;
  bool shortened = false;  // texts or lists were cut off
};

class AttemptJournal {
 public:
  // Below this a single record might not fit.
  static constexpr size_t kLeastBytes = 64 * 1024;

  explicit AttemptJournal(size_t max_bytes);
  AttemptJournal(const AttemptJournal&) = delete;
  AttemptJournal& operator=(const AttemptJournal&) = delete;
  ~AttemptJournal();

  // `nodes` is how many the cluster has.
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
  // Newest first. At most `max_visited` records are looked at.
  std::vector<AttemptRecord> Find(const Filter& filter, size_t max_visited = 500'000) const;
  // The last attempts of the pods of that name, newest first, whatever their UID.
  std::vector<AttemptRecord> OfPod(std::string_view name_space, std::string_view name, size_t limit) const {
    return Find(
        {.name_space = std::string(name_space), .name = std::string(name), .node = {}, .ending = {}, .limit = limit});
  }

  // Of the newest attempt; 0 when there was none.
  uint64_t last_sequence() const { return last_sequence_; }
  size_t size() const { return records_; }
  // What it holds; never above the bound.
  size_t bytes() const;
  size_t max_bytes() const { return max_bytes_; }

 private:
  struct Header;
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t used = 0;
    std::vector<uint32_t> starts;
  };

  void WriteBound(const Attempt& attempt, Header& header);
  void WriteFailed(const Attempt& attempt, Header& header);
  // Whether it failed for exactly the reasons of the last failure that was written, so that those can stand for it.
  bool RepeatsLast(const Attempt& attempt, const Header& header) const;
  bool HasSameReasons(const Attempt& attempt, size_t nodes) const;
  void WriteRepeated(const Attempt& attempt, Header& header);
  void NoteFailure(const Attempt& attempt, const Header& header);
  void Pack(const Attempt& attempt, Header& header, size_t longest_message, bool lists);
  void PackReasons(const Attempt& attempt, Header& header);
  void PackVictims(const Attempt& attempt, Header& header);
  // Room for a record at the end.
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
  std::string texts_;                 // of the record being packed; kept for its memory
  size_t identity_bytes_ = 0;         // of them, before what says why it failed

  // The last failure that was written whole, in the last chunk; null: none there can be referred to.
  std::unique_ptr<Header> last_failure_;
  bool can_repeat_ = false;
  std::vector<framework::NodeToStatus::Group> last_groups_;
  framework::Status last_absent_;
};

}  // namespace berth::scheduler
