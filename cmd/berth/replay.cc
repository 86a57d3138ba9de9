// berth replay: repeats every decision of a recording, and reports whether the results are the same.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "api/time.h"
#include "codec/json_writer.h"
#include "codec/yaml_writer.h"
#include "commands.h"
#include "config/load.h"
#include "configuration_source.h"
#include "explain/explain.h"
#include "flags.h"
#include "pod_names.h"
#include "record/file_reader.h"
#include "replay/input_stream.h"
#include "replay/replayer.h"
#include "replay/what_if.h"
#include "replay_report.h"
#include "replay_walk.h"
#include "report/comparison_report.h"
#include "report/gate_report.h"
#include "report/report.h"
#include "sim/comparison.h"
#include "terminal.h"

namespace berth::cmd {

namespace {

constexpr char kReplayUsage[] =
    R"(Repeat every decision in a recording of berth scheduler --record, and compare bit for bit.

Usage:
  berth replay FOLDER [flags]                                whether every decision is the same: node, score, message, victims
  berth replay FOLDER --at TIME --explain POD [flags]        why a pod had no node, or that one, at that time
  berth replay FOLDER --config FILE [flags]                  what another configuration would have done
  berth replay FOLDER --console [--speed 10] [flags]         watch it in the console, from --at on

A recording holds every input of the scheduler in the order of arrival, so nothing else is needed. The replay starts at
the oldest remaining file or, with --at, at the last one that begins before that time. The first difference is shown with
both sides.

Exit status: 0 everything is the same, 1 something differs, 2 bad usage, a recording that cannot be read, or one without
anything to compare.
)";

constexpr char kReplayExamples[] = R"(  berth replay /var/lib/berth/recording
  berth replay recording --report > equivalence.md
  berth replay recording --at 2026-11-17T14:03:00Z --explain shop/web-3
  berth replay recording --config new.yaml -o markdown
  berth replay recording --at 2026-11-17T14:03:00Z --console --speed 10
)";

Result<ReplayedRecording> ReplayOne(const record::Recording& recording, const ReplayOptions& options,
                                    const framework::Registry& own_plugins) {
  const Result<size_t> begin = replay::FirstFile(recording, options.until);
  if (!begin) return begin.error();
  const size_t first = *begin;
  const Result<record::Header> header = HeaderOf(recording, first);
  if (!header) return header.error();
  const Result<framework::Registry> registry = RegistryFor(*header, options, own_plugins);
  if (!registry) return registry.error();
  Result<std::unique_ptr<replay::Replayer>> replayer = replay::Replayer::Create(
      *header, *registry, {.threads = options.threads, .verify_incremental = options.verify_incremental});
  if (!replayer) return Error{replayer.error().code, recording.files[first] + ": " + replayer.error().message};
  const Result<WalkEnd> end = Walk(recording, first, (*replayer)->gates(), options.until,
                                   [&](const replay::Input& input) { return (*replayer)->Apply(input); });
  if (!end) return end.error();
  ReplayedRecording replayed{*header,   recording.files.size() - first, end->torn,
                             end->open, (*replayer)->counts(),          (*replayer)->difference()};
  if (replayed.counts.inputs == 0) replayed.counts.first = replayed.counts.last = header->begins;
  return replayed;
}

int CompareAll(const std::vector<record::Recording>& recordings, const ReplayOptions& options,
               const framework::Registry& own_plugins) {
  std::vector<ReplayedRecording> replayed;
  for (const record::Recording& recording : recordings) {
    // A recording that begins later has nothing to compare.
    if (options.until && recording.begins.front() > *options.until) continue;
    Result<ReplayedRecording> one = ReplayOne(recording, options, own_plugins);
    if (!one) return Trouble(one.error().message);
    replayed.push_back(*std::move(one));
  }
  if (replayed.empty()) return Trouble(BeginsLater(recordings).message);
  if (std::all_of(replayed.begin(), replayed.end(), [](const auto& one) { return one.header.followed; })) {
    return Trouble(
        "there is nothing to compare: this is a recording of a cluster that another scheduler serves, without a "
        "decision "
        "of berth's. `berth shadow --recording` compares what that scheduler decided; --at with --explain, and "
        "--config, "
        "work as for any recording");
  }
  std::string text;
  if (options.report || options.output == "markdown") {
    text = ToMarkdown(replayed, BERTH_VERSION);
  } else if (options.output == "json" || options.output == "yaml") {
    text = ToJson(replayed, BERTH_VERSION);
    if (options.output == "yaml") text = codec::JsonToYaml(std::move(text));
  } else {
    text = ToText(replayed, BERTH_VERSION);
  }
  if (!WriteOut(text)) return Trouble("cannot write to standard output");
  switch (VerdictOf(replayed)) {
    case ReplayVerdict::kSame:
      return kOk;
    case ReplayVerdict::kDiffers:
      return kReplayDiffers;
    case ReplayVerdict::kNothingCompared:
      return Trouble("nothing was compared: there is no decision in what was replayed");
  }
  return kReplayTrouble;
}

// The pods that the driver knows, pending or placed, by namespace/name.
std::map<std::string, framework::PodInfoPtr> PodsOf(const scheduler::Driver& driver) {
  std::map<std::string, framework::PodInfoPtr> pods;
  driver.cluster().ForEachPod([&](const framework::PodInfoPtr& pod) { pods[pod->Key()] = pod; });
  driver.queue().ForEach([&](const queue::QueuedPod& pod, queue::PodState) { pods.emplace(pod.pod->Key(), pod.pod); });
  return pods;
}

// What the pod's own scheduler has reported, if that is not the one being replayed.
std::string ConditionOf(const api::Pod& pod) {
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" && condition.status == "False") return condition.message;
  }
  return {};
}

// `message` is that of the last attempt.
std::string Told(replay::Replayer& replayer, const std::string& key, const framework::PodInfoPtr& pod,
                 const std::string& message, bool color) {
  scheduler::Driver& driver = replayer.driver();
  const std::string node = std::as_const(driver).cluster().NodeOf(pod->uid());
  framework::PodInfoPtr asked = pod;
  std::string text;
  if (!node.empty()) {
    text += fmt::format("{} was on {}; what follows is as if it had been placed again then\n", key, node);
    api::Pod unplaced = *pod->shared_pod();
    unplaced.spec.node_name.clear();
    driver.Remove(api::Object(pod->shared_pod()));
    asked = std::as_const(driver).cluster().MakePodInfo(std::make_shared<const api::Pod>(std::move(unplaced)));
  }
  scheduler::Scheduler& scheduler = driver.scheduler();
  engine::Profile* profile = scheduler.FindProfile(asked->pod().spec.scheduler_name);
  // Another scheduler's pod.
  if (profile == nullptr) profile = scheduler.FindProfile(scheduler.first_profile().scheduler_name());
  explain::Explanation explanation = explain::Explain(*profile, *asked);
  explanation.node = node;
  const std::string said = message.empty() ? ConditionOf(asked->pod()) : message;
  if (node.empty()) explanation.message = said.empty() ? "it has not been tried yet" : said;
  return text + report::ToText(explanation, {.color = color});
}

int ExplainAt(const std::vector<record::Recording>& recordings, const ReplayOptions& options,
              const framework::Registry& own_plugins, bool color) {
  Result<record::Recording> recording = recordings.back();
  if (options.until) recording = RecordingAt(recordings, *options.until);
  if (!recording) return Trouble(recording.error().message);
  const Result<size_t> begin = replay::FirstFile(*recording, options.until);
  if (!begin) return Trouble(begin.error().message);
  const size_t first = *begin;
  const Result<record::Header> header = HeaderOf(*recording, first);
  if (!header) return Trouble(header.error().message);
  const Result<framework::Registry> registry = RegistryFor(*header, options, own_plugins);
  if (!registry) return Trouble(registry.error().message);
  Result<std::unique_ptr<replay::Replayer>> replayer =
      replay::Replayer::Create(*header, *registry, {.threads = options.threads});
  if (!replayer) return Trouble(replayer.error().message);
  std::map<std::string, std::pair<base::Time, replay::Decision>> last;  // by pod
  const Result<WalkEnd> walked =
      Walk(*recording, first, (*replayer)->gates(), options.until, [&](const replay::Input& input) {
        for (const replay::Decision& decision : input.decisions) last[decision.pod] = {input.time, decision};
        return (*replayer)->Apply(input);
      });
  if (!walked) return Trouble(walked.error().message);
  if ((*replayer)->difference()) {
    return Trouble(fmt::format("this berth decides otherwise than the one that recorded, so that it cannot say why: {}",
                               (*replayer)->difference()->replayed));
  }
  const std::map<std::string, framework::PodInfoPtr> pods = PodsOf((*replayer)->driver());
  std::vector<std::string> known;
  for (const auto& [key, pod] : pods) known.push_back(key);
  const Result<std::set<std::string>> named =
      ResolvePods({options.explain}, known, "", "is in the recording at that time");
  if (!named) return Trouble(named.error().message);
  const std::string& key = *named->begin();
  std::string text = fmt::format("At {}:\n", api::FormatTime((*replayer)->counts().last));
  std::string message;
  if (const auto found = last.find(key); found != last.end()) {
    message = found->second.second.message;
    text += fmt::format("Its last attempt, at {}: {}\n", api::FormatTime(found->second.first),
                        replay::NameOf(found->second.second.outcome));
  }
  text += "\n" + Told(**replayer, key, pods.at(key), message, color);
  return WriteOut(text) ? kOk : Trouble("cannot write to standard output");
}

int CompareConfigurations(const std::vector<record::Recording>& recordings, const ReplayOptions& options,
                          const framework::Registry& own_plugins) {
  ConfigurationFlags flags;
  flags.config = options.config;
  flags.feature_gates = options.feature_gates;
  flags.plugin_folders = options.plugin_folders;
  const Result<SchedulerSetup> setup = LoadSetup(flags, ConfigMapInFiles({}), own_plugins);
  if (!setup) return Trouble(setup.error().message);
  for (const std::string& warning : setup->warnings) fmt::print(stderr, "berth replay: {}\n", warning);
  if (!setup->configuration.extenders.empty()) {
    fmt::print(stderr, "berth replay: extenders are not called; all is decided without them\n");
  }
  Result<record::Recording> found = recordings.back();
  if (options.until) found = RecordingAt(recordings, *options.until);
  if (!found) return Trouble(found.error().message);
  const record::Recording& recording = *found;
  if (recordings.size() > 1) {
    fmt::print(stderr, "berth replay: of {} recordings in the folder, the one that begins at {} is looked at\n",
               recordings.size(), api::FormatTime(recording.begins.front()));
  }
  const Result<record::Header> header = HeaderOf(recording, 0);
  if (!header) return Trouble(header.error().message);
  Result<std::unique_ptr<replay::WhatIf>> what_if =
      replay::WhatIf::Create(*header, setup->configuration, setup->registry, setup->gates);
  if (!what_if) return Trouble(what_if.error().message);
  const Result<WalkEnd> walked = Walk(recording, 0, setup->gates, options.until, [&](const replay::Input& input) {
    (*what_if)->Apply(input);
    return true;
  });
  if (!walked) return Trouble(walked.error().message);
  sim::Comparison comparison =
      sim::Compare((*what_if)->Recorded(), "the recording", (*what_if)->Decided(), options.config);
  if ((*what_if)->Recorded().pods.empty() && (*what_if)->left_alone() == 0) {
    return Trouble("nothing was compared: no pod waited for a node in what was replayed");
  }
  if ((*what_if)->left_alone() > 0) {
    comparison.after.notes.push_back(
        fmt::format("Pods with claims stay where they were ({} of them): what would have been provisioned elsewhere is "
                    "not recorded",
                    (*what_if)->left_alone()));
  }
  std::string text;
  if (options.output == "markdown") {
    text = report::ToMarkdown(comparison, {"changed"});
  } else if (options.output == "json") {
    text = report::ToJson(comparison);
  } else if (options.output == "yaml") {
    text = codec::JsonToYaml(report::ToJson(comparison));
  } else {
    text = report::ToTable(comparison);
    for (const std::string& note : comparison.after.notes) text += "\n" + note + "\n";
  }
  if (!WriteOut(text)) return Trouble("cannot write to standard output");
  return comparison.changed() ? kReplayDiffers : kOk;
}

Result<double> ParseSpeed(const std::string& text) {
  double speed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
  if (error != std::errc() || end != text.data() + text.size() || !(speed >= 0.01 && speed <= 1e6)) {
    return Error::InvalidArgument(fmt::format("--speed: expected a number from 0.01 to 1000000, found \"{}\"", text));
  }
  return speed;
}

Result<void> Check(ReplayOptions& options, const std::vector<std::string>& rest) {
  if (rest.empty()) return Error::InvalidArgument("no recording: say which folder it is in");
  if (rest.size() > 1) return Error::InvalidArgument(fmt::format("unexpected argument \"{}\"", rest[1]));
  options.folder = rest.front();
  if (!options.at.empty()) {
    Result<base::Time> time = api::ParseTime(options.at);
    if (!time) {
      return Error::InvalidArgument(
          fmt::format("--at: expected a time like 2026-11-17T14:03:00Z, found \"{}\"", options.at));
    }
    options.until = *time;
  }
  if (!options.explain.empty() && !options.config.empty()) {
    return Error::InvalidArgument("--explain and --config ask different questions: give one of them");
  }
  if (options.report && (!options.explain.empty() || !options.config.empty())) {
    return Error::InvalidArgument(
        "--report is about whether everything is the same: give it without --explain and --config");
  }
  if (options.console && (options.report || !options.explain.empty() || !options.config.empty())) {
    return Error::InvalidArgument("--console is for watching: give it without --report, --explain and --config");
  }
  if (!options.console && (options.speed != "1" || options.port != 0)) {
    return Error::InvalidArgument("--speed and --port are for --console");
  }
  if (options.port > 65535) {
    return Error::InvalidArgument(fmt::format("--port: expected 1 to 65535, found {}", options.port));
  }
  if (options.threads == 0 || options.threads > 256) {
    return Error::InvalidArgument(fmt::format("--threads: expected 1 to 256, found {}", options.threads));
  }
  return {};
}

}  // namespace

int Replay(const framework::Registry& own_plugins, const std::vector<std::string>& arguments) {
  ReplayOptions options;
  FlagSet flags("berth replay", kReplayUsage, kReplayExamples);
  flags.Add(&options.at, "at", 0, "TIME", "replay up to this time, as 2026-11-17T14:03:00Z (default the end)");
  flags.Add(&options.explain, "explain", 0, "POD",
            "explain why this pod has no node at that time, or the one it has; NAMESPACE/NAME or NAME");
  flags.Add(&options.config, "config", 0, "FILE", "KubeSchedulerConfiguration to use instead, and compare");
  flags.Add(&options.feature_gates, "feature-gates", 0, "A=true,B=false",
            "feature gates for --config, as kube-scheduler's");
  AddPluginFolders(flags, &options.plugin_folders);
  flags.Add(&options.console, "console", 0, "watch it in the console, on 127.0.0.1");
  flags.Add(&options.speed, "speed", 0, "N", "with --console: speed, as a multiple of real time (default 1)");
  flags.Add(&options.port, "port", 0, "N", "with --console: the port on 127.0.0.1 (default a free one)");
  flags.Add(&options.report, "report", 0, "print an equivalence report in Markdown");
  flags.Add(&options.threads, "threads", 0, "N",
            "threads that share passes over many nodes; changes no decision (default 1)");
  flags.Add(&options.verify_incremental, "verify-incremental", 0,
            "compare every decision with one computed from scratch");
  flags.AddChoice(&options.output, "output", 'o', {"text", "json", "yaml", "markdown"}, "how to print (default text)");
  flags.AddChoice(&options.color, "color", 0, {"auto", "always", "never"}, "when to use colours (default auto)");
  flags.TakesFiles();
  const Result<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest && flags.help_wanted()) {
    fmt::print("{}", flags.Help());
    return kOk;
  }
  if (!rest) return Trouble(rest.error().message + "\n" + flags.Hint());
  if (const Result<void> sound = Check(options, *rest); !sound)
    return Trouble(sound.error().message + "\n" + flags.Hint());
  const Result<bool> color = WantsColor(options.color, stdout);
  if (!color) return Trouble(color.error().message);
  const Result<double> speed = ParseSpeed(options.speed);
  if (!speed) return Trouble(speed.error().message);
  const Result<std::vector<record::Recording>> recordings = record::FindRecordings(options.folder);
  if (!recordings) return Trouble(recordings.error().message);
  if (options.console) return WatchReplay(*recordings, options, *speed, own_plugins);
  if (!options.config.empty()) return CompareConfigurations(*recordings, options, own_plugins);
  if (!options.explain.empty()) return ExplainAt(*recordings, options, own_plugins, *color);
  return CompareAll(*recordings, options, own_plugins);
}

}  // namespace berth::cmd
