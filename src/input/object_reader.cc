#include "input/object_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "api/node.h"
#include "api/policy.h"
#include "base/printable.h"
#include "base/workers.h"
#include "codec/field_mark.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "input/defaults.h"
#include "input/new_object_checks.h"
#include "input/object_checks.h"
#include "input/template_digest.h"
#include "input/unread_kinds.h"
#include "input/workloads.h"

namespace berth::input {

namespace {

// The objects below `value`, with lists flattened, in the order of the file.
void CollectTexts(const codec::Value& value, std::vector<codec::Value>& texts) {
  const codec::Value* items = value.Find("items");
  if (!items || !items->is_array()) return texts.push_back(value);
  for (const codec::Value& item : items->items()) CollectTexts(item, texts);
}

// Whether a text that begins with a brace is meant to be JSON: then the first thing inside is quoted.
bool QuotesKeys(std::string_view text) {
  const size_t inside = text.find_first_not_of(" \t\r\n{[");
  return inside != std::string_view::npos && text[inside] == '"';
}

// Text that is not JSON may still be YAML in braces; if it is neither, the JSON parser gives the better error.
Result<std::vector<codec::Document>> ParseJsonOrYaml(std::string_view text, const std::string& file) {
  Result<codec::Document> json = codec::ParseJson(std::string(text), file);
  std::vector<codec::Document> documents;
  if (json) {
    documents.push_back(std::move(*json));
    return documents;
  }
  if (QuotesKeys(text)) return json.error();
  Result<std::vector<codec::Document>> yaml = codec::ParseYaml(text, file);
  if (!yaml) return json.error();
  return yaml;
}

Result<std::vector<codec::Document>> Parse(const TextPart& part, const std::string& file) {
  if (part.form == TextPart::Form::kJson) return ParseJsonOrYaml(part.text, file);
  return codec::ParseYaml(part.text, file, part.lines_before);
}

// Whether it was written by a person, rather than read from a cluster.
bool IsNew(const api::ObjectMeta& metadata) {
  return metadata.uid.empty() && metadata.resource_version.empty() && !metadata.creation_timestamp;
}

// "spec.containers[].foo" of "items[3].spec.containers[0].foo"
std::string WithoutIndexes(std::string_view path) {
  std::string plain;
  for (size_t i = 0; i < path.size(); ++i) {
    plain += path[i];
    if (path[i] != '[') continue;
    while (i + 1 < path.size() && path[i + 1] != ']') ++i;
  }
  return plain;
}

// Valid, but rarely intended.
std::string GapIn(const api::Object& object, const codec::Value& text) {
  if (const auto* node = object.As<api::Node>(); node && !node->status.allocatable.Contains(Symbol("pods"))) {
    return "status.allocatable[pods]: missing, so no pod fits on this node";
  }
  if (object.kind() == api::Kind::kPodDisruptionBudget && !text.Find("status")) {
    return "status.disruptionsAllowed: missing, so it allows no disruption";
  }
  return {};
}

}  // namespace

// The result of decoding one part.
struct ObjectReader::Decoded {
  std::vector<DraftObject> objects;
  std::vector<api::UnknownObject> unknown;
  std::vector<std::string> syntax_problems;
  std::vector<std::string> decode_problems;
  struct FieldProblemText {
    std::string text;
    std::string picture;
  };
  std::vector<FieldProblemText> field_problems;
  std::vector<std::pair<std::string, std::string>> gaps;  // the object, and the warning
  struct WarnedField {
    std::string kind;
    std::string path;  // without the indexes of items
    std::string text;
  };
  std::vector<WarnedField> unknown_fields;  // worth a warning
  std::vector<WarnedField> seldom_meant;    // likewise, for fields that are rarely intended
  bool has_text = false;                    // there is some content, if only an empty list

  void TakeObjects(const codec::Value& root, const std::string& path, const std::string& file, uint32_t part,
                   const ReaderOptions& options) {
    if (root.is_null()) return;
    has_text = true;
    api::DecodedObjects decoded;
    std::vector<codec::Diagnostic> problems;
    api::DecodeObjects(root,
                       {.strict = true,
                        .keep_unknown_fields = true,
                        .default_namespace = options.default_namespace,
                        .keep_unknown_objects = options.keep_custom},
                       decoded, problems, path);
    for (const codec::Diagnostic& problem : problems) {
      decode_problems.push_back(fmt::format("{}: {}", codec::Where(file, problem.where), problem.ToString()));
    }
    std::move(decoded.unknown.begin(), decoded.unknown.end(), std::back_inserter(unknown));
    std::vector<codec::Value> texts;
    CollectTexts(root, texts);
    size_t next = 0;
    for (api::LocatedObject& located : decoded.objects) {
      while (next < texts.size() && texts[next].mark() != located.where) ++next;
      CHECK(next < texts.size());
      const codec::Value& text = texts[next++];
      if (TakeUnknownFields(located, file, options.validation)) TakeObject(located.object, text, file, part);
    }
  }

  // False when they are problems: the object is not what its author intended.
  bool TakeUnknownFields(const api::LocatedObject& located, const std::string& file, Validation validation) {
    if (located.unknown_fields.empty() || validation == Validation::kIgnore) return true;
    const bool strict =
        validation == Validation::kStrict || (validation == Validation::kByOrigin && IsNew(located.object.metadata()));
    for (const codec::Diagnostic& field : located.unknown_fields) {
      const std::string text = fmt::format("{}: {}", codec::Where(file, field.where), field.ToString());
      if (strict) {
        decode_problems.push_back(text);
      } else {
        unknown_fields.push_back({std::string(located.object.info().name), WithoutIndexes(field.path), text});
      }
    }
    return !strict;
  }

  void TakeObject(const api::Object& object, const codec::Value& text, const std::string& file, uint32_t part) {
    DraftObject found{WithDefaults(object), {part, text.mark()}, IsNew(object.metadata())};
    if (IsWorkload(object.kind())) found.template_digest = TemplateDigest(text, found.is_new);
    const auto say = [&](std::string_view path, std::string_view what) {
      return fmt::format("{}: {}: {}", codec::Where(file, codec::FieldMark(text, path)), base::Clipped(found.Who()),
                         what);
    };
    for (const FieldProblem& problem : ProblemsOf(object)) {
      field_problems.push_back({say(problem.path, problem.ToString()), problem.picture});
    }
    if (found.is_new) {
      for (const FieldProblem& problem : MissingParts(object, text)) {
        field_problems.push_back({say(problem.path, problem.ToString()), {}});
      }
      for (const FieldProblem& warning : SeldomMeant(object, text)) {
        seldom_meant.push_back({std::string(object.info().name), WithoutIndexes(warning.path) + warning.what,
                                say(warning.path, warning.ToString())});
      }
    }
    if (const std::string gap = GapIn(found.object, text); !gap.empty()) {
      gaps.emplace_back(found.Who(), say(gap.substr(0, gap.find_first_of("[:")), gap));
    }
    objects.push_back(std::move(found));
  }
};

// A part that was parsed again to find positions in it.
struct ObjectReader::Reparsed {
  Reparsed(uint32_t number, const TextPart& text, const std::string& file) : part(number) {
    Result<std::vector<codec::Document>> parsed = Parse(text, file);
    if (!parsed) return;
    documents = std::move(*parsed);
    std::vector<codec::Value> texts;
    for (const codec::Document& document : documents) {
      for (const codec::Value& item : document.root().items()) CollectTexts(item, texts);
      CollectTexts(document.root(), texts);
    }
    for (const codec::Value& object : texts)
      objects.emplace(std::pair(object.mark().line, object.mark().column), object);
  }

  uint32_t part;
  std::vector<codec::Document> documents;
  std::map<std::pair<uint32_t, uint32_t>, codec::Value> objects;  // by line and column
};

ObjectReader::~ObjectReader() = default;

ObjectReader::ObjectReader(std::vector<InputFile> files, ReaderOptions options)
    : files_(std::move(files)), options_(std::move(options)) {
  for (size_t file = 0; file < files_.size(); ++file) {
    for (const TextPart& part : SplitText(files_[file].text, options_.part_size)) parts_.push_back({file, part});
  }
}

ObjectReader::Decoded ObjectReader::Decode(uint32_t number) const {
  const TextPart& part = parts_[number].text;
  const std::string& file = files_[parts_[number].file].name;
  Decoded out;
  Result<std::vector<codec::Document>> documents = Parse(part, file);
  if (!documents && part.form == TextPart::Form::kYaml) {
    // Valid documents are read, and each invalid one is reported.
    documents = std::vector<codec::Document>();
    for (const TextPart& single : SplitDocuments(part.text, part.lines_before)) {
      Result<std::vector<codec::Document>> parsed = Parse(single, file);
      if (!parsed) out.syntax_problems.push_back(parsed.error().message);
      if (parsed) std::move(parsed->begin(), parsed->end(), std::back_inserter(*documents));
    }
  }
  if (!documents) {
    out.syntax_problems.push_back(documents.error().message);
    return out;
  }
  for (const codec::Document& document : *documents) {
    if (part.form != TextPart::Form::kItems) {
      out.TakeObjects(document.root(), {}, file, number, options_);
      continue;
    }
    size_t index = part.first_item;
    for (const codec::Value& item : document.root().items()) {
      out.TakeObjects(item, fmt::format("items[{}]", index++), file, number, options_);
    }
  }
  return out;
}

void ObjectReader::RejoinLists(std::vector<Decoded>& decoded) {
  for (size_t begin = 0; begin < parts_.size(); ++begin) {
    const TextPart first = parts_[begin].text;
    if (first.form != TextPart::Form::kItems) continue;
    bool sound = true;
    size_t end = begin;
    for (; end < parts_.size() && parts_[end].text.whole.data() == first.whole.data(); ++end) {
      sound = sound && decoded[end].syntax_problems.empty();
    }
    if (!sound) {
      parts_[begin].text = {.text = first.whole, .lines_before = first.lines_before_whole};
      for (size_t i = begin + 1; i < end; ++i) decoded[i] = {};
      decoded[begin] = Decode(static_cast<uint32_t>(begin));
    }
    begin = end - 1;
  }
}

bool ObjectReader::ReadInto(ClusterDraft& draft, size_t threads, const ReadProgress& progress) {
  size_t total = 0;
  for (const Part& part : parts_) total += part.text.text.size();
  std::mutex mutex;
  size_t bytes = 0;  // guarded by mutex
  const auto tell = [&](size_t more) {
    if (!progress) return;
    const std::lock_guard lock(mutex);
    progress(bytes += more, total);
  };
  std::vector<Decoded> decoded(parts_.size());
  base::Workers workers(std::clamp<size_t>(threads, 1, std::max<size_t>(parts_.size(), 1)));
  workers.ForRanges(parts_.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      decoded[i] = Decode(static_cast<uint32_t>(i));
      tell(parts_[i].text.text.size());
    }
  });
  RejoinLists(decoded);

  bool all_read = CheckContents(decoded, draft);
  for (Decoded& part : decoded) {
    for (const auto* problems : {&part.syntax_problems, &part.decode_problems}) {
      all_read = all_read && problems->empty();
      for (const std::string& problem : *problems) draft.Problem(problem);
    }
  }
  JudgeUnknown(decoded, draft);
  for (size_t i = 0; i < parts_.size(); ++i) {
    for (DraftObject& object : decoded[i].objects) {
      object.origin.input = files_[parts_[i].file].input;
      draft.Add(std::move(object));
    }
  }
  for (Decoded& part : decoded) {
    for (const auto& problem : part.field_problems) draft.Problem(problem.text, problem.picture);
    for (const auto& [who, warning] : part.gaps) {
      // The earlier input fills the gap.
      if (!draft.IsLaidOver(who)) draft.Warn(warning);
    }
  }
  WarnOfFields(decoded, draft);
  return all_read && all_known_;
}

bool ObjectReader::CheckContents(const std::vector<Decoded>& decoded, ClusterDraft& draft) const {
  std::vector<bool> has_text(files_.size()), has_objects(files_.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Decoded& part = decoded[i];
    if (part.has_text || !part.syntax_problems.empty()) has_text[parts_[i].file] = true;
    const bool nothing =
        part.objects.empty() && part.unknown.empty() && part.decode_problems.empty() && part.syntax_problems.empty();
    if (!nothing) has_objects[parts_[i].file] = true;
  }
  bool all = true;
  for (size_t file = 0; file < files_.size(); ++file) {
    if (!has_text[file]) {
      all = false;
      draft.Problem(files_[file].name + ": holds no objects: it is empty, or has nothing but comments");
    } else if (!has_objects[file] && files_[file].text.find("resourceVersion") != std::string::npos) {
      draft.Warn(files_[file].name + ": holds no objects, only an empty list");
    } else if (!has_objects[file]) {
      // Not printed by a server, so its author meant it to contain objects.
      all = false;
      draft.Problem(files_[file].name + ": holds no objects, only an empty list");
    }
  }
  return all;
}

// Groups equal warnings of one kind of object.
void ObjectReader::WarnOfFields(const std::vector<Decoded>& decoded, ClusterDraft& draft) const {
  struct Seen {
    const std::string* first;
    size_t count = 0;
  };
  std::map<std::pair<std::string, std::string>, Seen> seen;
  for (const Decoded& part : decoded) {
    for (const auto* fields : {&part.unknown_fields, &part.seldom_meant}) {
      for (const Decoded::WarnedField& field : *fields) {
        ++seen.try_emplace({field.kind, field.path}, Seen{&field.text}).first->second.count;
      }
    }
  }
  for (const auto& [kind_and_path, entry] : seen) {
    draft.Warn(*entry.first + (entry.count == 1 ? "" : fmt::format(" (and {} more)", entry.count - 1)));
  }
}

void ObjectReader::JudgeUnknown(const std::vector<Decoded>& decoded, ClusterDraft& draft) {
  struct Passed {
    std::string first;  // where and who
    std::string text;
    size_t count = 0;
  };
  std::map<std::pair<std::string, std::string>, Passed> worth_a_warning;  // by apiVersion and kind
  for (size_t i = 0; i < parts_.size(); ++i) {
    for (const api::UnknownObject& unknown : decoded[i].unknown) {
      ++passed_over_;
      if (unknown.object && !IsBuiltInGroup(unknown.api_version)) {
        custom_.push_back(*unknown.object);
        continue;
      }
      const UnreadKind kind = JudgeUnread(unknown.api_version, unknown.kind);
      if (kind.judgement == UnreadKind::Judgement::kHarmless) continue;
      const std::string who = fmt::format("{}: {} {}{}{}", codec::Where(files_[parts_[i].file].name, unknown.where),
                                          base::Clipped(unknown.api_version), base::Clipped(unknown.kind),
                                          unknown.name.empty() ? "" : " ", base::Clipped(unknown.name));
      // A newer server has kinds that this version does not know.
      const bool tolerated = unknown.from_server && options_.validation != Validation::kStrict;
      if (kind.judgement == UnreadKind::Judgement::kMistake && !tolerated) {
        draft.Problem(fmt::format("{} {}", who, kind.text));
        all_known_ = false;
      } else if (Passed& passed = worth_a_warning[{unknown.api_version, unknown.kind}]; ++passed.count == 1) {
        passed.first = who;
        passed.text = kind.text;
      }
    }
  }
  for (const auto& [kind, passed] : worth_a_warning) {
    const std::string others = passed.count == 1 ? "" : fmt::format(" (and {} more)", passed.count - 1);
    draft.Warn(fmt::format("{}{} {}", passed.first, others, passed.text));
  }
}

std::string ObjectReader::Where(const ObjectOrigin& origin, std::string_view path) const {
  if (origin.part == ObjectOrigin::kCluster) return "the cluster";
  if (origin.part == ObjectOrigin::kFlags) return "the flags";
  const Part& part = parts_[origin.part];
  const std::string& file = files_[part.file].name;
  if (path.empty()) return codec::Where(file, origin.mark);
  if (!reparsed_ || reparsed_->part != origin.part)
    reparsed_ = std::make_unique<Reparsed>(origin.part, part.text, file);
  const auto found = reparsed_->objects.find({origin.mark.line, origin.mark.column});
  return codec::Where(file, found == reparsed_->objects.end() ? origin.mark : codec::FieldMark(found->second, path));
}

}  // namespace berth::input
