// Symbol: an interned string. Label keys and values, namespaces and resource names are compared millions of times and
// repeated on every object; as symbols they are stored once and compared as pointers.
//
// Thread-safe: decoders on any thread may intern. A name is freed when its last Symbol goes, so that hostnames and
// template hashes that churn do not pile up.
//
// Invariants:
//  1. Two Symbols are equal exactly when their strings are; equality and hashing never look at the text.
//  2. The order of Symbols is the order of their strings, never of addresses: results must not depend on the allocator.
//  3. The empty string is the default Symbol and owns nothing.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace berth::base {

class Symbol {
 public:
  constexpr Symbol() = default;
  explicit Symbol(std::string_view text);
  Symbol(const Symbol& other) noexcept : entry_(other.entry_) { Retain(); }
  Symbol(Symbol&& other) noexcept : entry_(other.entry_) { other.entry_ = nullptr; }
  Symbol& operator=(const Symbol& other) noexcept {
    if (entry_ != other.entry_) {
      Release();
      entry_ = other.entry_;
      Retain();
    }
    return *this;
  }
  Symbol& operator=(Symbol&& other) noexcept {
    if (this != &other) {
      Release();
      entry_ = other.entry_;
      other.entry_ = nullptr;
    }
    return *this;
  }
  ~Symbol() { Release(); }

  std::string_view str() const { return entry_ ? std::string_view(entry_->text(), entry_->size) : std::string_view(); }
  bool empty() const { return entry_ == nullptr; }

  friend bool operator==(const Symbol& a, const Symbol& b) { return a.entry_ == b.entry_; }
  friend std::strong_ordering operator<=>(const Symbol& a, const Symbol& b) {
    return a.entry_ == b.entry_ ? std::strong_ordering::equal : a.str() <=> b.str();
  }
  // Comparing with text interns nothing; use it for one-off questions, not in loops over nodes.
  friend bool operator==(const Symbol& a, std::string_view text) { return a.str() == text; }

  size_t hash() const { return std::hash<const void*>{}(entry_); }

  // How many distinct names are alive; for tests and memory reports.
  static size_t LiveCount();

 private:
  struct Entry {
    std::atomic<uint32_t> references;
    uint32_t size;
    const char* text() const { return reinterpret_cast<const char*>(this + 1); }
  };
  friend class SymbolPool;

  void Retain() const noexcept {
    if (entry_) entry_->references.fetch_add(1, std::memory_order_relaxed);
  }
  // The last reference is given up under the pool's lock (ReleaseLast), never here: otherwise another thread could
  // find the name in the pool, take it and free it before we get to the lock.
  void Release() noexcept {
    if (!entry_) return;
    uint32_t count = entry_->references.load(std::memory_order_relaxed);
    while (count > 1) {
      if (entry_->references.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
    }
    ReleaseLast(entry_);
  }
  static void ReleaseLast(Entry* entry) noexcept;

  Entry* entry_ = nullptr;
};

}  // namespace berth::base

namespace berth {
using base::Symbol;
}

template <>
struct std::hash<berth::base::Symbol> {
  size_t operator()(const berth::base::Symbol& symbol) const noexcept { return symbol.hash(); }
};
