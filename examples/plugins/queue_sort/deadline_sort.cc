#include "deadline_sort.h"

#include <tuple>

namespace example {

using berth::Error;
using berth::Result;
using berth::base::Time;
namespace api = berth::api;
namespace codec = berth::codec;
namespace framework = berth::framework;

const codec::Message& Describe(const DeadlineSortArgs*) {
  static const codec::Message message = codec::MessageOf<DeadlineSortArgs>(
      "DeadlineSortArgs", {codec::Field("annotation", 0, &DeadlineSortArgs::annotation)});
  return message;
}

berth::NewPlugin DeadlineSort::Create(const berth::PluginArgs& given, framework::Handle&) {
  Result<DeadlineSortArgs> args = berth::ReadArgs<DeadlineSortArgs>(given);
  if (!args) return args.error();
  if (args->annotation.empty()) return Error::InvalidArgument("args.annotation: expected a key, found \"\"");
  return std::unique_ptr<framework::Plugin>(new DeadlineSort(std::move(args->annotation)));
}

Time DeadlineSort::DeadlineOf(const framework::PodInfo& pod) const {
  const std::string* text = pod.pod().metadata.annotations.Find(annotation_);
  const Result<Time> deadline = text != nullptr ? api::ParseTime(*text) : Time::max();
  return deadline ? *deadline : Time::max();
}

bool DeadlineSort::Less(const framework::QueuedPodView& a, const framework::QueuedPodView& b) const {
  // Higher priority first, hence the minus; in 64 bits, since the lowest priority has no opposite in 32.
  const auto rank = [this](const framework::QueuedPodView& queued) {
    return std::make_tuple(DeadlineOf(queued.pod), -int64_t{queued.pod.priority()}, queued.added);
  };
  return rank(a) < rank(b);
}

}  // namespace example
