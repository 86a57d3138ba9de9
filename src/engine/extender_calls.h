// Where the cycles meet extenders: in what order they are asked, and what becomes of their answers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/evaluation.h"
#include "engine/extender.h"
#include "framework/cluster_view.h"
#include "framework/node_to_status.h"

namespace berth::engine {

using Extenders = std::span<Extender* const>;

// Whether some extender filters or scores nodes for this pod.
bool AnyJudges(Extenders extenders, const framework::PodInfo& pod);
bool AnyPrioritizes(Extenders extenders, const framework::PodInfo& pod);

// Asks one after the other, each about the nodes that the ones before left in `feasible`, which stays in the order of
// names. The reasons they give go to `statuses`. An error is that of an extender that may not be ignored.
framework::Status FilterByExtenders(Extenders extenders, const framework::PodInfo& pod,
                                    const framework::ClusterView& cluster,
                                    std::vector<const framework::NodeInfo*>& feasible,
                                    framework::NodeToStatus& statuses);

// Asks all at once and adds their scores to the totals, which have been filled. Who fails to answer gives no scores.
void ScoreByExtenders(Extenders extenders, const framework::PodInfo& pod, Evaluation& evaluation);

// By the first that binds pods like this one; unset when that is left to the plugins.
std::optional<framework::Status> BindByExtender(Extenders extenders, const framework::PodInfo& pod,
                                                const std::string& node_name);

}  // namespace berth::engine
