// The recording that --record asks for.
#pragma once

#include <memory>

#include "live/live_scheduler.h"
#include "replay/recorder.h"
#include "scheduler_options.h"

namespace berth::cmd {

// A recorder for `live.loop.tap`, which must outlive the scheduler; null without --record.
Result<std::unique_ptr<replay::Recorder>> StartRecording(const SchedulerOptions& options, const live::LiveOptions& live,
                                                         const base::Clock& clock);

}  // namespace berth::cmd
