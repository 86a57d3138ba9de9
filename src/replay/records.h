// The contents of the frames of a recording (record/format.h describes how they are written): inputs of a driver, what
// belongs to each of them, and checkpoints.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/resource_claim.h"
#include "base/clock.h"
#include "base/result.h"
#include "framework/posted_work.h"
#include "framework/status.h"
#include "record/custom_codec.h"
#include "record/object_codec.h"
#include "scheduler/api_answers.h"
#include "scheduler/attempt.h"
#include "scheduler/checkpoint.h"
#include "scheduler/tap.h"

namespace berth::replay {

// Times in payloads are nanoseconds since 1970, as a varint.
inline uint64_t CountOf(base::Time time) { return static_cast<uint64_t>(time.time_since_epoch().count()); }
inline base::Time TimeOf(uint64_t count) { return base::Time(base::Duration(static_cast<int64_t>(count))); }

enum class FrameType : uint32_t {
  kPut = 1,
  kTemplate = 2,  // what pods have in common: record::ObjectReader::AddTemplate
  kRemove = 3,
  kAdd = 5,
  kStep = 7,
  kFinish = 9,
  kActivate = 11,
  kGiveUp = 13,
  kReconfigure = 15,
  kClaimLanded = 17,
  kPutCustom = 19,
  kRemoveCustom = 21,
  kTend = 23,
  // What belongs to the input before.
  kPosted = 30,
  kEvicting = 31,
  kExtender = 32,
  kDecision = 33,
  // A checkpoint, in this order.
  kCheckpointBegin = 50,
  kCheckpointObject = 51,
  kCheckpointNode = 53,
  kCheckpointPod = 55,
  kCheckpointNomination = 57,
  kCheckpointQueued = 59,
  kCheckpointCustom = 60,
  kCheckpointBinding = 61,
  kCheckpointEnd = 62,
  // The last frame of a recording whose scheduler ended it; nothing follows.
  kEnd = 70,
};

// How an attempt ended, in the form in which it is compared: equal decisions are equal bit for bit.
struct Decision {
  uint64_t ticket = 0;
  std::string pod;  // namespace/name
  std::string uid;
  scheduler::Outcome outcome = scheduler::Outcome::kError;
  std::string node;
  int64_t score = 0;
  bool scored = false;
  bool nominated = false;
  uint64_t feasible_nodes = 0;
  std::string message;
  std::string nominated_node;
  std::vector<std::string> victims;  // namespace/name, the most important first
  std::vector<std::string> unschedulable_plugins;
  std::vector<std::string> pending_plugins;

  static Decision Of(const scheduler::Attempt& attempt);
  bool operator==(const Decision&) const = default;
  static Result<Decision> Decode(std::string_view bytes);
};
// Appends Decision::Of(attempt) as a payload, without constructing it.
void AppendDecision(const scheduler::Attempt& attempt, std::string& out);
std::string_view NameOf(scheduler::Outcome outcome);
// For people: "bound to n1, score 312, 4 nodes feasible".
std::string Describe(const Decision& decision);

// The response of an extender.
struct ExtenderRecord {
  enum class Kind : uint8_t { kVerdicts = 1, kPriorities = 2, kCandidates = 3 };
  struct Candidate {
    std::string node;
    std::vector<std::string> victims;  // UIDs
    int64_t pdb_violations = 0;
  };
  std::string extender;
  Kind kind = Kind::kVerdicts;
  std::optional<Error> error;
  std::vector<std::string> feasible;
  std::vector<std::pair<std::string, std::string>> failed;
  std::vector<std::pair<std::string, std::string>> unresolvable;
  std::vector<engine::HostPriority> priorities;
  std::vector<Candidate> candidates;

  static ExtenderRecord Of(const scheduler::ExtenderAnswer& answer);
  void AppendTo(std::string& out) const;
  static Result<ExtenderRecord> Decode(std::string_view bytes);
};

// An input with all that belongs to it.
struct Input {
  FrameType type = FrameType::kStep;  // kCheckpointBegin: `checkpoint` is set
  base::Time time{};
  std::optional<api::Object> object;  // of kPut, kRemove and kAdd
  record::RecordedCustom custom;      // of kPutCustom and kRemoveCustom
  uint64_t withheld = 0;              // objects of custom resources of which only the metadata was recorded
  std::string text;                   // the UID of kActivate and kGiveUp, the configuration of kReconfigure
  uint64_t ticket = 0;                // of kFinish, as the next two
  framework::Status status;
  scheduler::ApiAnswers answers;
  std::shared_ptr<const api::ResourceClaim> written;  // of kClaimLanded, as the next
  std::string ended_flight;
  std::shared_ptr<const scheduler::Checkpoint> checkpoint;

  std::vector<framework::PostedAnswer> posted;
  std::map<std::string, std::set<size_t>> evicting;  // by UID
  std::vector<ExtenderRecord> extender_answers;
  std::vector<Decision> decisions;
};

// These append payloads to `out`: of inputs that have no object, and of what belongs to an input.
void AppendInput(base::Time time, std::string_view text, std::string& out);
void AppendFinish(base::Time time, uint64_t ticket, const framework::Status& status,
                  const scheduler::ApiAnswers& answers, std::string& out);
void AppendClaimLanded(const std::shared_ptr<const api::ResourceClaim>& written, const std::string& ended_flight,
                       std::string& out);
void AppendPosted(const framework::PostedAnswer& answer, std::string& out);
void AppendEvicting(const std::string& uid, size_t nth, std::string& out);
// An input with an object: the caller appends the object between the two calls, as record::ObjectWriter or
// record::EncodeCustom encode it.
size_t StartObjectInput(base::Time time, std::string& out);
void EndObjectInput(size_t start, std::string& out);

// Decodes a payload; `object` is set to the bytes of the object. Attachments are added to `input`, whose type is that
// of the input they belong to.
Result<void> DecodeInput(FrameType type, std::string_view payload, Input& input, std::string_view& object);
Result<void> DecodeObject(std::string_view object, const record::ObjectReader& objects, Input& input);
Result<void> DecodeAttachment(FrameType type, std::string_view payload, Input& input);
bool IsInput(FrameType type);
bool IsAttachment(FrameType type);

}  // namespace berth::replay
