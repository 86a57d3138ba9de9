// The format of a recording (docs/adr/0015-flight-recorder.md).
//
//   folder      berth-00000001.rec, berth-00000002.rec, …: recordings in order, each in one or more files
//   file        a preamble, then blocks; the first block is the header
//   preamble    "berthrec", the format's version (4 bytes, little-endian), 4 bytes of zero
//   block       length of the content (4), its CRC-32C (4), type (1), CRC-32C of these nine bytes (4), content; the
//               first checksum covers type and content. Format 1 had no second checksum, so a damaged length looked
//               like a file whose program was killed
//   content     of a header: a message; of frames: a sequence of frames, packed (packing.h). Formats 1 and 2 compressed
//               them with zlib, which can still be read. Until format 3 a full scheduler left no frames
//   frame       type (varint), length (varint), payload: a message in protobuf's wire format
//
// A file does not depend on earlier ones: its first frames repeat what is needed from them. Unknown fields of a message
// are skipped, as in protobuf, so that fields can be added; any other change requires a new version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::record {

inline constexpr uint32_t kFormatVersion = 4;
inline constexpr uint32_t kOldestFormat = 1;
inline constexpr std::string_view kMagic = "berthrec";
inline constexpr size_t kPreambleSize = 16;
inline constexpr size_t kBlockHeadSize = 13;
inline constexpr size_t kBlockHeadSizeOfFormat1 = 9;
// No writer exceeds these: a larger length means that the file is damaged.
inline constexpr size_t kMaxBlockContent = size_t{64} << 20;
inline constexpr size_t kMaxBlockFrames = size_t{256} << 20;

enum class BlockType : uint8_t {
  kHeader = 1,
  kZlibFrames = 2,  // until format 2
  kFrames = 3,
};

// The inverse of codec::ReadVarint.
void AppendVarint(std::string& out, uint64_t value);
// The first four bytes as a number; there must be four.
uint32_t ReadLittleEndian(std::string_view bytes);

std::string Preamble();
// Empty if it is a valid preamble; otherwise a sentence that says what was found.
std::string CheckPreamble(std::string_view bytes);
// The version in a valid preamble.
uint32_t FormatOf(std::string_view preamble);

// An extender that was called, with the parts of its configuration that a replay needs.
struct ExtenderNote {
  std::string name;
  bool filters = false;
  bool prioritizes = false;
  bool binds = false;
  bool preempts = false;
  bool is_ignorable = false;
  int64_t weight = 0;
  std::vector<std::string> managed_resources;  // empty: it is called for every pod
};

// The recording that a file belongs to, and the scheduler that was recorded.
struct Header {
  std::string program_version;              // of berth
  uint64_t recording = 0;                   // the same in all files of one run of the scheduler
  uint64_t part = 0;                        // from 0; part 0 starts with an empty scheduler, others with a checkpoint
  std::optional<uint64_t> inputs_before{};  // number of inputs in earlier parts, to detect gaps; unset in format 1
  base::Time begins{};
  uint64_t seed = 0;
  std::string configuration;  // as YAML
  std::string feature_gates;  // "A=true,B=false", as in --feature-gates
  base::Duration max_unschedulable{};
  uint64_t max_binding = 0;
  std::vector<ExtenderNote> extenders;
  // The cluster is served by another scheduler: the recording contains no decisions of a driver.
  bool followed = false;

  std::string Encode() const;
  static Result<Header> Decode(std::string_view bytes);
};

// A frame: the caller appends its payload to `frames` between the two calls.
size_t StartFrame(std::string& frames, uint32_t type);
void EndFrame(std::string& frames, size_t start);
// Removes the first frame; false if there is none, or an incomplete one.
bool TakeFrame(std::string_view& frames, uint32_t& type, std::string_view& payload);

// A whole block, with its head.
std::string MakeBlock(BlockType type, std::string_view content);
// The same as MakeBlock(kFrames, Pack(frames)), without copies. The result points into `room`, which grows as needed
// and should be reused for the next block.
std::string_view MakeBlockOfFrames(std::string_view frames, std::string& room);

// The frames in a block of type kFrames or kZlibFrames.
Result<std::string> FramesIn(BlockType type, std::string_view content, size_t size_limit = kMaxBlockFrames);

std::string FileName(uint64_t number);
// 0 if it is not the name of such a file.
uint64_t FileNumber(std::string_view name);

}  // namespace berth::record
