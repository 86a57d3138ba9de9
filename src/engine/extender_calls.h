// How cycles use extenders: the order in which they are asked, and what is done with their answers.
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

// Asks them in order, each about the nodes that the previous ones left in `feasible`, which stays in the order of
// names. Their reasons go to `statuses`. An error comes from an extender that is not ignorable.
framework::Status FilterByExtenders(Extenders extenders, const framework::PodInfo& pod,
                                    const framework::ClusterView& cluster,
                                    std::vector<const framework::NodeInfo*>& feasible,
                                    framework::NodeToStatus& statuses);

// Asks all at once and adds their scores to the totals, which must be filled. An extender that fails to answer gives no
// scores.
void ScoreByExtenders(Extenders extenders, const framework::PodInfo& pod, Evaluation& evaluation);

// Binds with the first extender that binds pods like this one; unset when that is left to the plugins.
std::optional<framework::Status> BindByExtender(Extenders extenders, const framework::PodInfo& pod,
                                                const std::string& node_name);

}  // namespace berth::engine
