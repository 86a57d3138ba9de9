#include "replay/checkpoint_codec.h"

#include <fmt/format.h>

#include <utility>

#include "codec/protobuf_wire.h"
#include "queue/waiting_pod.h"

namespace berth::replay {

using codec::WireReader;
using codec::WireWriter;
using scheduler::Checkpoint;

namespace {

enum Field : uint32_t {
  // Of the beginning.
  kSavedTaken = 1,
  kSavedRandom = 2,  // four times
  kSavedSampleStart = 3,
  kSavedSlots = 4,
  kSavedNextSequence = 5,
  kSavedLastTicket = 6,
  // Of what has an object.
  kSavedObject = 1,
  kSavedNode = 2,
  kSavedTicket = 3,
  kSavedIndex = 4,
  kSavedSince = 5,
  kSavedZoneSince = 6,
  // Of a queued pod, besides.
  kSavedState = 7,
  kSavedSequence = 8,
  kSavedFlushed = 9,
  kSavedTimestamp = 10,
  kSavedFirstAttempt = 11,
  kSavedAttempts = 12,
  kSavedUnschedulablePlugin = 13,
  kSavedPendingPlugin = 14,
  kSavedUnschedulableCount = 15,
  kSavedErrors = 16,
  kSavedBackoffEnds = 17,
  kSavedSleptTooLong = 18,
  kSavedGatingPlugin = 19,
  // Of a binding, besides.
  kSavedScore = 20,
  kSavedScored = 21,
  kSavedNominated = 22,
  kSavedFeasible = 23,
};

base::Ticket TicketOf(uint64_t number) { return base::Ticket{number}; }

class Encoder {
 public:
  Encoder(record::ObjectWriter& objects, const std::function<void(FrameType, std::string_view)>& append)
      : objects_(objects), append_(append) {}

  void Begin(const Checkpoint& from) {
    std::string out;
    WireWriter writer(out);
    writer.Integer(kSavedTaken, CountOf(from.taken));
    for (const uint64_t word : from.random) writer.Integer(kSavedRandom, word);
    writer.Integer(kSavedSampleStart, from.next_sample_start);
    writer.Integer(kSavedSlots, from.node_slots);
    writer.Integer(kSavedNextSequence, from.queue.next_sequence);
    writer.Integer(kSavedLastTicket, from.queue.last_ticket);
    append_(FrameType::kCheckpointBegin, out);
  }

  // A frame with an object, and with whatever `more` adds.
  void Object(FrameType type, const api::Object& object, const std::function<void(WireWriter&)>& more = {}) {
    const record::ObjectWriter::Template common = objects_.TemplateOf(object);
    if (!common.unwritten.empty()) append_(FrameType::kTemplate, common.unwritten);
    std::string out;
    WireWriter writer(out);
    const size_t start = writer.StartMessage(kSavedObject);
    record::ObjectWriter::Append(object, common, out);
    writer.EndMessage(start);
    if (more) more(writer);
    append_(type, out);
  }

  void Custom(const Checkpoint::Custom& from) {
    std::string out;
    WireWriter(out).Bytes(kSavedObject, record::EncodeCustom(from.resource, *from.object));
    append_(FrameType::kCheckpointCustom, out);
  }

  void Queued(const queue::SchedulingQueue::Saved::Pod& from) {
    Object(FrameType::kCheckpointQueued, api::Object(from.queued.pod->shared_pod()), [&](WireWriter& writer) {
      const queue::QueuedPod& queued = from.queued;
      writer.Integer(kSavedTicket, static_cast<uint64_t>(queued.ticket));
      writer.Integer(kSavedState, static_cast<uint64_t>(from.state));
      writer.Integer(kSavedSequence, from.sequence);
      writer.Integer(kSavedFlushed, CountOf(from.flushed));
      writer.Integer(kSavedTimestamp, CountOf(queued.timestamp));
      if (queued.first_attempt) writer.Integer(kSavedFirstAttempt, CountOf(*queued.first_attempt));
      writer.Integer(kSavedAttempts, static_cast<uint64_t>(queued.attempts));
      for (const std::string& plugin : queued.unschedulable_plugins) writer.Bytes(kSavedUnschedulablePlugin, plugin);
      for (const std::string& plugin : queued.pending_plugins) writer.Bytes(kSavedPendingPlugin, plugin);
      writer.Integer(kSavedUnschedulableCount, static_cast<uint64_t>(queued.unschedulable_count));
      writer.Integer(kSavedErrors, static_cast<uint64_t>(queued.consecutive_errors));
      if (queued.backoff_ends) writer.Integer(kSavedBackoffEnds, CountOf(*queued.backoff_ends));
      writer.Integer(kSavedSleptTooLong, queued.slept_too_long);
      if (!queued.gating_plugin.empty()) writer.Bytes(kSavedGatingPlugin, queued.gating_plugin);
    });
  }

 private:
  record::ObjectWriter& objects_;
  const std::function<void(FrameType, std::string_view)>& append_;
};

// Every field that a frame with an object may have.
struct Fields {
  std::string_view object;
  std::string node;
  uint64_t ticket = 0, index = 0, since = 0, zone_since = 0;
  queue::SchedulingQueue::Saved::Pod queued;
  uint64_t state = 0;
  int64_t score = 0;
  bool scored = false, nominated = false;
  uint64_t feasible = 0;
};

bool ReadQueued(const WireReader& reader, Fields& fields) {
  queue::QueuedPod& queued = fields.queued.queued;
  switch (reader.number()) {
    case kSavedState:
      fields.state = reader.integer();
      return true;
    case kSavedSequence:
      fields.queued.sequence = reader.integer();
      return true;
    case kSavedFlushed:
      fields.queued.flushed = TimeOf(reader.integer());
      return true;
    case kSavedTimestamp:
      queued.timestamp = TimeOf(reader.integer());
      return true;
    case kSavedFirstAttempt:
      queued.first_attempt = TimeOf(reader.integer());
      return true;
    case kSavedAttempts:
      queued.attempts = static_cast<int>(reader.integer());
      return true;
    case kSavedUnschedulablePlugin:
      queued.unschedulable_plugins.emplace(reader.bytes());
      return true;
    case kSavedPendingPlugin:
      queued.pending_plugins.emplace(reader.bytes());
      return true;
    case kSavedUnschedulableCount:
      queued.unschedulable_count = static_cast<int>(reader.integer());
      return true;
    case kSavedErrors:
      queued.consecutive_errors = static_cast<int>(reader.integer());
      return true;
    case kSavedBackoffEnds:
      queued.backoff_ends = TimeOf(reader.integer());
      return true;
    case kSavedSleptTooLong:
      queued.slept_too_long = reader.integer() != 0;
      return true;
    case kSavedGatingPlugin:
      queued.gating_plugin = reader.bytes();
      return true;
    default:
      return false;
  }
}

Result<Fields> ReadFields(std::string_view payload) {
  Fields fields;
  WireReader reader(payload);
  while (reader.Next()) {
    if (ReadQueued(reader, fields)) continue;
    switch (reader.number()) {
      case kSavedObject:
        fields.object = reader.bytes();
        break;
      case kSavedNode:
        fields.node = reader.bytes();
        break;
      case kSavedTicket:
        fields.ticket = reader.integer();
        break;
      case kSavedIndex:
        fields.index = reader.integer();
        break;
      case kSavedSince:
        fields.since = reader.integer();
        break;
      case kSavedZoneSince:
        fields.zone_since = reader.integer();
        break;
      case kSavedScore:
        fields.score = static_cast<int64_t>(reader.integer());
        break;
      case kSavedScored:
        fields.scored = reader.integer() != 0;
        break;
      case kSavedNominated:
        fields.nominated = reader.integer() != 0;
        break;
      case kSavedFeasible:
        fields.feasible = reader.integer();
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) return Error::InvalidArgument(fmt::format("a checkpoint cannot be read: {}", reader.problem()));
  return fields;
}

Result<Checkpoint> ReadBegin(std::string_view payload) {
  Checkpoint begun;
  size_t words = 0;
  WireReader reader(payload);
  while (reader.Next()) {
    switch (reader.number()) {
      case kSavedTaken:
        begun.taken = TimeOf(reader.integer());
        break;
      case kSavedRandom:
        if (words < begun.random.size()) begun.random[words++] = reader.integer();
        break;
      case kSavedSampleStart:
        begun.next_sample_start = reader.integer();
        break;
      case kSavedSlots:
        begun.node_slots = reader.integer();
        break;
      case kSavedNextSequence:
        begun.queue.next_sequence = reader.integer();
        break;
      case kSavedLastTicket:
        begun.queue.last_ticket = reader.integer();
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) return Error::InvalidArgument(fmt::format("a checkpoint cannot be read: {}", reader.problem()));
  return begun;
}

// More nodes than any cluster has: a number beyond it is damage, and must not take all the memory.
constexpr uint64_t kMostNodes = 10'000'000;

}  // namespace

bool IsCheckpoint(FrameType type) { return type >= FrameType::kCheckpointBegin && type <= FrameType::kCheckpointEnd; }

void EncodeCheckpoint(const Checkpoint& from, record::ObjectWriter& objects,
                      const std::function<void(FrameType, std::string_view)>& append) {
  Encoder encoder(objects, append);
  encoder.Begin(from);
  for (const api::Object& object : from.objects) encoder.Object(FrameType::kCheckpointObject, object);
  for (const Checkpoint::Node& node : from.nodes) {
    encoder.Object(FrameType::kCheckpointNode, api::Object(node.node), [&](WireWriter& writer) {
      writer.Integer(kSavedIndex, node.index);
      writer.Integer(kSavedSince, node.age.since);
      writer.Integer(kSavedZoneSince, node.age.zone_since);
    });
  }
  for (const Checkpoint::Pod& pod : from.pods) {
    encoder.Object(FrameType::kCheckpointPod, api::Object(pod.pod->shared_pod()), [&](WireWriter& writer) {
      writer.Bytes(kSavedNode, pod.node_name);
      writer.Integer(kSavedTicket, static_cast<uint64_t>(pod.assumed_by));
    });
  }
  for (const Checkpoint::Nomination& nomination : from.nominations) {
    encoder.Object(FrameType::kCheckpointNomination, api::Object(nomination.pod->shared_pod()),
                   [&](WireWriter& writer) { writer.Bytes(kSavedNode, nomination.node_name); });
  }
  for (const auto& queued : from.queue.pods) encoder.Queued(queued);
  for (const Checkpoint::Custom& custom : from.custom) encoder.Custom(custom);
  for (const Checkpoint::Binding& binding : from.bindings) {
    encoder.Object(FrameType::kCheckpointBinding, api::Object(binding.pod->shared_pod()), [&](WireWriter& writer) {
      writer.Bytes(kSavedNode, binding.node_name);
      writer.Integer(kSavedTicket, static_cast<uint64_t>(binding.ticket));
      writer.Integer(kSavedAttempts, static_cast<uint64_t>(binding.number));
      writer.Integer(kSavedScore, static_cast<uint64_t>(binding.score));
      writer.Integer(kSavedScored, binding.scored);
      writer.Integer(kSavedNominated, binding.nominated);
      writer.Integer(kSavedFeasible, binding.feasible_nodes);
    });
  }
  append(FrameType::kCheckpointEnd, {});
}

CheckpointReader::CheckpointReader(const config::FeatureGates& gates) : options_(framework::RunningPodOptions(gates)) {}

framework::PodInfoPtr CheckpointReader::PodOf(const api::Object& object) const {
  return framework::PodInfo::Make(object.Share<api::Pod>(), options_);
}

Result<void> CheckpointReader::Add(FrameType type, std::string_view payload, const record::ObjectReader& objects) {
  if (type == FrameType::kCheckpointEnd) return {};
  if (type == FrameType::kCheckpointBegin) {
    Result<Checkpoint> begun = ReadBegin(payload);
    if (!begun) return begun.error();
    checkpoint_ = *std::move(begun);
    withheld_ = 0;
    return {};
  }
  Result<Fields> read = ReadFields(payload);
  if (!read) return read.error();
  Fields& fields = *read;
  if (type == FrameType::kCheckpointCustom) {
    Result<record::RecordedCustom> custom = record::DecodeCustom(fields.object);
    if (!custom) return custom.error();
    withheld_ += custom->withheld;
    checkpoint_.custom.push_back({std::move(custom->resource), std::move(custom->object)});
    return {};
  }
  Result<api::Object> object = objects.Decode(fields.object);
  if (!object) return object.error();
  const bool wants_pod = type != FrameType::kCheckpointObject && type != FrameType::kCheckpointNode;
  if ((wants_pod && object->kind() != api::Kind::kPod) ||
      (type == FrameType::kCheckpointNode && object->kind() != api::Kind::kNode)) {
    return Error::InvalidArgument(fmt::format("a checkpoint has a {} where it cannot be", object->info().name));
  }
  switch (type) {
    case FrameType::kCheckpointObject:
      checkpoint_.objects.push_back(*std::move(object));
      return {};
    case FrameType::kCheckpointNode:
      if (fields.index >= kMostNodes) return Error::InvalidArgument("a checkpoint has an impossible number of nodes");
      checkpoint_.nodes.push_back({object->Share<api::Node>(),
                                   static_cast<framework::NodeIndex>(fields.index),
                                   {fields.since, fields.zone_since}});
      return {};
    case FrameType::kCheckpointPod:
      checkpoint_.pods.push_back({PodOf(*object), fields.node, TicketOf(fields.ticket)});
      return {};
    case FrameType::kCheckpointNomination:
      checkpoint_.nominations.push_back({PodOf(*object), fields.node});
      return {};
    case FrameType::kCheckpointQueued:
      if (fields.state > static_cast<uint64_t>(queue::PodState::kBinding) ||
          fields.state == static_cast<uint64_t>(queue::PodState::kInFlight)) {
        return Error::InvalidArgument("a checkpoint has a queued pod in an unknown state");
      }
      fields.queued.queued.pod = PodOf(*object);
      fields.queued.queued.ticket = TicketOf(fields.ticket);
      fields.queued.state = static_cast<queue::PodState>(fields.state);
      checkpoint_.queue.pods.push_back(std::move(fields.queued));
      return {};
    case FrameType::kCheckpointBinding:
      checkpoint_.bindings.push_back({PodOf(*object), TicketOf(fields.ticket), fields.queued.queued.attempts,
                                      fields.node, fields.score, fields.scored, fields.nominated, fields.feasible});
      return {};
    default:
      return Error::Unsupported(
          "a checkpoint has a part that this berth does not know: use the berth that made it, or a "
          "newer one");
  }
}

}  // namespace berth::replay
