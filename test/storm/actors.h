// Actors: the people, controllers and kubelets of a storm. Some follow the plan's script; others react: kubelets run
// bound pods and end deleted ones, the garbage collector deletes pods of nodes that are gone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "base/random.h"
#include "storm/api_writes.h"
#include "storm/claims.h"
#include "storm/faults.h"
#include "storm/plan.h"
#include "storm/store.h"
#include "storm/trace.h"
#include "storm/volumes.h"

namespace berth::storm {

class Actors {
 public:
  Actors(Timeline& timeline, Store& store, ApiWrites& writes, Claims& claims, Volumes& volumes, Trace& trace,
         uint64_t seed);

  // Some of the held pods are to be allowed, or rejected.
  void set_answers_held(bool answers_held) { answers_held_ = answers_held; }
  void MakeNodes(int count);
  // Does nothing if there is no object to do it to.
  void Do(const Action& action);
  // What happens to the pod that a request, which is still on its way, is about. False if it cannot happen to it.
  bool DoWhileBound(Fault fault, const http::Request& request);
  // Several new pods want devices.
  void AskForDevices();
  // Sometimes, soon: a pod that shares a claim whose allocation failed, and one that wants devices of its own.
  void CompeteForDevices();
  // Pods come one after the other, so that whoever leads has something to write.
  void KeepBusy(base::Duration from, base::Duration to);
  // Called with the key of a refused pod right before its owner deletes it.
  void set_on_give_up(std::function<void(const std::string& key)> on_give_up) { on_give_up_ = std::move(on_give_up); }

 private:
  void DoToPods(const Action& action);
  void DoToNodes(const Action& action);
  void AddPod(ActionKind kind, base::Random& random);
  void ChangeClass(const std::string& name);
  void Create(api::Pod pod);
  void GiveUpLater(const std::string& key);
  void ChangeWhileRefused(const std::string& key);
  void FailAndReturn(const api::Pod& pod, base::Duration longest);
  void BindByHand(const api::Pod& pod);
  bool DisturbPreemption(const std::string& name);
  bool RecreateSoon(const std::string& name);
  bool LoseOwnerOf(const http::Request& request);
  void CordonNodeOf(const api::Pod& pod, base::Duration longest);
  void CordonAll(uint64_t times);
  void Recreate(const api::Pod& pod);
  void AddNode(const std::string& name, base::Random& random);

  // One of the pods or nodes it can be done to, at random; null if there are none.
  template <class Wanted>
  const api::Pod* PickPod(base::Random& random, Wanted wanted) const;
  const api::Pod* PickNewestPending() const;
  const api::Pod* PickPodToRelabel(base::Random& random) const;
  const api::Node* PickNode(base::Random& random) const;
  template <class Edit>
  void EditPod(const std::string& key, const std::string& uid, Edit edit);
  template <class Edit>
  void EditNode(const std::string& name, Edit edit);

  void React(const Change& change);
  void ReactToPod(const api::Pod& pod, const api::Pod* before);
  void CollectGarbage(const std::string& node);
  base::Duration Soon(base::Duration longest);

  Timeline& timeline_;
  Store& store_;
  ApiWrites& writes_;
  Claims& claims_;
  Volumes& volumes_;
  Trace& trace_;
  base::Random random_;
  std::function<void(const std::string&)> on_give_up_;
  bool answers_held_ = false;
  int last_pod_ = 0;
  int last_node_ = 0;
};

}  // namespace berth::storm
