// Registry: the metrics of a process by name, and their exposition.
//
//   Registry registry;
//   Family<Counter>& attempts = registry.Add<Counter>({.name = "attempts_total", .help = "…", .labels = {"result"}});
//   Counter& scheduled = attempts.With("scheduled");  // once
//   scheduled.Add();                                  // often
//
// Thread-safe. Families and their metrics live as long as the registry and never move.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/exposition.h"
#include "metrics/metric.h"

namespace berth::metrics {

struct Description {
  std::string name;
  std::string help;
  Stability stability = Stability::kRaw;
  std::vector<std::string> labels{};
  std::vector<double> buckets{};  // of histograms
};

class FamilyBase {
 public:
  virtual ~FamilyBase() = default;
  FamilyBase(const FamilyBase&) = delete;
  FamilyBase& operator=(const FamilyBase&) = delete;

  const Description& description() const { return description_; }
  MetricType type() const { return type_; }

  // Header and samples; nothing at all while there is no sample.
  virtual void Write(ExpositionWriter& writer) const = 0;
  virtual void Reset() = 0;

 protected:
  FamilyBase(Description description, MetricType type);

  // The labels for values in the order of the description, sorted by name as they are printed.
  std::vector<Label> SortedLabels(const std::vector<std::string>& values) const;
  void WriteHeader(ExpositionWriter& writer) const;

 private:
  const Description description_;
  const MetricType type_;
  std::vector<size_t> print_order_;  // of the labels
};

// All metrics of one name, one for each combination of label values that was ever requested.
template <class Metric>
class Family final : public FamilyBase {
 public:
  explicit Family(Description description);

  // Values in the order of the labels in the description. Takes a lock: call it once, keep the reference.
  template <class... Values>
  Metric& With(const Values&... values) {
    return Find({std::string_view(values)...});
  }
  Metric& Find(std::initializer_list<std::string_view> values);

  void Write(ExpositionWriter& writer) const override;
  void Reset() override;  // to zero, in place: references stay valid

 private:
  mutable std::mutex mutex_;
  std::map<std::vector<std::string>, std::unique_ptr<Metric>> metrics_;  // guarded by mutex_
};

// Receives the samples of a family that is computed at each exposition.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  // Label values in the order of the description.
  virtual void Add(const std::vector<std::string>& label_values, double value) = 0;
};
using SampleSource = std::function<void(SampleSink& sink)>;

class Registry {
 public:
  // A name may be used only once; a family without labels has its only metric from the start.
  template <class Metric>
  Family<Metric>& Add(Description description) {
    auto family = std::make_unique<Family<Metric>>(std::move(description));
    Family<Metric>& added = *family;
    Insert(std::move(family));
    return added;
  }
  // The same for one without labels.
  template <class Metric>
  Metric& AddSingle(Description description) {
    return Add<Metric>(std::move(description)).With();
  }
  // A counter or gauge whose samples `source` computes at each exposition, on the calling thread.
  void AddComputed(Description description, MetricType type, SampleSource source);

  std::string Expose() const;  // sorted by name
  void Reset();                // everything that is not computed, to zero
  std::vector<const FamilyBase*> Families() const;

 private:
  void Insert(std::unique_ptr<FamilyBase> family);

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<FamilyBase>, std::less<>> families_;  // guarded by mutex_
};

}  // namespace berth::metrics
