#include "record/format.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "codec/protobuf_wire.h"
#include "record/checksum.h"
#include "record/packing.h"

namespace berth::record {

namespace {

constexpr std::string_view kFilePrefix = "berth-", kFileSuffix = ".rec";

void AppendLittleEndian(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
}

std::string MakeBlockHead(BlockType type, std::string_view content) {
  CHECK(content.size() <= kMaxBlockContent);
  const char type_byte = static_cast<char>(type);
  std::string head;
  AppendLittleEndian(head, static_cast<uint32_t>(content.size()));
  AppendLittleEndian(head, Crc32c(content, Crc32c({&type_byte, 1})));
  head += type_byte;
  AppendLittleEndian(head, Crc32c(head));
  return head;
}

enum HeaderField : uint32_t {
  kProgramVersion = 1,
  kRecording = 2,
  kPart = 3,
  kInputsBefore = 11,
  kBegins = 4,
  kSeed = 5,
  kConfiguration = 6,
  kFeatureGates = 7,
  kMaxUnschedulable = 8,
  kMaxBinding = 9,
  kExtender = 10,
  kFollowed = 20,
};

enum ExtenderField : uint32_t { kExtenderName = 1, kExtenderFlags = 2, kExtenderWeight = 3, kManagedResource = 4 };

void Append(codec::WireWriter& writer, const ExtenderNote& note) {
  const size_t start = writer.StartMessage(kExtender);
  writer.Bytes(kExtenderName, note.name);
  writer.Integer(kExtenderFlags, uint64_t{note.filters} | uint64_t{note.prioritizes} << 1 | uint64_t{note.binds} << 2 |
                                     uint64_t{note.preempts} << 3 | uint64_t{note.is_ignorable} << 4);
  writer.Integer(kExtenderWeight, static_cast<uint64_t>(note.weight));
  for (const std::string& resource : note.managed_resources) writer.Bytes(kManagedResource, resource);
  writer.EndMessage(start);
}

ExtenderNote ReadExtender(std::string_view bytes) {
  ExtenderNote note;
  codec::WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.number() == kExtenderName) note.name = reader.bytes();
    if (reader.number() == kExtenderFlags) {
      note.filters = reader.integer() & 1;
      note.prioritizes = reader.integer() >> 1 & 1;
      note.binds = reader.integer() >> 2 & 1;
      note.preempts = reader.integer() >> 3 & 1;
      note.is_ignorable = reader.integer() >> 4 & 1;
    }
    if (reader.number() == kExtenderWeight) note.weight = static_cast<int64_t>(reader.integer());
    if (reader.number() == kManagedResource) note.managed_resources.emplace_back(reader.bytes());
  }
  return note;
}

Result<std::string> Inflate(std::string_view content, size_t size_limit) {
  std::string out;
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) return Error::Internal("zlib cannot be used");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  std::vector<char> chunk(size_t{64} << 10);
  int status = Z_OK;
  size_t made = 1;
  while (status == Z_OK && made > 0 && out.size() <= size_limit) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = ::inflate(&stream, Z_NO_FLUSH);
    made = chunk.size() - stream.avail_out;
    out.append(chunk.data(), made);
  }
  const bool whole = status == Z_STREAM_END && stream.avail_in == 0;
  ::inflateEnd(&stream);
  if (!whole) return Error::InvalidArgument("a block cannot be decompressed");
  return out;
}

}  // namespace

void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

uint32_t ReadLittleEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[static_cast<size_t>(i)]);
  return value;
}

std::string Preamble() {
  std::string preamble(kMagic);
  AppendLittleEndian(preamble, kFormatVersion);
  AppendLittleEndian(preamble, 0);
  return preamble;
}

std::string CheckPreamble(std::string_view bytes) {
  if (bytes.size() < kPreambleSize || !bytes.starts_with(kMagic)) {
    return "this is no recording of berth: it does not begin with \"berthrec\"";
  }
  const uint32_t version = FormatOf(bytes);
  if (version < kOldestFormat || version > kFormatVersion) {
    return fmt::format(
        "the recording has format {}, and this berth reads formats {} to {}: use the berth that made it, or a {} one",
        version, kOldestFormat, kFormatVersion, version > kFormatVersion ? "newer" : "older");
  }
  if (ReadLittleEndian(bytes.substr(kMagic.size() + 4)) != 0) return "damaged at byte 12: expected zero";
  return {};
}

uint32_t FormatOf(std::string_view preamble) { return ReadLittleEndian(preamble.substr(kMagic.size())); }

std::string Header::Encode() const {
  std::string out;
  codec::WireWriter writer(out);
  writer.Bytes(kProgramVersion, program_version);
  writer.Integer(kRecording, recording);
  writer.Integer(kPart, part);
  if (inputs_before) writer.Integer(kInputsBefore, *inputs_before);
  writer.Integer(kBegins, static_cast<uint64_t>(begins.time_since_epoch().count()));
  writer.Integer(kSeed, seed);
  writer.Bytes(kConfiguration, configuration);
  writer.Bytes(kFeatureGates, feature_gates);
  writer.Integer(kMaxUnschedulable, static_cast<uint64_t>(max_unschedulable.count()));
  writer.Integer(kMaxBinding, max_binding);
  for (const ExtenderNote& extender : extenders) Append(writer, extender);
  if (followed) writer.Integer(kFollowed, 1);
  return out;
}

Result<Header> Header::Decode(std::string_view bytes) {
  Header header;
  codec::WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.number()) {
      case kProgramVersion:
        header.program_version = reader.bytes();
        break;
      case kRecording:
        header.recording = reader.integer();
        break;
      case kPart:
        header.part = reader.integer();
        break;
      case kInputsBefore:
        header.inputs_before = reader.integer();
        break;
      case kBegins:
        header.begins = base::Time(base::Duration(static_cast<int64_t>(reader.integer())));
        break;
      case kSeed:
        header.seed = reader.integer();
        break;
      case kConfiguration:
        header.configuration = reader.bytes();
        break;
      case kFeatureGates:
        header.feature_gates = reader.bytes();
        break;
      case kMaxUnschedulable:
        header.max_unschedulable = base::Duration(static_cast<int64_t>(reader.integer()));
        break;
      case kMaxBinding:
        header.max_binding = reader.integer();
        break;
      case kExtender:
        header.extenders.push_back(ReadExtender(reader.bytes()));
        break;
      case kFollowed:
        header.followed = reader.integer() != 0;
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) return Error::InvalidArgument(fmt::format("the header cannot be read: {}", reader.problem()));
  return header;
}

// Reserves one byte for the length, which is enough for most frames.
size_t StartFrame(std::string& frames, uint32_t type) {
  AppendVarint(frames, type);
  frames += '\0';
  return frames.size();
}

void EndFrame(std::string& frames, size_t start) { codec::WireWriter(frames).EndMessage(start); }

bool TakeFrame(std::string_view& frames, uint32_t& type, std::string_view& payload) {
  const char* cursor = frames.data();
  const char* const end = cursor + frames.size();
  uint64_t number = 0, length = 0;
  if (!codec::ReadVarint(cursor, end, number) || number > UINT32_MAX) return false;
  if (!codec::ReadVarint(cursor, end, length) || length > static_cast<uint64_t>(end - cursor)) return false;
  type = static_cast<uint32_t>(number);
  payload = {cursor, static_cast<size_t>(length)};
  frames = {cursor + length, static_cast<size_t>(end - cursor) - static_cast<size_t>(length)};
  return true;
}

std::string MakeBlock(BlockType type, std::string_view content) {
  std::string block = MakeBlockHead(type, content);
  block += content;
  return block;
}

std::string_view MakeBlockOfFrames(std::string_view frames, std::string& room) {
  const size_t most = kBlockHeadSize + MostPacked(frames.size());
  if (room.size() < most) room.resize(most);
  char* const content = room.data() + kBlockHeadSize;
  const size_t size = PackTo(frames, content);
  MakeBlockHead(BlockType::kFrames, {content, size}).copy(room.data(), kBlockHeadSize);
  return std::string_view(room).substr(0, kBlockHeadSize + size);
}

Result<std::string> FramesIn(BlockType type, std::string_view content, size_t size_limit) {
  return type == BlockType::kZlibFrames ? Inflate(content, size_limit) : Unpack(content, size_limit);
}

std::string FileName(uint64_t number) { return fmt::format("{}{:08}{}", kFilePrefix, number, kFileSuffix); }

uint64_t FileNumber(std::string_view name) {
  if (!name.starts_with(kFilePrefix) || !name.ends_with(kFileSuffix)) return 0;
  name.remove_prefix(kFilePrefix.size());
  name.remove_suffix(kFileSuffix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

}  // namespace berth::record
