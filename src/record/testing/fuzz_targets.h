// What the fuzzer of this layer runs: any bytes as a file, and as the frames within a file whose checksums are right,
// which is where damage would go unnoticed. It must neither crash nor hang, and whatever is read as an object must
// survive a round trip.
#pragma once

#include <string>
#include <string_view>

#include "base/check.h"
#include "record/file_reader.h"
#include "record/format.h"
#include "record/object_codec.h"
#include "record/packing.h"

namespace berth::record {

inline void WalkFrames(FileReader& reader) {
  ObjectReader objects;
  Frame frame;
  while (reader.Next(frame)) {
    if (frame.type % 2 == 0) {
      (void)objects.AddTemplate(frame.payload);
      continue;
    }
    const Result<api::Object> object = objects.Decode(frame.payload);
    if (!object) continue;
    ObjectWriter writer;
    const ObjectWriter::Template common = writer.TemplateOf(*object);
    std::string bytes;
    ObjectWriter::Append(*object, common, bytes);
    ObjectReader again;
    if (!common.unwritten.empty()) CHECK(again.AddTemplate(common.unwritten).ok());
    const Result<api::Object> decoded = again.Decode(bytes);
    CHECK(decoded.ok() && api::EncodeProtobuf(*decoded) == api::EncodeProtobuf(*object));
  }
}

inline void FuzzRecording(std::string_view input) {
  if (auto reader = FileReader::Read("input", std::string(input))) WalkFrames(**reader);
  (void)Header::Decode(input);
  for (const BlockType type : {BlockType::kFrames, BlockType::kZlibFrames})
    (void)FramesIn(type, input, size_t{1} << 20);
  auto reader = FileReader::Read("frames", Preamble() + MakeBlock(BlockType::kHeader, Header().Encode()) +
                                               MakeBlock(BlockType::kFrames, Pack(input)));
  CHECK(reader.ok());
  WalkFrames(**reader);
}

}  // namespace berth::record
