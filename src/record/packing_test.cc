#include "record/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::record {
namespace {

using ::testing::HasSubstr;

constexpr size_t kPlenty = size_t{16} << 20;

std::string RoundTrip(const std::string& frames) {
  const Result<std::string> again = Unpack(Pack(frames), kPlenty);
  return again ? *again : "error: " + again.error().message;
}

TEST(Packing, WhatIsPackedIsUnpacked) {
  for (const size_t size : {0, 1, 4, 5, 12, 13, 14, 15, 16, 17, 269, 270, 271, 65535, 65536, 65540, 300000}) {
    EXPECT_EQ(RoundTrip(std::string(size, 'a')), std::string(size, 'a')) << size;
    std::string counted;
    while (counted.size() < size) counted += std::to_string(counted.size()) + " pods, ";
    counted.resize(size);
    EXPECT_EQ(RoundTrip(counted), counted) << size;
  }
}

// Chance and repetition from near and far, beyond the farthest that a match may be as well.
TEST(Packing, RandomMixturesSurvive) {
  base::Random random(5);
  for (int round = 0; round < 300; ++round) {
    std::string frames;
    const size_t size = random.Below(round % 10 == 0 ? 200'000 : 2'000);
    const uint64_t letters = 1 + random.Below(255);
    while (frames.size() < size) {
      if (!frames.empty() && random.Below(2) == 0) {
        frames += frames.substr(random.Below(frames.size()), 1 + random.Below(400));
      } else {
        for (uint64_t left = random.Below(100); left > 0; --left) frames += static_cast<char>(random.Below(letters));
      }
    }
    ASSERT_EQ(RoundTrip(frames), frames) << round;
  }
}

TEST(Packing, RepetitionBecomesShort) {
  std::string frames;
  for (int i = 0; i < 1000; ++i) frames += "berth-system/scheduler-of-many-pods " + std::to_string(i);
  EXPECT_LT(Pack(frames).size(), frames.size() / 4);
  std::string chance;
  base::Random random(6);
  while (chance.size() < 10'000) chance += static_cast<char>(random.Next());
  EXPECT_LT(Pack(chance).size(), chance.size() + chance.size() / 200 + 8);
}

TEST(Packing, WhatWasNotPackedIsASentence) {
  const auto why = [](const std::string& packed, size_t limit = kPlenty) {
    const Result<std::string> read = Unpack(packed, limit);
    return read ? "fine: " + *read : read.error().message;
  };
  const std::string packed = Pack("abc abc abc abc abc abc abc");
  EXPECT_THAT(why(packed), HasSubstr("fine: abc"));
  EXPECT_THAT(why(""), HasSubstr("its size is wrong"));
  EXPECT_THAT(why(packed, 16), HasSubstr("its size is wrong"));
  EXPECT_THAT(why(std::string(11, '\xff')), HasSubstr("its size is wrong"));
  EXPECT_THAT(why("\xff\xff\x7f" + packed.substr(1)), HasSubstr("its size is wrong")) << "no bytes could be so many";
  EXPECT_THAT(why("\x02" + packed.substr(1)), HasSubstr("it is damaged")) << "more than the size says";
  EXPECT_THAT(why("\x20" + packed.substr(1)), HasSubstr("fewer bytes than it says"));
  EXPECT_THAT(why(packed.substr(0, packed.size() - 1)), HasSubstr("cannot be unpacked"));
}

// Every prefix, and every byte changed: an error or other bytes, never more of them than were promised.
TEST(Packing, DamageNeverGoesBeyondItsBounds) {
  std::string frames;
  for (int i = 0; i < 40; ++i) frames += "default/pod-" + std::to_string(i * 37) + " on node-7; ";
  const std::string packed = Pack(frames);
  for (size_t cut = 0; cut < packed.size(); ++cut) {
    EXPECT_FALSE(Unpack(packed.substr(0, cut), kPlenty).ok()) << cut;
  }
  for (size_t at = 0; at < packed.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = packed;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      const Result<std::string> read = Unpack(changed, frames.size());
      EXPECT_TRUE(!read || read->size() <= frames.size());
    }
  }
}

}  // namespace
}  // namespace berth::record
