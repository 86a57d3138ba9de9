#include "shadow/race.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace berth::shadow {

namespace {

using Indices = std::set<size_t>;

// How many differences are tried one by one, each on top of those that helped before.
constexpr size_t kMaxDepth = 6;
constexpr size_t kAloneFirst = 12;
// How often the search starts over without a difference that turned out to be impossible.
constexpr int kMaxRestarts = 4;

class RaceSearch {
 public:
  RaceSearch(Picture& picture, engine::Profile& profile, const framework::PodInfo& pod, const Decision& decision,
             const std::vector<OtherState>& candidates, const RaceLimits& limits)
      : picture_(picture), profile_(profile), pod_(pod), decision_(decision), candidates_(candidates), limits_(limits) {
    for (size_t i = 0; i < candidates_.size(); ++i) usable_.insert(i);
  }

  Race Run(const Opinion& first) {
    for (int restart = 0; restart < kMaxRestarts && !usable_.empty() && !Spent(); ++restart) {
      std::optional<Indices> found = Find(first.gap);
      if (!found) break;
      Shrink(*found);
      const std::optional<size_t> impossible = FindImpossible(*found);
      if (!impossible) return {StatesOf(*found), trials_};
      usable_.erase(*impossible);
    }
    return {{}, trials_};
  }

 private:
  bool Spent() const { return trials_ >= limits_.trials; }

  // If several candidates concern an object, the one that goes further back determines its state.
  std::vector<OtherState> StatesOf(const Indices& chosen) const {
    std::map<std::string, OtherState> by_object;
    for (const size_t i : chosen) {
      const OtherState& candidate = candidates_[i];
      const auto [it, is_new] = by_object.try_emplace(IdentityOf(candidate.because->object()), candidate);
      if (!is_new && candidate.because->number < it->second.because->number) it->second = candidate;
    }
    std::vector<OtherState> states;
    for (auto& [identity, state] : by_object) states.push_back(std::move(state));
    return states;
  }

  int64_t GapWith(const Indices& chosen) {
    ++trials_;
    const Picture::Alternative alternative(picture_, StatesOf(chosen));
    return Judge(profile_, pod_, decision_).gap;
  }

  // The likeliest alone; then several together, which may explain what none does alone; then one on top of the other.
  std::optional<Indices> Find(int64_t gap) {
    size_t tried = 0;
    for (const size_t i : usable_) {
      if (Spent() || tried++ == kAloneFirst) break;
      if (GapWith({i}) == 0) return Indices{i};
    }
    if (std::optional<Indices> group = FindGroup()) return group;
    Indices chosen;
    for (size_t depth = 0; depth < kMaxDepth; ++depth) {
      std::optional<size_t> helps;
      int64_t least = gap;
      for (const size_t i : usable_) {
        if (chosen.contains(i)) continue;
        if (Spent()) return std::nullopt;
        Indices with = chosen;
        with.insert(i);
        const int64_t left = GapWith(with);
        if (left == 0) return with;
        if (left < least) {
          least = left;
          helps = i;
        }
      }
      if (!helps) return std::nullopt;
      chosen.insert(*helps);
      gap = least;
    }
    return std::nullopt;
  }

  // Everything about the node; then the last changes, and the next bindings, more and more of them.
  std::optional<Indices> FindGroup() {
    Indices on_node, past, to_come;
    for (const size_t i : usable_) {
      const PastChange& because = *candidates_[i].because;
      if (because.node == decision_.node && !decision_.node.empty()) on_node.insert(i);
      (because.number == 0 ? to_come : past).insert(i);
    }
    if (on_node.size() > 1 && GapWith(on_node) == 0) return on_node;
    for (const Indices* all : {&past, &to_come, &usable_}) {
      for (size_t count = 2;; count *= 2) {
        Indices some;
        for (const size_t i : NearestOf(*all)) {
          if (some.size() < count) some.insert(i);
        }
        if (some.size() < 2 || Spent()) break;
        if (GapWith(some) == 0) return some;
        if (some.size() == all->size()) break;
      }
    }
    return std::nullopt;
  }

  // The nearest to the decision first: past changes have increasing numbers, those to come are in order.
  std::vector<size_t> NearestOf(const Indices& indices) const {
    std::vector<size_t> nearest(indices.begin(), indices.end());
    std::stable_sort(nearest.begin(), nearest.end(), [&](size_t a, size_t b) {
      const PastChange& one = *candidates_[a].because;
      const PastChange& other = *candidates_[b].because;
      if ((one.number == 0) != (other.number == 0)) return one.number == 0;
      return one.number == 0 ? one.time < other.time : one.number > other.number;
    });
    return nearest;
  }

  // Drops differences that do not matter, so that only those that do are named.
  void Shrink(Indices& chosen) {
    for (size_t size = chosen.size() / 2; size >= 1; size /= 2) {
      std::vector<size_t> rest(chosen.begin(), chosen.end());
      for (size_t begin = 0; begin < rest.size() && chosen.size() > size; begin += size) {
        if (trials_ >= 2 * limits_.trials) return;
        Indices fewer = chosen;
        for (size_t i = begin; i < std::min(begin + size, rest.size()); ++i) fewer.erase(rest[i]);
        if (!fewer.empty() && GapWith(fewer) == 0) chosen = std::move(fewer);
      }
    }
  }

  // A binding that is assumed to have been decided later must have been possible then, with this pod on its node.
  std::optional<size_t> FindImpossible(const Indices& chosen) {
    if (decision_.node.empty()) return std::nullopt;
    for (const size_t i : chosen) {
      const PastChange& because = *candidates_[i].because;
      if (because.number == 0 || !because.is_bind() || !because.before) continue;
      Indices alone = {i};
      if (!FitsAfterwards(because, chosen) && !FitsAfterwards(because, alone)) return i;
    }
    return std::nullopt;
  }

  bool FitsAfterwards(const PastChange& bind, const Indices& chosen) {
    ++trials_;
    std::vector<OtherState> states = StatesOf(chosen);
    api::Pod placed = pod_.pod();
    placed.spec.node_name = decision_.node;
    states.push_back({api::MakeObject(std::move(placed)), nullptr});
    const Picture::Alternative alternative(picture_, states);
    const cluster::Cluster& cluster = std::as_const(picture_.driver()).cluster();
    const framework::PodInfoPtr other = cluster.MakePodInfo(bind.before->Share<api::Pod>());
    return IsFeasible(profile_, *other, bind.after->As<api::Pod>()->spec.node_name);
  }

  Picture& picture_;
  engine::Profile& profile_;
  const framework::PodInfo& pod_;
  const Decision& decision_;
  const std::vector<OtherState>& candidates_;
  const RaceLimits& limits_;
  Indices usable_;
  size_t trials_ = 0;
};

// Takes from each in turn.
void Interleave(const std::vector<OtherState>& a, const std::vector<OtherState>& b, size_t most,
                std::vector<OtherState>& into) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && into.size() < most) into.push_back(a[i]);
    if (i < b.size() && into.size() < most) into.push_back(b[i]);
  }
}

}  // namespace

std::vector<OtherState> FindCandidates(const Picture& picture, const Picture::Pending& pod,
                                       const std::set<std::string>& nodes, const std::vector<PastChange>& to_come,
                                       base::Time decided_by, const RaceLimits& limits) {
  const std::string& uid = pod.pod->metadata.uid;
  const base::Time earliest = std::max(pod.since - limits.slack, decided_by - limits.reach);
  std::vector<OtherState> past[2], coming[2];  // of other nodes, and of these; the nearest first
  for (const PastChange& change : to_come) {
    if (IdentityOf(change.object()) != uid) coming[nodes.contains(change.node)].push_back({change.after, &change});
  }
  for (auto it = picture.history().rbegin(); it != picture.history().rend() && it->time >= earliest; ++it) {
    if (IdentityOf(it->object()) != uid) past[nodes.contains(it->node)].push_back({it->before, &*it});
  }
  std::vector<OtherState> candidates;
  Interleave(past[1], coming[1], limits.candidates / 2, candidates);
  Interleave(past[0], coming[0], limits.candidates, candidates);
  return candidates;
}

Race FindRace(Picture& picture, engine::Profile& profile, const framework::PodInfo& pod, const Decision& decision,
              const Opinion& first, const std::vector<OtherState>& candidates, const RaceLimits& limits) {
  return RaceSearch(picture, profile, pod, decision, candidates, limits).Run(first);
}

}  // namespace berth::shadow
