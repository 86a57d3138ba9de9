"""Where pods are placed in relation to each other."""

from collections import Counter

import objects
from scenario import expect_equal, no_fit, scenario

ZONE = "topology.kubernetes.io/zone"


def zones(t, names=("a", "b", "c"), nodes_per_zone=2):
    for zone in names:
        for index in range(nodes_per_zone):
            t.node(f"{zone}{index}", labels={ZONE: f"zone-{zone}"})


def per_zone(pods):
    """Nodes are named by their zone's letter."""
    return Counter(pod["spec"]["nodeName"][0] for pod in pods.values() if pod["spec"].get("nodeName"))


@scenario("a hard spread constraint keeps the skew at one, and rejects nodes that would violate it")
def spread_constraint_holds(t):
    zones(t, names=("a", "b", "c"), nodes_per_zone=1)
    t.start_scheduler()
    names = t.pods(9, labels={"app": "web"}, topologySpreadConstraints=[objects.spread({"app": "web"}, ZONE)])
    expect_equal(per_zone(t.wait_all_bound(names)), Counter(a=3, b=3, c=3), "pods per zone")
    # Only zone a is allowed, and it already has as many as the others.
    t.pod("tenth", labels={"app": "web"}, topologySpreadConstraints=[objects.spread({"app": "web"}, ZONE)])
    t.wait_bound("tenth")
    crowded = t.get_pod("tenth")["spec"]["nodeName"]
    t.pod("eleventh", labels={"app": "web"}, nodeSelector={"kubernetes.io/hostname": crowded},
          topologySpreadConstraints=[{**objects.spread({"app": "web"}, ZONE), "nodeAffinityPolicy": "Ignore"}])
    t.wait_pending("eleventh", no_fit(
        3,
        "1 node(s) didn't match pod topology spread constraints, 2 node(s) didn't match Pod's node affinity/selector",
        "0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for "
        "scheduling."))


@scenario("required anti-affinity: one pod per node, and one more is unschedulable")
def anti_affinity_one_per_node(t):
    t.nodes(3)
    t.start_scheduler()
    names = t.pods(4, labels={"app": "db"}, affinity=objects.require_apart({"app": "db"}))
    t.eventually("three are bound", lambda: t.bound_count() == 3)
    pods = t.pods_by_name()
    pending = [name for name in names if not pods[name]["spec"].get("nodeName")]
    expect_equal(len({pod["spec"].get("nodeName") for pod in pods.values()} - {None}), 3, "nodes in use")
    t.wait_pending(pending[0], no_fit(3, "3 node(s) didn't match pod anti-affinity rules",
                                      "0/3 nodes are available: 3 No preemption victims found for incoming pod."))


@scenario("required affinity: all pods are in the zone of the first")
def affinity_keeps_together(t):
    zones(t)
    t.start_scheduler()
    names = t.pods(6, labels={"app": "cache"}, affinity=objects.require_near({"app": "cache"}, ZONE))
    expect_equal(len(per_zone(t.wait_all_bound(names))), 1, "zones in use")


@scenario("pods of one ReplicaSet are spread over zones without any constraint of their own")
def default_spreading_by_replica_set(t):
    zones(t, names=("a", "b"), nodes_per_zone=1)
    owner = t.add(objects.replica_set("web", {"app": "web"}))
    for index in range(6):
        t.pod(f"old-{index}", {"cpu": "100m"}, labels={"app": "web"}, owner=owner, nodeName="a0")
    # Zone b has less room left, so only spreading can be a reason to use it.
    t.pod("other", {"cpu": "2", "memory": "8Gi"}, nodeName="b0")
    t.start_scheduler()
    t.pod("stranger", {"cpu": "100m"}, labels={"app": "web"})
    t.wait_bound("stranger", on="a0")
    t.pod("owned", {"cpu": "100m"}, labels={"app": "web"}, owner=owner)
    t.wait_bound("owned", on="b0")
