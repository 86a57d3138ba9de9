#include "actual_use.h"

#include <algorithm>
#include <optional>

namespace example {

using berth::Error;
using berth::Result;
namespace api = berth::api;
namespace codec = berth::codec;
namespace framework = berth::framework;

const codec::Message& Describe(const ActualUseArgs*) {
  static const codec::Message message =
      codec::MessageOf<ActualUseArgs>("ActualUseArgs", {
                                                           codec::Field("annotation", 0, &ActualUseArgs::annotation),
                                                           codec::Field("endpoint", 0, &ActualUseArgs::endpoint),
                                                           codec::Field("refresh", 0, &ActualUseArgs::refresh),
                                                           codec::Field("maxAge", 0, &ActualUseArgs::max_age),
                                                           codec::Field("timeout", 0, &ActualUseArgs::timeout),
                                                       });
  return message;
}

namespace {

Result<UsageFeed::Options> FeedOptions(const ActualUseArgs& args) {
  UsageFeed::Options options{.url = args.endpoint};
  const auto read = [](const std::string& text, std::string_view field,
                       UsageFeed::Clock::duration& to) -> Result<void> {
    const Result<api::Duration> parsed = api::ParseDuration(text);
    if (!parsed || *parsed <= api::Duration(0)) {
      return Error::InvalidArgument("args." + std::string(field) + ": expected a duration such as 15s, found \"" +
                                    text + "\"");
    }
    to = std::chrono::duration_cast<UsageFeed::Clock::duration>(*parsed);
    return {};
  };
  if (Result<void> ok = read(args.refresh, "refresh", options.refresh); !ok) return ok.error();
  if (Result<void> ok = read(args.max_age, "maxAge", options.max_age); !ok) return ok.error();
  if (Result<void> ok = read(args.timeout, "timeout", options.timeout); !ok) return ok.error();
  return options;
}

// What is left of the whole, 0 to 1. Unset when there is no whole.
std::optional<double> FreeShare(double used, double whole) {
  if (whole <= 0) return std::nullopt;
  return std::clamp(1 - used / whole, 0.0, 1.0);
}

int64_t ScoreOf(std::optional<double> cpu, std::optional<double> memory) {
  if (!cpu && !memory) return ActualUse::kUnknown;
  const double share = cpu && memory ? (*cpu + *memory) / 2 : cpu ? *cpu : *memory;
  return static_cast<int64_t>(share * framework::kMaxNodeScore);
}

int64_t ScoreOf(const Usage& usage, const framework::Resource& allocatable) {
  return ScoreOf(FreeShare(usage.cpu.AsDouble() * 1000, static_cast<double>(allocatable.milli_cpu)),
                 FreeShare(usage.memory.AsDouble(), static_cast<double>(allocatable.memory)));
}

}  // namespace

berth::NewPlugin ActualUse::Create(const berth::PluginArgs& given, framework::Handle& handle) {
  Result<ActualUseArgs> args = berth::ReadArgs<ActualUseArgs>(given);
  if (!args) return args.error();
  Result<UsageFeed::Options> options = FeedOptions(*args);
  if (!options) return options.error();
  std::unique_ptr<UsageFeed> feed;
  if (!args->endpoint.empty()) {
    feed = std::make_unique<UsageFeed>(std::move(*options));
    feed->AwaitFirst();
  }
  return std::unique_ptr<framework::Plugin>(new ActualUse(std::move(args->annotation), std::move(feed), handle));
}

ActualUse::ActualUse(std::string annotation, std::unique_ptr<UsageFeed> feed, framework::Handle& handle)
    : annotation_(std::move(annotation)), feed_(std::move(feed)), key_(handle.NewStateKey<Measured>()) {}

framework::Status ActualUse::PreScore(framework::CycleState& state, const framework::PodInfo&,
                                      std::span<const framework::NodeInfo* const>) const {
  auto measured = std::make_unique<Measured>();
  if (feed_ != nullptr) measured->usage = feed_->Latest();
  state.Put(key_, std::move(measured));
  return framework::Status::Success();
}

framework::ScoreResult ActualUse::Score(const framework::CycleState& state, const framework::PodInfo&,
                                        const framework::NodeInfo& node) const {
  const framework::Resource& whole = node.allocatable();
  // PreScore may be switched off in a profile: then there is nothing to find here.
  if (const Measured* measured = state.Find(key_); measured != nullptr && measured->usage != nullptr) {
    const auto found = measured->usage->find(node.name());
    if (found != measured->usage->end()) return ScoreOf(found->second, whole);
  }
  if (const std::string* text = node.node().metadata.annotations.Find(annotation_)) {
    if (const Result<Usage> usage = ParseUsage(*text)) return ScoreOf(*usage, whole);
  }
  const framework::Resource& requested = node.requested();
  return ScoreOf(FreeShare(static_cast<double>(requested.milli_cpu), static_cast<double>(whole.milli_cpu)),
                 FreeShare(static_cast<double>(requested.memory), static_cast<double>(whole.memory)));
}

}  // namespace example
