#include "base/symbol.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_set>

namespace berth::base {

// Sharded so that decoder threads rarely contend. The pool is deliberately never destroyed: Symbols in other static
// objects may outlive it.
class SymbolPool {
 public:
  using Entry = Symbol::Entry;

  static SymbolPool& Get() {
    static auto* pool = new SymbolPool;
    return *pool;
  }

  Entry* Intern(std::string_view text) {
    const size_t hash = std::hash<std::string_view>{}(text);
    Shard& shard = ShardFor(hash);
    std::lock_guard lock(shard.mutex);
    if (auto it = shard.entries.find(text); it != shard.entries.end()) {
      (*it)->references.fetch_add(1, std::memory_order_relaxed);
      return *it;
    }
    void* memory = std::malloc(sizeof(Entry) + text.size());
    if (memory == nullptr) throw std::bad_alloc();
    auto* entry = new (memory) Entry{1, static_cast<uint32_t>(text.size())};
    std::memcpy(reinterpret_cast<char*>(entry + 1), text.data(), text.size());
    shard.entries.insert(entry);
    return entry;
  }

  // The caller holds a reference, so the entry is alive here; while the lock is held, no other thread can look it up.
  void ReleaseLast(Entry* entry) noexcept {
    const std::string_view text(entry->text(), entry->size);
    Shard& shard = ShardFor(std::hash<std::string_view>{}(text));
    std::lock_guard lock(shard.mutex);
    if (entry->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    shard.entries.erase(shard.entries.find(text));
    entry->~Entry();
    std::free(entry);
  }

  size_t LiveCount() {
    size_t count = 0;
    for (Shard& shard : shards_) {
      std::lock_guard lock(shard.mutex);
      count += shard.entries.size();
    }
    return count;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Entry* entry) const { return (*this)(std::string_view(entry->text(), entry->size)); }
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Equal {
    using is_transparent = void;
    static std::string_view Text(const Entry* entry) { return {entry->text(), entry->size}; }
    static std::string_view Text(std::string_view text) { return text; }
    bool operator()(const auto& a, const auto& b) const { return Text(a) == Text(b); }
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_set<Entry*, Hash, Equal> entries;
  };

  Shard& ShardFor(size_t hash) { return shards_[(hash >> 7) % shards_.size()]; }

  std::array<Shard, 16> shards_;
};

Symbol::Symbol(std::string_view text) : entry_(text.empty() ? nullptr : SymbolPool::Get().Intern(text)) {}

void Symbol::ReleaseLast(Entry* entry) noexcept { SymbolPool::Get().ReleaseLast(entry); }

size_t Symbol::LiveCount() { return SymbolPool::Get().LiveCount(); }

}  // namespace berth::base
