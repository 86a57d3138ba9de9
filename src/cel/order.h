#pragma once

namespace berth::cel {

// -1, 0 or 1. 0 where neither is less, as with NaN.
template <class T>
int Order(T a, T b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace berth::cel
