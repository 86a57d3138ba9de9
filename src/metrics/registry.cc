#include "metrics/registry.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace berth::metrics {
namespace {

template <class Metric>
constexpr MetricType TypeOf() {
  if constexpr (std::is_same_v<Metric, Counter>) return MetricType::kCounter;
  if constexpr (std::is_same_v<Metric, Gauge>) return MetricType::kGauge;
  if constexpr (std::is_same_v<Metric, Histogram>) return MetricType::kHistogram;
}

class ComputedFamily final : public FamilyBase {
 public:
  ComputedFamily(Description description, MetricType type, SampleSource source)
      : FamilyBase(std::move(description), type), source_(std::move(source)) {}

  void Write(ExpositionWriter& writer) const override {
    class Collector final : public SampleSink {
     public:
      void Add(const std::vector<std::string>& label_values, double value) override { samples[label_values] = value; }
      std::map<std::vector<std::string>, double> samples;
    } collector;
    source_(collector);
    if (collector.samples.empty()) return;
    WriteHeader(writer);
    for (const auto& [values, value] : collector.samples) {
      writer.Sample(description().name, SortedLabels(values), value);
    }
  }
  void Reset() override {}

 private:
  const SampleSource source_;
};

}  // namespace

FamilyBase::FamilyBase(Description description, MetricType type)
    : description_(std::move(description)), type_(type), print_order_(description_.labels.size()) {
  CHECK_WHY(description_.buckets.empty() == (type != MetricType::kHistogram), "buckets belong to histograms");
  std::iota(print_order_.begin(), print_order_.end(), 0);
  std::ranges::sort(print_order_, {}, [this](size_t i) -> const std::string& { return description_.labels[i]; });
}

std::vector<Label> FamilyBase::SortedLabels(const std::vector<std::string>& values) const {
  CHECK(values.size() == print_order_.size());
  std::vector<Label> labels;
  labels.reserve(values.size());
  for (const size_t i : print_order_) labels.push_back({description_.labels[i], values[i]});
  return labels;
}

void FamilyBase::WriteHeader(ExpositionWriter& writer) const {
  writer.Header(description_.name, description_.help, type_, description_.stability);
}

template <class Metric>
Family<Metric>::Family(Description description) : FamilyBase(std::move(description), TypeOf<Metric>()) {
  if (this->description().labels.empty()) Find({});
}

template <class Metric>
Metric& Family<Metric>::Find(std::initializer_list<std::string_view> values) {
  CHECK_WHY(values.size() == description().labels.size(), "one value for each label");
  std::vector<std::string> key(values.begin(), values.end());
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Metric>& metric = metrics_[std::move(key)];
  if (!metric) {
    if constexpr (std::is_same_v<Metric, Histogram>) {
      metric = std::make_unique<Histogram>(description().buckets);
    } else {
      metric = std::make_unique<Metric>();
    }
  }
  return *metric;
}

template <class Metric>
void Family<Metric>::Write(ExpositionWriter& writer) const {
  const std::lock_guard lock(mutex_);
  if (metrics_.empty()) return;
  WriteHeader(writer);
  for (const auto& [values, metric] : metrics_) {
    if constexpr (std::is_same_v<Metric, Histogram>) {
      writer.Sample(description().name, SortedLabels(values), *metric);
    } else {
      writer.Sample(description().name, SortedLabels(values), static_cast<double>(metric->value()));
    }
  }
}

template <class Metric>
void Family<Metric>::Reset() {
  const std::lock_guard lock(mutex_);
  for (const auto& [values, metric] : metrics_) metric->Reset();
}

template class Family<Counter>;
template class Family<Gauge>;
template class Family<Histogram>;

void Registry::Insert(std::unique_ptr<FamilyBase> family) {
  const std::lock_guard lock(mutex_);
  std::string name = family->description().name;
  const bool inserted = families_.emplace(std::move(name), std::move(family)).second;
  CHECK_WHY(inserted, "a metric's name is registered once");
}

void Registry::AddComputed(Description description, MetricType type, SampleSource source) {
  Insert(std::make_unique<ComputedFamily>(std::move(description), type, std::move(source)));
}

std::string Registry::Expose() const {
  std::string out;
  ExpositionWriter writer(out);
  // Sources may be slow or use the registry: they run without its lock.
  for (const FamilyBase* family : Families()) family->Write(writer);
  return out;
}

void Registry::Reset() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, family] : families_) family->Reset();
}

std::vector<const FamilyBase*> Registry::Families() const {
  const std::lock_guard lock(mutex_);
  std::vector<const FamilyBase*> families;
  families.reserve(families_.size());
  for (const auto& [name, family] : families_) families.push_back(family.get());
  return families;
}

}  // namespace berth::metrics
