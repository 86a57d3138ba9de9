#include "scheduler/attempt_journal.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "base/check.h"

namespace berth::scheduler {

namespace {

constexpr size_t kMostReasons = 24;
constexpr size_t kMostVictims = 24;
constexpr size_t kLongestMessage = 8 * 1024;
constexpr size_t kLongestText = 512;
// What an entry of Chunk::starts may take, with the room that the vector keeps free.
constexpr size_t kStartBytes = 2 * sizeof(uint32_t);

enum Flag : uint8_t {
  kFlushed = 1,
  kNominated = 2,
  kScored = 4,
  kPostFiltered = 8,
  kShortened = 16,
  kHasFirstAttempt = 32,
};

// Reads what Pack has written.
class Reader {
 public:
  explicit Reader(const char* at) : at_(at) {}
  std::string_view Text(size_t size) {
    const std::string_view text(at_, size);
    at_ += size;
    return text;
  }
  template <class T>
  T Number() {
    T value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::string_view SizedText() { return Text(Number<uint16_t>()); }

 private:
  const char* at_;
};

// Both ends at once, which overlap in the middle: a call for a handful of bytes costs more than the bytes.
template <size_t kSize>
void CopyEnds(char* to, std::string_view text) {
  char first[kSize], last[kSize];
  std::memcpy(first, text.data(), kSize);
  std::memcpy(last, text.data() + text.size() - kSize, kSize);
  std::memcpy(to, first, kSize);
  std::memcpy(to + text.size() - kSize, last, kSize);
}

// Writes texts one after the other.
class TextWriter {
 public:
  explicit TextWriter(char* at) : at_(at) {}
  void Put(std::string_view text) {
    const size_t size = text.size();
    if (size > 32) {
      std::memcpy(at_, text.data(), size);
    } else if (size >= 16) {
      CopyEnds<16>(at_, text);
    } else if (size >= 8) {
      CopyEnds<8>(at_, text);
    } else if (size >= 4) {
      CopyEnds<4>(at_, text);
    } else {
      for (size_t i = 0; i < size; ++i) at_[i] = text[i];
    }
    at_ += size;
  }
  const char* at() const { return at_; }

 private:
  char* at_;
};

template <class T>
void PutNumber(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void PutSized(std::string& out, std::string_view text) {
  PutNumber(out, static_cast<uint16_t>(text.size()));
  out += text;
}

// Headers are read where they stand.
constexpr size_t kHeaderAlignment = alignof(uint64_t);
constexpr size_t Aligned(size_t size) { return (size + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment; }

base::Time TimeOf(int64_t nanoseconds) { return base::Time(base::Duration(nanoseconds)); }

}  // namespace

// The part of fixed size, followed by the pod's names. At `why`, if the attempt failed: the message, plugins, reasons
// and victims.
struct AttemptJournal::Header {
  uint64_t sequence;
  int64_t started, ended, first_attempt;
  int64_t score;
  int64_t pdb_violations;
  int32_t priority;
  uint32_t number, nodes, feasible, ties;
  uint32_t victim_count;
  uint32_t why;                                                   // in the chunk
  uint16_t name_space, name, uid, node, nominated_node, message;  // sizes
  uint16_t scheduler_name;                                        // id
  uint8_t reasons, plugins, pending_plugins, victims;             // how many
  Ending ending;
  Way way;
  uint8_t flags;
};

// A large journal gives back a sixteenth at a time; one that is hardly used takes no more than that.
AttemptJournal::AttemptJournal(size_t max_bytes)
    : max_bytes_(std::max(max_bytes, kLeastBytes)), chunk_bytes_(std::min<size_t>(max_bytes_ / 16, 256 * 1024)) {}

AttemptJournal::~AttemptJournal() = default;

size_t AttemptJournal::bytes() const { return chunks_.size() * chunk_bytes_ + records_ * kStartBytes; }

uint16_t AttemptJournal::NameId(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<uint16_t>(found - names_.begin());
  // Plugins, extenders and profiles are what a configuration names; a thousand of them would be somebody's mistake.
  if (names_.size() > 1000) return 0;
  names_.emplace_back(name);
  return static_cast<uint16_t>(names_.size() - 1);
}

void AttemptJournal::Record(const Attempt& attempt, Ending ending, base::Time ended, size_t nodes) {
  const framework::PodInfo& pod = *attempt.pod;
  Header header{};
  header.sequence = ++last_sequence_;
  header.started = attempt.started.time_since_epoch().count();
  header.ended = ended.time_since_epoch().count();
  if (attempt.first_attempt) {
    header.first_attempt = attempt.first_attempt->time_since_epoch().count();
    header.flags |= kHasFirstAttempt;
  }
  header.score = attempt.score;
  header.priority = pod.priority();
  header.number = static_cast<uint32_t>(attempt.number);
  header.nodes = static_cast<uint32_t>(nodes);
  header.feasible = static_cast<uint32_t>(attempt.feasible_nodes);
  header.ties = static_cast<uint32_t>(attempt.ties);
  header.ending = ending;
  header.way = attempt.way;
  if (attempt.flushed) header.flags |= kFlushed;
  if (attempt.nominated) header.flags |= kNominated;
  if (attempt.scored) header.flags |= kScored;
  if (attempt.post_filtered) header.flags |= kPostFiltered;
  const std::string& scheduler_name = pod.pod().spec.scheduler_name;
  // Nearly always the one before.
  if (names_.empty() || names_[last_scheduler_name_] != scheduler_name) last_scheduler_name_ = NameId(scheduler_name);
  header.scheduler_name = last_scheduler_name_;
  ending == Ending::kBound ? WriteBound(attempt, header) : WriteFailed(attempt, header);
}

// The usual end, with four texts and nothing else: straight to where it stays.
void AttemptJournal::WriteBound(const Attempt& attempt, Header& header) {
  const framework::PodInfo& pod = *attempt.pod;
  const std::string_view name_space = pod.namespace_().str(), name = pod.name(), uid = pod.uid();
  const size_t size = name_space.size() + name.size() + uid.size() + attempt.node_name.size();
  // Hardly any names in Kubernetes are as long.
  if (size > kLongestText) return WriteFailed(attempt, header);
  header.name_space = static_cast<uint16_t>(name_space.size());
  header.name = static_cast<uint16_t>(name.size());
  header.uid = static_cast<uint16_t>(uid.size());
  header.node = static_cast<uint16_t>(attempt.node_name.size());
  char* at = Reserve(sizeof(Header) + size);
  std::memcpy(at, &header, sizeof(Header));
  TextWriter texts(at + sizeof(Header));
  texts.Put(name_space);
  texts.Put(name);
  texts.Put(uid);
  texts.Put(attempt.node_name);
}

bool AttemptJournal::HasSameReasons(const Attempt& attempt, size_t nodes) const {
  const framework::NodeToStatus& statuses = attempt.diagnosis.node_to_status;
  const auto groups = statuses.groups();
  if (groups.size() != last_groups_.size()) return false;
  size_t told = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const framework::Status& before = last_groups_[i].status;
    if (groups[i].nodes != last_groups_[i].nodes) return false;
    if (!before.IsSameObject(groups[i].status) && !(before == groups[i].status)) return false;
    told += groups[i].nodes;
  }
  return told >= nodes || last_absent_ == statuses.absent();
}

bool AttemptJournal::RepeatsLast(const Attempt& attempt, const Header& header) const {
  if (!can_repeat_) return false;
  const Header& last = *last_failure_;
  if (header.nodes != last.nodes || attempt.message.size() != last.message ||
      attempt.unschedulable_plugins.size() != last.plugins || attempt.pending_plugins.size() != last.pending_plugins ||
      !attempt.post_filter.nominated_node_name.empty() || !attempt.post_filter.victims.pods.empty()) {
    return false;
  }
  Reader why(chunks_.back().bytes.get() + last.why);
  if (why.Text(last.message) != attempt.message) return false;
  for (const std::string& name : attempt.unschedulable_plugins) {
    if (names_[why.Number<uint16_t>()] != name) return false;
  }
  if (last.pending_plugins > 0) {
    for (const std::string& name : attempt.pending_plugins) {
      if (names_[why.Number<uint16_t>()] != name) return false;
    }
  }
  return HasSameReasons(attempt, header.nodes);
}

// There is room for it.
void AttemptJournal::WriteRepeated(const Attempt& attempt, Header& header) {
  const framework::PodInfo& pod = *attempt.pod;
  const std::string_view name_space = pod.namespace_().str(), name = pod.name(), uid = pod.uid();
  header.name_space = static_cast<uint16_t>(name_space.size());
  header.name = static_cast<uint16_t>(name.size());
  header.uid = static_cast<uint16_t>(uid.size());
  header.node = static_cast<uint16_t>(attempt.freed_node.size());
  header.message = last_failure_->message;
  header.plugins = last_failure_->plugins;
  header.pending_plugins = last_failure_->pending_plugins;
  header.reasons = last_failure_->reasons;
  header.why = last_failure_->why;
  header.pdb_violations = attempt.post_filter.victims.pdb_violations;
  Chunk& chunk = chunks_.back();
  chunk.starts.push_back(static_cast<uint32_t>(chunk.used));
  ++records_;
  char* const at = chunk.bytes.get() + chunk.used;
  std::memcpy(at, &header, sizeof(Header));
  TextWriter texts(at + sizeof(Header));
  texts.Put(name_space);
  texts.Put(name);
  texts.Put(uid);
  if (!attempt.freed_node.empty()) texts.Put(attempt.freed_node);
  chunk.used += Aligned(static_cast<size_t>(texts.at() - at));
}

void AttemptJournal::NoteFailure(const Attempt& attempt, const Header& header) {
  can_repeat_ = header.ending != Ending::kBound && (header.flags & kShortened) == 0 && header.nominated_node == 0 &&
                header.victim_count == 0;
  if (!can_repeat_) return;
  if (!last_failure_) last_failure_ = std::make_unique<Header>();
  *last_failure_ = header;
  const framework::NodeToStatus& statuses = attempt.diagnosis.node_to_status;
  last_groups_.assign(statuses.groups().begin(), statuses.groups().end());
  last_absent_ = statuses.absent();
}

void AttemptJournal::WriteFailed(const Attempt& attempt, Header& header) {
  const framework::PodInfo& pod = *attempt.pod;
  const size_t identity =
      pod.namespace_().str().size() + pod.name().size() + pod.uid().size() + attempt.freed_node.size();
  if (header.ending != Ending::kBound && identity <= kLongestText && HasRoom(sizeof(Header) + identity) &&
      RepeatsLast(attempt, header)) {
    return WriteRepeated(attempt, header);
  }
  Pack(attempt, header, kLongestMessage, /*lists=*/true);
  if (sizeof(Header) + texts_.size() > chunk_bytes_) {
    header.flags |= kShortened;
    Pack(attempt, header, kLongestText, /*lists=*/false);
  }
  if (sizeof(Header) + texts_.size() > chunk_bytes_) return;
  char* at = Reserve(sizeof(Header) + texts_.size());
  header.why = static_cast<uint32_t>(at - chunks_.back().bytes.get() + sizeof(Header) + identity_bytes_);
  std::memcpy(at, &header, sizeof(Header));
  std::memcpy(at + sizeof(Header), texts_.data(), texts_.size());
  NoteFailure(attempt, header);
}

void AttemptJournal::Pack(const Attempt& attempt, Header& header, size_t longest_message, bool lists) {
  const framework::PodInfo& pod = *attempt.pod;
  texts_.clear();
  const auto put = [&](uint16_t& size, std::string_view text, size_t longest) {
    if (text.size() > longest) header.flags |= kShortened;
    text = text.substr(0, longest);
    size = static_cast<uint16_t>(text.size());
    texts_ += text;
  };
  put(header.name_space, pod.namespace_().str(), kLongestText);
  put(header.name, pod.name(), kLongestText);
  put(header.uid, pod.uid(), kLongestText);
  put(header.node, header.ending == Ending::kBound ? attempt.node_name : attempt.freed_node, kLongestText);
  put(header.nominated_node, attempt.post_filter.nominated_node_name, kLongestText);
  identity_bytes_ = texts_.size();
  put(header.message, attempt.message, longest_message);
  header.reasons = header.plugins = header.pending_plugins = header.victims = 0;
  header.victim_count = static_cast<uint32_t>(attempt.post_filter.victims.pods.size());
  header.pdb_violations = attempt.post_filter.victims.pdb_violations;
  if (header.ending == Ending::kBound) return;
  const auto put_names = [&](uint8_t& count, const std::set<std::string, std::less<>>& names) {
    for (const std::string& name : names) {
      if (count == 255) break;
      PutNumber(texts_, NameId(name));
      ++count;
    }
  };
  put_names(header.plugins, attempt.unschedulable_plugins);
  put_names(header.pending_plugins, attempt.pending_plugins);
  if (!lists) return;
  PackReasons(attempt, header);
  PackVictims(attempt, header);
}

namespace {

// Counts of nodes by plugin and reason. Groups with the same text are merged; there are only a few, for which a list is
// cheaper than a map.
class ReasonCounts {
 public:
  struct Entry {
    std::string_view plugin, reason;
    uint32_t nodes;
  };

  // False when there are too many different ones.
  bool Add(const framework::Status& status, size_t nodes) {
    for (const std::string& reason : status.reasons()) {
      if (nodes > 0 && !Add(status.plugin(), reason, static_cast<uint32_t>(nodes))) return false;
    }
    return true;
  }
  // The most frequent first, equals in the order in which they came.
  std::span<Entry> Ordered() {
    for (size_t i = 1; i < size_; ++i) {
      for (size_t k = i; k > 0 && entries_[k - 1].nodes < entries_[k].nodes; --k) {
        std::swap(entries_[k - 1], entries_[k]);
      }
    }
    return {entries_.data(), size_};
  }

 private:
  bool Add(std::string_view plugin, std::string_view reason, uint32_t nodes) {
    for (size_t i = 0; i < size_; ++i) {
      if (entries_[i].reason != reason || entries_[i].plugin != plugin) continue;
      entries_[i].nodes += nodes;
      return true;
    }
    if (size_ == entries_.size()) return false;
    entries_[size_++] = {plugin, reason, nodes};
    return true;
  }

  std::array<Entry, kMostReasons> entries_;
  size_t size_ = 0;
};

}  // namespace

void AttemptJournal::PackReasons(const Attempt& attempt, Header& header) {
  const framework::NodeToStatus& statuses = attempt.diagnosis.node_to_status;
  ReasonCounts counts;
  bool complete = true;
  size_t told = 0;
  for (const framework::NodeToStatus::Group& group : statuses.groups()) {
    told += group.nodes;
    complete = counts.Add(group.status, group.nodes) && complete;
  }
  complete = counts.Add(statuses.absent(), header.nodes - std::min<size_t>(told, header.nodes)) && complete;
  for (const ReasonCounts::Entry& entry : counts.Ordered()) {
    PutNumber(texts_, NameId(entry.plugin));
    PutNumber(texts_, entry.nodes);
    complete = complete && entry.reason.size() <= kLongestText;
    PutSized(texts_, entry.reason.substr(0, kLongestText));
    ++header.reasons;
  }
  if (!complete) header.flags |= kShortened;
}

void AttemptJournal::PackVictims(const Attempt& attempt, Header& header) {
  for (const framework::PodInfoPtr& victim : attempt.post_filter.victims.pods) {
    if (header.victims == kMostVictims) {
      header.flags |= kShortened;
      return;
    }
    PutNumber(texts_, victim->priority());
    PutSized(texts_, std::string_view(victim->Key()).substr(0, kLongestText));
    ++header.victims;
  }
}

bool AttemptJournal::HasRoom(size_t size) const {
  return !chunks_.empty() && chunks_.back().used + size <= chunk_bytes_;
}

char* AttemptJournal::Reserve(size_t size) {
  if (!HasRoom(size)) {
    can_repeat_ = false;  // what a record refers to is in its own chunk
    // However short its records will be: their starts are within the bound, too, and need no looking after.
    const size_t starts = kStartBytes * (chunk_bytes_ / sizeof(Header) + 1);
    while (!chunks_.empty() && bytes() + chunk_bytes_ + starts > max_bytes_) {
      records_ -= chunks_.front().starts.size();
      chunks_.pop_front();
    }
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(chunk_bytes_), 0, {}});
  }
  Chunk& chunk = chunks_.back();
  chunk.starts.push_back(static_cast<uint32_t>(chunk.used));
  char* at = chunk.bytes.get() + chunk.used;
  chunk.used += Aligned(size);
  ++records_;
  return at;
}

AttemptRecord AttemptJournal::Unpack(const Chunk& chunk, uint32_t start) const {
  const char* const at = chunk.bytes.get() + start;
  const auto& header = *reinterpret_cast<const Header*>(at);
  Reader reader(at + sizeof(Header));
  AttemptRecord record;
  record.sequence = header.sequence;
  record.name_space = reader.Text(header.name_space);
  record.name = reader.Text(header.name);
  record.uid = reader.Text(header.uid);
  record.node = reader.Text(header.node);
  record.nominated_node = reader.Text(header.nominated_node);
  reader = Reader(chunk.bytes.get() + header.why);
  record.message = reader.Text(header.message);
  for (int i = 0; i < header.plugins; ++i) record.plugins.push_back(names_[reader.Number<uint16_t>()]);
  for (int i = 0; i < header.pending_plugins; ++i) record.pending_plugins.push_back(names_[reader.Number<uint16_t>()]);
  for (int i = 0; i < header.reasons; ++i) {
    AttemptRecord::Reason reason{.plugin = names_[reader.Number<uint16_t>()], .reason = {}};
    reason.nodes = reader.Number<uint32_t>();
    reason.reason = reader.SizedText();
    record.reasons.push_back(std::move(reason));
  }
  for (int i = 0; i < header.victims; ++i) {
    const auto priority = reader.Number<int32_t>();
    record.victims.push_back({std::string(reader.SizedText()), priority});
  }
  record.scheduler_name = names_[header.scheduler_name];
  record.priority = header.priority;
  record.started = TimeOf(header.started);
  record.ended = TimeOf(header.ended);
  if (header.flags & kHasFirstAttempt) record.first_attempt = TimeOf(header.first_attempt);
  record.number = header.number;
  record.flushed = header.flags & kFlushed;
  record.ending = header.ending;
  record.way = header.way;
  record.nominated = header.flags & kNominated;
  record.nodes = header.nodes;
  record.feasible = header.feasible;
  record.ties = header.ties;
  if (header.flags & kScored) record.score = header.score;
  record.preempted = header.flags & kPostFiltered;
  record.victim_count = header.victim_count;
  record.pdb_violations = header.pdb_violations;
  record.shortened = header.flags & kShortened;
  return record;
}

bool AttemptJournal::Matches(const char* at, const Filter& filter) const {
  const auto& header = *reinterpret_cast<const Header*>(at);
  if (filter.before != 0 && header.sequence >= filter.before) return false;
  if (filter.ending && header.ending != *filter.ending) return false;
  Reader reader(at + sizeof(Header));
  const std::string_view name_space = reader.Text(header.name_space);
  const std::string_view name = reader.Text(header.name);
  reader.Text(header.uid);
  const std::string_view node = reader.Text(header.node);
  const std::string_view nominated = reader.Text(header.nominated_node);
  return (filter.name_space.empty() || filter.name_space == name_space) &&
         (filter.name.empty() || filter.name == name) &&
         (filter.node.empty() || filter.node == node || filter.node == nominated);
}

std::vector<AttemptRecord> AttemptJournal::Find(const Filter& filter, size_t max_visited) const {
  std::vector<AttemptRecord> found;
  for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend(); ++chunk) {
    for (auto start = chunk->starts.rbegin(); start != chunk->starts.rend(); ++start) {
      if (found.size() == filter.limit || max_visited-- == 0) return found;
      const char* at = chunk->bytes.get() + *start;
      if (Matches(at, filter)) found.push_back(Unpack(*chunk, *start));
    }
  }
  return found;
}

}  // namespace berth::scheduler
