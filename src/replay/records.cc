#include "replay/records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "codec/protobuf.h"
#include "codec/protobuf_field_buffer.h"

namespace berth::replay {

using codec::WireReader;
using codec::WireWriter;
using framework::PostedAnswer;
using framework::Status;
using scheduler::ApiAnswer;
using scheduler::Outcome;

namespace {

Result<void> EndOf(const WireReader& reader, std::string_view what) {
  if (reader.ok()) return {};
  return Error::InvalidArgument(fmt::format("{} cannot be read: {}", what, reader.problem()));
}

void AppendPart(WireWriter& writer, uint32_t number, const auto& append) {
  const size_t start = writer.StartMessage(number);
  append(writer);
  writer.EndMessage(start);
}

enum StatusField : uint32_t { kCode = 1, kReason = 2, kPlugin = 3 };

void AppendStatus(WireWriter& writer, uint32_t number, const Status& status) {
  if (status.ok()) return;
  AppendPart(writer, number, [&](WireWriter& part) {
    part.Integer(kCode, static_cast<uint64_t>(status.code()));
    for (const std::string& reason : status.reasons()) part.Bytes(kReason, reason);
    if (!status.plugin().empty()) part.Bytes(kPlugin, status.plugin());
  });
}

Status ReadStatus(std::string_view bytes) {
  uint64_t code = 0;
  std::vector<std::string> reasons;
  std::string plugin;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == kCode) code = reader.integer();
    if (reader.number() == kReason) reasons.emplace_back(reader.bytes());
    if (reader.number() == kPlugin) plugin = reader.bytes();
  }
  if (code == 0 || code > static_cast<uint64_t>(framework::Code::kPending)) return Status::Error("unknown code");
  Status status(static_cast<framework::Code>(code), std::move(reasons));
  return plugin.empty() ? status : status.WithPlugin(plugin);
}

enum ErrorField : uint32_t { kErrorCode = 1, kErrorMessage = 2 };

void AppendError(WireWriter& writer, uint32_t number, const Error& error) {
  AppendPart(writer, number, [&](WireWriter& part) {
    part.Integer(kErrorCode, static_cast<uint64_t>(error.code));
    part.Bytes(kErrorMessage, error.message);
  });
}

Error ReadError(std::string_view bytes) {
  Error error;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == kErrorCode && reader.integer() <= static_cast<uint64_t>(ErrorCode::kInternal)) {
      error.code = static_cast<ErrorCode>(reader.integer());
    }
    if (reader.number() == kErrorMessage) error.message = reader.bytes();
  }
  return error;
}

void AppendClaim(WireWriter& writer, uint32_t number, const std::shared_ptr<const api::ResourceClaim>& claim) {
  if (claim) writer.Bytes(number, codec::EncodeProtobuf(*claim));
}

Result<std::shared_ptr<const api::ResourceClaim>> ReadClaim(std::string_view bytes) {
  auto claim = std::make_shared<api::ResourceClaim>();
  if (Result<void> decoded = codec::DecodeProtobuf(bytes, *claim); !decoded) return decoded.error();
  return std::shared_ptr<const api::ResourceClaim>(std::move(claim));
}

enum AnswerField : uint32_t { kCall = 1, kStatus = 2, kError = 3, kClaim = 4, kBody = 5, kAnswerWithheld = 6 };

void AppendAnswer(WireWriter& writer, uint32_t number, const ApiAnswer& answer) {
  AppendPart(writer, number, [&](WireWriter& part) {
    part.Integer(kCall, static_cast<uint64_t>(answer.call));
    const std::string body = record::WithoutBookkeeping(answer.body);
    if (answer.withheld || body.empty() != answer.body.empty()) return part.Integer(kAnswerWithheld, 1);
    AppendStatus(part, kStatus, answer.status);
    if (answer.error) AppendError(part, kError, *answer.error);
    AppendClaim(part, kClaim, answer.claim);
    if (!body.empty()) part.Bytes(kBody, body);
  });
}

Result<ApiAnswer> ReadAnswer(std::string_view bytes) {
  ApiAnswer answer;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == kCall) answer.call = static_cast<ApiAnswer::Call>(reader.integer());
    if (reader.number() == kStatus) answer.status = ReadStatus(reader.bytes());
    if (reader.number() == kError) answer.error = ReadError(reader.bytes());
    if (reader.number() == kBody) answer.body = reader.bytes();
    if (reader.number() == kAnswerWithheld) answer.withheld = reader.integer() != 0;
    if (reader.number() == kClaim) {
      auto claim = ReadClaim(reader.bytes());
      if (!claim) return claim.error();
      answer.claim = *std::move(claim);
    }
  }
  if (Result<void> end = EndOf(reader, "an answer"); !end) return end.error();
  return answer;
}

enum DecisionField : uint32_t {
  kTicket = 1,
  kPod = 2,
  kUid = 3,
  kOutcome = 4,
  kNode = 5,
  kScore = 6,
  kFlags = 7,
  kFeasible = 8,
  kMessage = 9,
  kNominatedNode = 10,
  kVictim = 11,
  kUnschedulablePlugin = 12,
  kPendingPlugin = 13,
};

enum InputField : uint32_t {
  kTime = 1,
  kObject = 2,
  kText = 3,
  kInputTicket = 4,
  kInputStatus = 5,
  kAnswer = 6,
  kWritten = 7,
  kEndedFlight = 8,
};

enum PostedField : uint32_t { kPostedKind = 1, kPostedUid = 2, kPostedPlugin = 3, kPostedMessage = 4 };
enum EvictingField : uint32_t { kEvictingUid = 1, kEvictingNth = 2 };

enum ExtenderField : uint32_t {
  kExtenderName = 1,
  kExtenderKind = 2,
  kExtenderError = 3,
  kFeasibleNode = 4,
  kFailed = 5,
  kUnresolvable = 6,
  kPriority = 7,
  kCandidate = 8,
};
enum PairField : uint32_t { kKey = 1, kValue = 2, kNumber = 3 };

void AppendPair(WireWriter& writer, uint32_t number, const std::pair<std::string, std::string>& pair) {
  AppendPart(writer, number, [&](WireWriter& part) {
    part.Bytes(kKey, pair.first);
    part.Bytes(kValue, pair.second);
  });
}

struct Pair {
  std::string key;
  std::vector<std::string> values;
  int64_t number = 0;
};

Pair ReadPair(std::string_view bytes) {
  Pair pair;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == kKey) pair.key = reader.bytes();
    if (reader.number() == kValue) pair.values.emplace_back(reader.bytes());
    if (reader.number() == kNumber) pair.number = static_cast<int64_t>(reader.integer());
  }
  return pair;
}

std::pair<std::string, std::string> ReadTexts(std::string_view bytes) {
  Pair pair = ReadPair(bytes);
  return {std::move(pair.key), pair.values.empty() ? std::string() : std::move(pair.values.front())};
}

}  // namespace

bool IsInput(FrameType type) {
  switch (type) {
    case FrameType::kPut:
    case FrameType::kRemove:
    case FrameType::kAdd:
    case FrameType::kStep:
    case FrameType::kTend:
    case FrameType::kFinish:
    case FrameType::kActivate:
    case FrameType::kGiveUp:
    case FrameType::kReconfigure:
    case FrameType::kClaimLanded:
    case FrameType::kPutCustom:
    case FrameType::kRemoveCustom:
      return true;
    default:
      return false;
  }
}

bool IsAttachment(FrameType type) { return type >= FrameType::kPosted && type <= FrameType::kDecision; }

std::string_view NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kBound:
      return "bound";
    case Outcome::kBinding:
      return "placed";
    case Outcome::kWaiting:
      return "waits for permission";
    case Outcome::kUnschedulable:
      return "unschedulable";
    case Outcome::kError:
      return "error";
  }
  return "unknown";
}

Decision Decision::Of(const scheduler::Attempt& attempt) {
  Decision decision;
  decision.ticket = static_cast<uint64_t>(attempt.ticket);
  decision.pod = attempt.pod->Key();
  decision.uid = attempt.pod->uid();
  decision.outcome = attempt.outcome;
  decision.node = attempt.node_name;
  decision.score = attempt.score;
  decision.scored = attempt.scored;
  decision.nominated = attempt.nominated;
  decision.feasible_nodes = attempt.feasible_nodes;
  decision.message = attempt.message;
  decision.nominated_node = attempt.post_filter.nominated_node_name;
  for (const framework::PodInfoPtr& victim : attempt.post_filter.victims.pods) {
    decision.victims.push_back(victim->Key());
  }
  decision.unschedulable_plugins.assign(attempt.unschedulable_plugins.begin(), attempt.unschedulable_plugins.end());
  decision.pending_plugins.assign(attempt.pending_plugins.begin(), attempt.pending_plugins.end());
  return decision;
}

void AppendDecision(const scheduler::Attempt& attempt, std::string& out) {
  const framework::PodInfo& pod = *attempt.pod;
  const std::string_view name_space = pod.namespace_().str();
  codec::FieldBuffer writer(out);
  writer.Integer(kTicket, static_cast<uint64_t>(attempt.ticket));
  writer.Joined(kPod, name_space, name_space.empty() ? "" : "/", pod.name());  // PodInfo::Key
  writer.Bytes(kUid, pod.uid());
  writer.Integer(kOutcome, static_cast<uint64_t>(attempt.outcome));
  if (!attempt.node_name.empty()) writer.Bytes(kNode, attempt.node_name);
  writer.Integer(kScore, static_cast<uint64_t>(attempt.score));
  writer.Integer(kFlags, uint64_t{attempt.scored} | uint64_t{attempt.nominated} << 1);
  writer.Integer(kFeasible, attempt.feasible_nodes);
  if (!attempt.message.empty()) writer.Bytes(kMessage, attempt.message);
  const framework::PostFilterResult& post_filter = attempt.post_filter;
  if (!post_filter.nominated_node_name.empty()) writer.Bytes(kNominatedNode, post_filter.nominated_node_name);
  for (const framework::PodInfoPtr& victim : post_filter.victims.pods) writer.Bytes(kVictim, victim->Key());
  for (const std::string& plugin : attempt.unschedulable_plugins) writer.Bytes(kUnschedulablePlugin, plugin);
  for (const std::string& plugin : attempt.pending_plugins) writer.Bytes(kPendingPlugin, plugin);
}

Result<Decision> Decision::Decode(std::string_view bytes) {
  Decision decision;
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.number()) {
      case kTicket:
        decision.ticket = reader.integer();
        break;
      case kPod:
        decision.pod = reader.bytes();
        break;
      case kUid:
        decision.uid = reader.bytes();
        break;
      case kOutcome:
        if (reader.integer() > static_cast<uint64_t>(Outcome::kError)) {
          return Error::InvalidArgument("a decision has an outcome that this berth does not know");
        }
        decision.outcome = static_cast<Outcome>(reader.integer());
        break;
      case kNode:
        decision.node = reader.bytes();
        break;
      case kScore:
        decision.score = static_cast<int64_t>(reader.integer());
        break;
      case kFlags:
        decision.scored = reader.integer() & 1;
        decision.nominated = reader.integer() >> 1 & 1;
        break;
      case kFeasible:
        decision.feasible_nodes = reader.integer();
        break;
      case kMessage:
        decision.message = reader.bytes();
        break;
      case kNominatedNode:
        decision.nominated_node = reader.bytes();
        break;
      case kVictim:
        decision.victims.emplace_back(reader.bytes());
        break;
      case kUnschedulablePlugin:
        decision.unschedulable_plugins.emplace_back(reader.bytes());
        break;
      case kPendingPlugin:
        decision.pending_plugins.emplace_back(reader.bytes());
        break;
      default:
        break;
    }
  }
  if (Result<void> end = EndOf(reader, "a decision"); !end) return end.error();
  return decision;
}

std::string Describe(const Decision& decision) {
  std::string text(NameOf(decision.outcome));
  if (!decision.node.empty()) text += " on " + decision.node;
  if (decision.scored) text += fmt::format(", score {}", decision.score);
  if (decision.feasible_nodes > 0) text += fmt::format(", {} nodes feasible", decision.feasible_nodes);
  if (decision.nominated) text += ", as nominated";
  if (!decision.nominated_node.empty()) text += ", nominated to " + decision.nominated_node;
  if (!decision.victims.empty()) text += fmt::format(", victims {}", fmt::join(decision.victims, " "));
  if (!decision.message.empty()) text += ": " + decision.message;
  return text;
}

ExtenderRecord ExtenderRecord::Of(const scheduler::ExtenderAnswer& answer) {
  ExtenderRecord record;
  record.extender = answer.extender;
  if (answer.verdicts) {
    record.kind = Kind::kVerdicts;
    if (!*answer.verdicts) {
      record.error = answer.verdicts->error();
      return record;
    }
    const engine::ExtenderVerdicts& verdicts = **answer.verdicts;
    for (const framework::NodeInfo* node : verdicts.feasible) record.feasible.push_back(node->name());
    for (const auto& [node, why] : verdicts.failed) record.failed.emplace_back(node, why);
    for (const auto& [node, why] : verdicts.failed_and_unresolvable) record.unresolvable.emplace_back(node, why);
  } else if (answer.priorities) {
    record.kind = Kind::kPriorities;
    if (!*answer.priorities) {
      record.error = answer.priorities->error();
      return record;
    }
    record.priorities = **answer.priorities;
  } else if (answer.candidates) {
    record.kind = Kind::kCandidates;
    if (!*answer.candidates) {
      record.error = answer.candidates->error();
      return record;
    }
    for (const framework::PreemptionCandidate& candidate : **answer.candidates) {
      record.candidates.push_back({candidate.node_name, {}, candidate.victims.pdb_violations});
      for (const framework::PodInfoPtr& victim : candidate.victims.pods) {
        record.candidates.back().victims.push_back(victim->uid());
      }
    }
  }
  return record;
}

void ExtenderRecord::AppendTo(std::string& out) const {
  WireWriter writer(out);
  writer.Bytes(kExtenderName, extender);
  writer.Integer(kExtenderKind, static_cast<uint64_t>(kind));
  if (error) AppendError(writer, kExtenderError, *error);
  for (const std::string& node : feasible) writer.Bytes(kFeasibleNode, node);
  for (const auto& pair : failed) AppendPair(writer, kFailed, pair);
  for (const auto& pair : unresolvable) AppendPair(writer, kUnresolvable, pair);
  for (const engine::HostPriority& priority : priorities) {
    AppendPart(writer, kPriority, [&](WireWriter& part) {
      part.Bytes(kKey, priority.host);
      part.Integer(kNumber, static_cast<uint64_t>(priority.score));
    });
  }
  for (const Candidate& candidate : candidates) {
    AppendPart(writer, kCandidate, [&](WireWriter& part) {
      part.Bytes(kKey, candidate.node);
      for (const std::string& victim : candidate.victims) part.Bytes(kValue, victim);
      part.Integer(kNumber, static_cast<uint64_t>(candidate.pdb_violations));
    });
  }
}

Result<ExtenderRecord> ExtenderRecord::Decode(std::string_view bytes) {
  ExtenderRecord record;
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.number()) {
      case kExtenderName:
        record.extender = reader.bytes();
        break;
      case kExtenderKind:
        record.kind = static_cast<Kind>(reader.integer());
        break;
      case kExtenderError:
        record.error = ReadError(reader.bytes());
        break;
      case kFeasibleNode:
        record.feasible.emplace_back(reader.bytes());
        break;
      case kFailed:
        record.failed.push_back(ReadTexts(reader.bytes()));
        break;
      case kUnresolvable:
        record.unresolvable.push_back(ReadTexts(reader.bytes()));
        break;
      case kPriority: {
        Pair pair = ReadPair(reader.bytes());
        record.priorities.push_back({std::move(pair.key), pair.number});
        break;
      }
      case kCandidate: {
        Pair pair = ReadPair(reader.bytes());
        record.candidates.push_back({std::move(pair.key), std::move(pair.values), pair.number});
        break;
      }
      default:
        break;
    }
  }
  if (Result<void> end = EndOf(reader, "an extender's answer"); !end) return end.error();
  return record;
}

void AppendInput(base::Time time, std::string_view text, std::string& out) {
  WireWriter writer(out);
  writer.Integer(kTime, CountOf(time));
  if (!text.empty()) writer.Bytes(kText, text);
}

size_t StartObjectInput(base::Time time, std::string& out) {
  WireWriter writer(out);
  writer.Integer(kTime, CountOf(time));
  return writer.StartMessage(kObject);
}

void EndObjectInput(size_t start, std::string& out) { WireWriter(out).EndMessage(start); }

void AppendFinish(base::Time time, uint64_t ticket, const Status& status, const scheduler::ApiAnswers& answers,
                  std::string& out) {
  WireWriter writer(out);
  writer.Integer(kTime, CountOf(time));
  writer.Integer(kInputTicket, ticket);
  AppendStatus(writer, kInputStatus, status);
  for (const ApiAnswer& answer : answers) AppendAnswer(writer, kAnswer, answer);
}

void AppendClaimLanded(const std::shared_ptr<const api::ResourceClaim>& written, const std::string& ended_flight,
                       std::string& out) {
  WireWriter writer(out);
  AppendClaim(writer, kWritten, written);
  if (!ended_flight.empty()) writer.Bytes(kEndedFlight, ended_flight);
}

void AppendPosted(const PostedAnswer& answer, std::string& out) {
  WireWriter writer(out);
  writer.Integer(kPostedKind, static_cast<uint64_t>(answer.kind));
  for (const std::string& uid : answer.uids) writer.Bytes(kPostedUid, uid);
  if (!answer.plugin.empty()) writer.Bytes(kPostedPlugin, answer.plugin);
  if (!answer.message.empty()) writer.Bytes(kPostedMessage, answer.message);
}

void AppendEvicting(const std::string& uid, size_t nth, std::string& out) {
  WireWriter writer(out);
  writer.Bytes(kEvictingUid, uid);
  writer.Integer(kEvictingNth, nth);
}

Result<void> DecodeInput(FrameType type, std::string_view payload, Input& input, std::string_view& object) {
  input.type = type;
  WireReader reader(payload);
  while (reader.Next()) {
    switch (reader.number()) {
      case kTime:
        input.time = TimeOf(reader.integer());
        break;
      case kObject:
        object = reader.bytes();
        break;
      case kText:
        input.text = reader.bytes();
        break;
      case kInputTicket:
        input.ticket = reader.integer();
        break;
      case kInputStatus:
        input.status = ReadStatus(reader.bytes());
        break;
      case kAnswer: {
        Result<ApiAnswer> answer = ReadAnswer(reader.bytes());
        if (!answer) return answer.error();
        input.answers.push_back(*std::move(answer));
        break;
      }
      case kWritten: {
        auto claim = ReadClaim(reader.bytes());
        if (!claim) return claim.error();
        input.written = *std::move(claim);
        break;
      }
      case kEndedFlight:
        input.ended_flight = reader.bytes();
        break;
      default:
        break;
    }
  }
  return EndOf(reader, "an input");
}

Result<void> DecodeObject(std::string_view object, const record::ObjectReader& objects, Input& input) {
  switch (input.type) {
    case FrameType::kPut:
    case FrameType::kRemove:
    case FrameType::kAdd: {
      Result<api::Object> decoded = objects.Decode(object);
      if (!decoded) return decoded.error();
      if (input.type == FrameType::kAdd && decoded->kind() != api::Kind::kPod) {
        return Error::InvalidArgument("something that is no pod is added to the queue");
      }
      input.object = *std::move(decoded);
      return {};
    }
    case FrameType::kPutCustom:
    case FrameType::kRemoveCustom: {
      Result<record::RecordedCustom> decoded = record::DecodeCustom(object);
      if (!decoded) return decoded.error();
      input.custom = *std::move(decoded);
      input.withheld = input.custom.withheld;
      return {};
    }
    default:
      return {};
  }
}

Result<void> DecodeAttachment(FrameType type, std::string_view payload, Input& input) {
  if (type == FrameType::kDecision) {
    Result<Decision> decision = Decision::Decode(payload);
    if (!decision) return decision.error();
    input.decisions.push_back(*std::move(decision));
    return {};
  }
  if (type == FrameType::kExtender) {
    Result<ExtenderRecord> record = ExtenderRecord::Decode(payload);
    if (!record) return record.error();
    input.extender_answers.push_back(*std::move(record));
    return {};
  }
  WireReader reader(payload);
  if (type == FrameType::kEvicting) {
    std::string uid;
    size_t nth = 0;
    while (reader.Next()) {
      if (reader.number() == kEvictingUid) uid = reader.bytes();
      if (reader.number() == kEvictingNth) nth = reader.integer();
    }
    input.evicting[uid].insert(nth);
  } else {
    PostedAnswer answer;
    while (reader.Next()) {
      if (reader.number() == kPostedKind && reader.integer() <= static_cast<uint64_t>(PostedAnswer::Kind::kActivate)) {
        answer.kind = static_cast<PostedAnswer::Kind>(reader.integer());
      }
      if (reader.number() == kPostedUid) answer.uids.emplace_back(reader.bytes());
      if (reader.number() == kPostedPlugin) answer.plugin = reader.bytes();
      if (reader.number() == kPostedMessage) answer.message = reader.bytes();
    }
    input.posted.push_back(std::move(answer));
  }
  return EndOf(reader, "what belongs to an input");
}

}  // namespace berth::replay
