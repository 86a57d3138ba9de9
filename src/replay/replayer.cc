#include "replay/replayer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/load.h"

namespace berth::replay {

using framework::PostedAnswer;
using framework::Status;

namespace {

std::string StatusText(const Status& status) {
  return status.ok() ? "success" : fmt::format("{}: {}", framework::NameOf(status.code()), status.Message());
}

}  // namespace

Replayer::~Replayer() = default;

Result<std::unique_ptr<Replayer>> Replayer::Create(const record::Header& header, const framework::Registry& registry,
                                                   Options options) {
  config::FeatureGates gates;
  if (!header.feature_gates.empty()) {
    if (Result<void> parsed = gates.Parse(header.feature_gates); !parsed) {
      return Error::Unsupported(
          fmt::format("the recording was made with feature gates that this berth refuses: {}", parsed.error().message));
    }
  }
  Result<config::KubeSchedulerConfiguration> configuration = config::LoadText(header.configuration, gates);
  if (!configuration) {
    return Error::Unsupported(fmt::format("the recording was made with a configuration that this berth refuses: {}",
                                          configuration.error().message));
  }
  std::unique_ptr<Replayer> replayer(new Replayer(gates, registry, header.followed));
  scheduler::Driver::Options driver;
  driver.scheduler.seed = header.seed;
  driver.scheduler.threads = options.threads;
  driver.scheduler.verify_incremental = options.verify_incremental;
  driver.scheduler.take_binding = [owner = replayer.get()](std::unique_ptr<scheduler::BindingCycle> cycle) {
    const auto ticket = static_cast<uint64_t>(cycle->attempt().ticket);
    owner->cycles_[ticket] = std::move(cycle);
  };
  for (const record::ExtenderNote& note : header.extenders) {
    replayer->extenders_.push_back(std::make_unique<RecordedExtender>(note, replayer->api_));
    driver.scheduler.extenders.push_back(replayer->extenders_.back().get());
  }
  driver.max_unschedulable = header.max_unschedulable;
  driver.max_binding = header.max_binding;
  driver.tap = replayer.get();
  replayer->journal_ = options.journal;
  Result<std::unique_ptr<scheduler::Driver>> made = scheduler::Driver::Create(
      *configuration, registry, replayer->gates_, replayer->clock_, replayer->api_, *replayer, std::move(driver));
  if (!made) return made.error();
  replayer->driver_ = *std::move(made);
  replayer->driver_->cluster().IgnoreBindingOfClaims();
  return replayer;
}

void Replayer::WriteDown(const scheduler::Attempt& attempt, scheduler::Ending ending) {
  if (journal_) journal_->Record(attempt, ending, clock_.Now(), std::as_const(*driver_).cluster().nodes().size());
}

bool Replayer::Apply(const Input& input) {
  if (difference_) return false;
  if (input.type == FrameType::kCheckpointBegin) {
    if (counts_.inputs > 0) return true;
    clock_.Set(input.time);
    driver_->Restore(*input.checkpoint);
    for (const auto& [ticket, cycle] : cycles_) resumed_.insert(ticket);
    counts_.first = counts_.last = input.time;
    counts_.withheld_objects = input.withheld;
    return true;
  }
  ++counts_.inputs;
  counts_.withheld_objects += input.withheld;
  if (input.type != FrameType::kClaimLanded) {
    clock_.Set(input.time);
    if (counts_.first == base::Time{}) counts_.first = input.time;
    counts_.last = input.time;
  }
  decided_.clear();
  api_.Begin(input);
  Give(input);
  if (!difference_) Compare(input);
  return !difference_;
}

void Replayer::Give(const Input& input) {
  switch (input.type) {
    case FrameType::kPut:
      return driver_->Put(*input.object);
    case FrameType::kRemove:
      return driver_->Remove(*input.object);
    case FrameType::kAdd:
      return driver_->Add(std::as_const(*driver_).cluster().MakePodInfo(input.object->Share<api::Pod>()));
    case FrameType::kStep:
      if (followed_) return;  // only time has passed
      for (const PostedAnswer& answer : input.posted) Post(answer);
      (void)driver_->Step();
      return;
    case FrameType::kTend:
      for (const PostedAnswer& answer : input.posted) Post(answer);
      return driver_->Tend();
    case FrameType::kFinish:
      return Finish(input);
    case FrameType::kActivate:
      return driver_->Activate(input.text);
    case FrameType::kGiveUp:
      return driver_->GiveUp(input.text);
    case FrameType::kReconfigure: {
      Result<config::KubeSchedulerConfiguration> configuration = config::LoadText(input.text, gates_);
      Result<void> done = configuration ? driver_->Reconfigure(*configuration, registry_) : configuration.error();
      if (!done) Differ(input, "", "configuration", "taken", done.error().message);
      return;
    }
    case FrameType::kPutCustom:
    case FrameType::kRemoveCustom:
      return GiveCustom(input);
    case FrameType::kClaimLanded:
      return driver_->cluster().LandClaim(input.written, input.ended_flight);
    default:
      return;
  }
}

void Replayer::GiveCustom(const Input& input) {
  for (const auto& [number, watched] : std::as_const(*driver_).cluster().custom_objects().watched()) {
    if (watched.resource.Text() != input.custom.resource) continue;
    return input.type == FrameType::kPutCustom ? driver_->PutCustom(number, input.custom.object)
                                               : driver_->RemoveCustom(number, input.custom.object->metadata);
  }
}

void Replayer::Post(const PostedAnswer& answer) {
  framework::PostedWork& posted = driver_->scheduler().posted();
  switch (answer.kind) {
    case PostedAnswer::Kind::kAllow:
      return posted.Post(
          [this, answer] { driver_->scheduler().waiting_pods().Allow(answer.uids.front(), answer.plugin); });
    case PostedAnswer::Kind::kReject:
      return posted.Post([this, answer] {
        driver_->scheduler().waiting_pods().Reject(answer.uids.front(), answer.plugin, answer.message);
      });
    case PostedAnswer::Kind::kActivate:
      return posted.Post([this, answer] {
        for (const std::string& uid : answer.uids) driver_->Activate(uid);
      });
    case PostedAnswer::Kind::kOther:
      ++counts_.opaque_work;
  }
}

void Replayer::Finish(const Input& input) {
  const auto node = cycles_.extract(input.ticket);
  if (node.empty()) {
    return Differ(input, "", "binding", fmt::format("attempt {} ends", input.ticket), "there is no such attempt");
  }
  std::unique_ptr<scheduler::BindingCycle> cycle = std::move(node.mapped());
  const bool withheld = std::any_of(input.answers.begin(), input.answers.end(),
                                    [](const scheduler::ApiAnswer& answer) { return answer.withheld; });
  counts_.cycles_not_run += withheld;
  if (resumed_.erase(input.ticket) == 0 && !withheld) {
    const bool cancelled =
        !input.answers.empty() && input.answers.back().call == scheduler::ApiAnswer::Call::kCancelled;
    cycle->set_cancelled(cancelled ? std::optional(input.answers.back().status.Message()) : std::nullopt);
    cycle->Run();
    const std::string pod = cycle->attempt().pod->Key();
    if (!api_.problem().empty()) {
      Differ(input, pod, "binding", StatusText(input.status), api_.problem());
    } else if (!(cycle->status() == input.status)) {
      Differ(input, pod, "binding", StatusText(input.status), StatusText(cycle->status()));
    }
  }
  cycle->set_status(input.status);
  driver_->Finish(std::move(cycle));
}

void Replayer::Compare(const Input& input) {
  const std::vector<Decision>& recorded = input.decisions;
  for (size_t i = 0; i < std::max(recorded.size(), decided_.size()); ++i) {
    const Decision* then = i < recorded.size() ? &recorded[i] : nullptr;
    const Decision* now = i < decided_.size() ? &decided_[i] : nullptr;
    if (then && now && *then == *now) {
      ++counts_.decisions;
      counts_.bound += now->outcome == scheduler::Outcome::kBound;
      counts_.unschedulable += now->outcome == scheduler::Outcome::kUnschedulable;
      counts_.preemptions += !now->victims.empty();
      continue;
    }
    const auto text = [](const Decision* decision) {
      if (!decision) return std::string("nothing");
      return fmt::format("{} {}, attempt {}", decision->pod, Describe(*decision), decision->ticket);
    };
    return Differ(input, (then ? then : now)->pod, "decision", text(then), text(now));
  }
  if (!api_.problem().empty()) Differ(input, "", "answer", "none", api_.problem());
}

void Replayer::Differ(const Input& input, std::string pod, std::string what, std::string recorded,
                      std::string replayed) {
  if (difference_) return;
  difference_ = {counts_.inputs, input.time, std::move(pod), std::move(what), std::move(recorded), std::move(replayed)};
}

}  // namespace berth::replay
