// Checkpoint: the state of a driver between two inputs. A driver restored from it makes the same decisions as the one
// it was taken from.
//
// It does not contain what can be computed again (lanes, columns, indexes, kept trials). State that cannot be observed
// from outside (reservations of plugins, pods waiting in Permit) must not exist when it is taken: see Driver::IsAtRest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/custom_object.h"
#include "api/node.h"
#include "api/object.h"
#include "base/random.h"
#include "base/ticket.h"
#include "cluster/node_order.h"
#include "framework/pod_info.h"
#include "queue/scheduling_queue.h"

namespace berth::scheduler {

struct Checkpoint {
  struct Node {
    std::shared_ptr<const api::Node> node;
    framework::NodeIndex index = 0;
    cluster::NodeOrder::Age age{};
  };
  // A pod on a node, which need not be a known one. Pods of one node are in the node's order.
  struct Pod {
    framework::PodInfoPtr pod;
    std::string node_name;
    base::Ticket assumed_by = base::Ticket::kNone;  // kNone: bound
  };
  struct Nomination {
    framework::PodInfoPtr pod;
    std::string node_name;
  };
  // An object of a resource that plugins watch, such as "licencepools.v1.example.com".
  struct Custom {
    std::string resource;
    std::shared_ptr<const api::CustomObject> object;
  };
  // An attempt whose binding cycle has not finished.
  struct Binding {
    framework::PodInfoPtr pod;
    base::Ticket ticket = base::Ticket::kNone;
    int number = 1;
    std::string node_name;
    int64_t score = 0;
    bool scored = false;
    bool nominated = false;
    size_t feasible_nodes = 0;
  };

  base::Time taken{};
  base::Random::State random{};
  size_t next_sample_start = 0;
  size_t node_slots = 0;
  std::vector<Node> nodes;  // by index
  std::vector<api::Object> objects;
  std::vector<Custom> custom;
  std::vector<Pod> pods;
  std::vector<Nomination> nominations;
  std::vector<Binding> bindings;  // by ticket
  queue::SchedulingQueue::Saved queue;
};

}  // namespace berth::scheduler
