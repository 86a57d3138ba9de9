// The format of a recording (docs/adr/0015-flight-recorder.md).
//
//   folder      berth-00000001.rec, berth-00000002.rec, …: one recording after the other, each in one or more files
//   file        a preamble, then blocks; the first block is the header
//   preamble    "berthrec", the format's version (4 bytes, little-endian), 4 bytes of zero
//   block       length of the content (4), its CRC-32C (4), type (1), CRC-32C of these nine bytes (4), content; the
//               first checksum covers type and content. Format 1 had no second one, so that a length that was damaged
//               looked like a file that its program did not live to finish
//   content     of a header: a message; of frames: frames, one after the other, packed (packing.h). Until format 2 they
//               were compressed by zlib, which is still read
//   frame       type (varint), length (varint), payload: a message in protobuf's wire format
//
// A file tells everything from its header on: what earlier files said is in the frames it begins with. What is not
// understood within a message is skipped, as in protobuf, so that fields can be added; anything else that changes
// is another version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::record {

inline constexpr uint32_t kFormatVersion = 3;
inline constexpr uint32_t kOldestFormat = 1;
inline constexpr std::string_view kMagic = "berthrec";
inline constexpr size_t kPreambleSize = 16;
inline constexpr size_t kBlockHeadSize = 13;
inline constexpr size_t kBlockHeadSizeOfFormat1 = 9;
// More than any writer makes: a length beyond it is damage.
inline constexpr size_t kMaxBlockContent = size_t{64} << 20;
inline constexpr size_t kMaxBlockFrames = size_t{256} << 20;

enum class BlockType : uint8_t {
  kHeader = 1,
  kZlibFrames = 2,  // until format 2
  kFrames = 3,
};

// codec::ReadVarint reads it.
void AppendVarint(std::string& out, uint64_t value);
// Of the first four bytes, which must be there.
uint32_t ReadLittleEndian(std::string_view bytes);

std::string Preamble();
// Empty when it is one of ours; otherwise a sentence that says what it is.
std::string CheckPreamble(std::string_view bytes);
// Of a preamble that is one of ours.
uint32_t FormatOf(std::string_view preamble);

// An extender that was asked, as its configuration describes it.
struct ExtenderNote {
  std::string name;
  bool filters = false;
  bool prioritizes = false;
  bool binds = false;
  bool preempts = false;
  bool is_ignorable = false;
  int64_t weight = 0;
  std::vector<std::string> managed_resources;  // empty: every pod is its business
};

// What a file is part of.
struct Header {
  std::string program_version;              // of berth
  uint64_t recording = 0;                   // the same in all files of one run of the scheduler
  uint64_t part = 0;                        // from 0; part 0 begins with a new scheduler, others with a checkpoint
  std::optional<uint64_t> inputs_before{};  // in earlier parts, so that a gap shows; unset in format 1
  base::Time begins{};
  uint64_t seed = 0;
  std::string configuration;  // as a YAML file
  std::string feature_gates;  // "A=true,B=false", as in --feature-gates
  base::Duration max_unschedulable{};
  uint64_t max_binding = 0;
  std::vector<ExtenderNote> extenders;
  // Of a cluster that another scheduler serves: the driver decided nothing, and there is no decision of its to compare.
  bool followed = false;

  std::string Encode() const;
  static Result<Header> Decode(std::string_view bytes);
};

void AppendFrame(std::string& frames, uint32_t type, std::string_view payload);
// The same for a payload that the caller appends to `frames` between the two calls.
size_t StartFrame(std::string& frames, uint32_t type);
void EndFrame(std::string& frames, size_t start);
// Takes the first frame off; false when there is none, or only a part of one.
bool TakeFrame(std::string_view& frames, uint32_t& type, std::string_view& payload);

// A whole block, with its head.
std::string MakeBlock(BlockType type, std::string_view content);
// The same as MakeBlock(kFrames, Pack(frames)), without copies. The result points into `room`, which grows as needed
// and should be passed in again for the next block.
std::string_view MakeBlockOfFrames(std::string_view frames, std::string& room);

// The frames in a block of one of the two types that hold frames.
Result<std::string> FramesIn(BlockType type, std::string_view content, size_t size_limit = kMaxBlockFrames);

std::string FileName(uint64_t number);
// 0 when it is no file of a recording.
uint64_t FileNumber(std::string_view name);

}  // namespace berth::record
