"""Many changes at once, and more pods than room."""

import random

from api import ApiError
from process import Failed, eventually
from scenario import condition, expect, expect_equal, scenario


@scenario("400 pods with room for 200: exactly 200 are bound, no node is overcommitted, and 200 are reported as "
          "unschedulable")
def room_for_half(t):
    t.nodes(20, cpu="5", pods="110")
    scheduler = t.start_scheduler()
    names = t.pods(400, {"cpu": "500m"})
    t.wait_bound_count(200)

    def rest_is_told():
        pods = t.pods_by_name()
        pending = [pods[name] for name in names if not pods[name]["spec"].get("nodeName")]
        expect_equal(len(pending), 200, "pods pending")
        return all(condition(pod) and condition(pod)["reason"] == "Unschedulable" for pod in pending)

    t.eventually("200 are told why", rest_is_told, 60)
    expect_equal(t.bound_count(), 200, "pods bound")
    t.eventually("the scheduler counts 200 pending pods", lambda: scheduler.metric("scheduler_pending_pods") == 200)


@scenario("twice as many pods as the nodes' pod limits allow: no node gets more than its limit")
def pod_count_is_a_limit(t):
    t.nodes(10, pods="7")
    t.start_scheduler()
    t.pods(140)
    t.wait_bound_count(70)
    t.stays("no more are bound", lambda: t.bound_count() == 70, 2)


@scenario("nodes and pods are created and deleted while pods are scheduled; in the end every pod that fits is bound")
def nodes_and_pods_churn(t):
    dice = random.Random(20)
    t.nodes(20, cpu="8")
    t.start_scheduler(podMaxBackoffSeconds=2)
    alive, next_node = set(), 20

    def make(count, wave):
        alive.update(t.pods(count, {"cpu": dice.choice(["100m", "250m", "500m"])}, prefix=f"w{wave}"))

    for wave in range(15):
        make(40, wave)
        for name in dice.sample(sorted(alive), k=min(25, len(alive) // 2)):
            t.delete_pod(name)
            alive.discard(name)
        # A node is deleted, and its pods with it, as their controller would do.
        victim = dice.choice([node["metadata"]["name"] for node in t.api.list("Node")])
        t.api.delete("Node", victim)
        for pod in t.api.list("Pod", t.namespace, fields=f"spec.nodeName={victim}"):
            t.delete_pod(pod["metadata"]["name"])
            alive.discard(pod["metadata"]["name"])
        t.node(f"node-{next_node}", cpu="8")
        next_node += 1

    def settled():
        pods, nodes = t.pods_by_name(), {node["metadata"]["name"] for node in t.api.list("Node")}
        pending = [name for name in alive if name in pods and not pods[name]["spec"].get("nodeName")]
        # A binding may race with a node's deletion; the API server accepts it, and a controller would clean up.
        for name in alive:
            if name in pods and pods[name]["spec"].get("nodeName") and pods[name]["spec"]["nodeName"] not in nodes:
                t.delete_pod(name)
        alive.intersection_update(set(pods) - t.deleted)
        if pending:
            raise Failed(f"{len(pending)} are pending, such as {pending[0]}: {condition(pods[pending[0]])}")
        return True

    eventually("everyone has a place", settled, 60, every=0.5)


@scenario("pods deleted while they are being scheduled leave no resources in use")
def deleted_while_scheduled(t):
    t.nodes(2, cpu="2")
    t.start_scheduler(podMaxBackoffSeconds=2)
    for wave in range(5):
        for name in t.pods(20, {"cpu": "1"}, prefix=f"short-{wave}"):
            try:
                t.delete_pod(name)
            except ApiError as error:
                expect(error.status == 404, str(error))
    names = t.pods(4, {"cpu": "1"}, prefix="stays")
    t.wait_all_bound(names, timeout=30)
