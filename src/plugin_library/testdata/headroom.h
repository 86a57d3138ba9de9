// The rules that headroom_bench.cc measures twice, compiled in and from a library: a tenth of a node's memory stays
// free, the node must be in the pod's zone, and the more memory is free, the better.
#pragma once

#include <cstdint>

namespace headroom {

// 0: fits, 1: too little memory, 2: another zone.
inline uint8_t Judge(int64_t allocatable, int64_t requested, int64_t needed, bool same_zone) {
  if (!same_zone) return 2;
  return requested + needed > allocatable - allocatable / 10 ? 1 : 0;
}

inline int64_t Points(int64_t allocatable, int64_t requested, int64_t needed) {
  const int64_t left = allocatable - requested - needed;
  return left <= 0 || allocatable == 0 ? 0 : left * 100 / allocatable;
}

// Whether a node's label id is that of the wanted value; compares text only until the id is known.
class ZoneId {
 public:
  template <class IsWanted>
  bool Is(int32_t id, IsWanted&& is_wanted) {
    if (id < 0) return false;
    if (found_ >= 0) return id == found_;
    if (!is_wanted(id)) return false;
    found_ = id;
    return true;
  }

 private:
  int32_t found_ = -1;
};

}  // namespace headroom
