// Arena: memory of one evaluation, or of one compiled program. Objects are never destroyed individually: everything
// here is trivially destructible, and all of it is freed at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace berth::cel {

// Ends an evaluation that exceeds its limits; caught at the boundary of the library.
struct Cancelled {
  const char* text;
};

inline constexpr const char* kCostLimitExceeded = "operation cancelled: actual cost limit exceeded";

class Arena {
 public:
  explicit Arena(size_t limit = SIZE_MAX) : limit_(limit) {}
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  template <class T, class... Args>
  T* New(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (Allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  template <class T>
  std::span<T> NewArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    if (count == 0) return {};
    // The constant limit is for the compiler, which otherwise warns about impossible sizes.
    if (count > (size_t{1} << 40) / sizeof(T) || count > limit_ / sizeof(T)) throw Cancelled{kCostLimitExceeded};
    T* first = static_cast<T*>(Allocate(sizeof(T) * count, alignof(T)));
    for (size_t i = 0; i < count; ++i) new (first + i) T{};
    return {first, count};
  }

  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    char* bytes = static_cast<char*>(Allocate(text.size(), 1));
    std::memcpy(bytes, text.data(), text.size());
    return {bytes, text.size()};
  }

  // Frees everything except the first block.
  void Clear() {
    if (blocks_.size() > 1) blocks_.resize(1);
    used_ = 0;
    total_ = 0;
    capacity_ = blocks_.empty() ? 0 : kFirstBlock;
  }

  void* Allocate(size_t size, size_t alignment) {
    const size_t start = (used_ + alignment - 1) & ~(alignment - 1);
    if (!blocks_.empty() && start + size <= capacity_) {
      used_ = start + size;
      return blocks_.back().get() + start;
    }
    return Grow(size);
  }

 private:
  static constexpr size_t kFirstBlock = 4096;

  void* Grow(size_t size) {
    size_t block = blocks_.empty() ? kFirstBlock : std::min<size_t>(capacity_ * 2, size_t{1} << 20);
    if (blocks_.empty() && size > kFirstBlock) {
      // The first block is the one that Clear keeps: it has the usual size.
      blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kFirstBlock));
      capacity_ = kFirstBlock;
    }
    block = std::max(block, size);
    if (block > limit_ || total_ > limit_ - block) throw Cancelled{kCostLimitExceeded};
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block));
    total_ += block;
    capacity_ = block;
    used_ = size;
    return blocks_.back().get();
  }

  size_t limit_;
  size_t total_ = 0;
  size_t used_ = 0;
  size_t capacity_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

}  // namespace berth::cel
