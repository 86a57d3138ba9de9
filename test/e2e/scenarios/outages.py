"""Failures around a scheduler, or of the scheduler itself, in the middle of a backlog."""

import threading
import time
from collections import Counter

import objects
from fault_proxy import FaultProxy
from scenario import expect, scenario


def through_proxy(t, fault=None):
    """A proxy, and a scheduler's kubeconfig that goes through it."""
    proxy = FaultProxy(t.control_plane, fault)
    t.on_close(proxy.close)
    return proxy, t.control_plane.kubeconfig("proxied.kubeconfig", server=proxy.url)


@scenario("the scheduler is killed mid-backlog and restarted: every pod is bound, none twice", faults=True)
def scheduler_killed(t):
    t.nodes(50)
    names = t.pods(1000, {"cpu": "100m"})
    for bound in (100, 300, 500):
        scheduler = t.start_scheduler()
        t.wait_bound_count(bound)
        scheduler.process.kill()
    t.start_scheduler()
    t.wait_all_bound(names)


@scenario("the API server is killed mid-backlog and restarted: the same scheduler binds the rest", faults=True)
def api_server_killed(t):
    t.nodes(50)
    names = t.pods(500, {"cpu": "100m"})
    # A server that has just started denies all requests until it has read its roles; under full load it never does.
    scheduler = t.start_scheduler(clientConnection={"qps": 100, "burst": 100})
    t.wait_bound_count(100)
    t.control_plane.apiserver.kill()
    time.sleep(1)  # long enough for requests to fail, not only to be retried
    t.control_plane.start_apiserver()
    t.wait_all_bound(names, timeout=120)
    expect(scheduler.process.running, "the scheduler ended")
    t.pod("after")
    t.wait_bound("after", timeout=30)


@scenario("the scheduler is disconnected while the watch history is compacted: it gets 410 Gone, then sees what it "
          "missed", faults=True)
def history_is_compacted(t):
    t.nodes(4, cpu="1")
    proxy, kubeconfig = through_proxy(t)
    t.start_scheduler(kubeconfig=kubeconfig)
    for index in range(4):
        t.pod(f"old-{index}", {"cpu": "1"})
    t.wait_all_bound([f"old-{index}" for index in range(4)])
    freed = t.get_pod("old-0")["spec"]["nodeName"]
    # Pods and nodes have separate watches: without the selector it might go to the node whose deletion is not seen yet.
    t.pod("waits", {"cpu": "1"}, nodeSelector={"kubernetes.io/hostname": freed})
    t.wait_pending("waits")

    proxy.cut()
    # While it is disconnected: a pod is deleted, a node and its pod are deleted, a node and pods are created.
    gone = t.get_pod("old-1")["spec"]["nodeName"]
    t.delete_pod("old-0")
    t.delete_pod("old-1")
    t.api.delete("Node", gone)
    t.node("new", cpu="1", taints=[objects.taint("new")])
    t.pod("for-the-new", {"cpu": "1"}, nodeSelector={"kubernetes.io/hostname": "new"},
          tolerations=[{"key": "new", "operator": "Exists"}])
    # A restarted API server has no history of its own, and etcd's is compacted: no watch can be resumed.
    t.control_plane.apiserver.kill()
    t.control_plane.compact_etcd()
    t.control_plane.start_apiserver()
    proxy.heal()

    t.wait_bound("for-the-new", on="new", timeout=60)
    t.wait_bound("waits", on=freed, timeout=60)
    expect(proxy.expired > 0, "the API server ended no watch with 410, so the scenario proves nothing")


@scenario("every pod's first binding is answered with 429: the scheduler waits as long as requested, then binds",
          faults=True)
def too_many_requests(t):
    t.nodes(10)
    tries, lock = {}, threading.Lock()

    def refuse_first_binding(method, path):
        if not path.endswith("/binding") or method != "POST":
            return None
        with lock:
            tries.setdefault(path, []).append(time.monotonic())
            return (429, {"Retry-After": "1"}) if len(tries[path]) == 1 else None

    proxy, kubeconfig = through_proxy(t, refuse_first_binding)
    t.start_scheduler(kubeconfig=kubeconfig)
    names = t.pods(50, {"cpu": "100m"})
    t.wait_all_bound(names)
    expect(len(proxy.refused) == 50, f"{len(proxy.refused)} refusals for 50 pods")
    hasty = [path for path, times in tries.items() if times[1] - times[0] < 0.95]
    expect(not hasty, f"{len(hasty)} bindings were tried again before Retry-After was over, such as {hasty[:1]}")


@scenario("lists and watches are answered with 429 and 500 at first: the scheduler starts nevertheless", faults=True)
def refused_while_starting(t):
    t.nodes(5)
    names = t.pods(20)
    refusals = Counter()

    def refuse_twice(method, path):
        kind = path.partition("?")[0]
        if method != "GET" or not kind.startswith(("/api/", "/apis/")) or refusals[kind] >= 2:
            return None
        refusals[kind] += 1
        return (429, {"Retry-After": "1"}) if refusals[kind] == 1 else (500, {})

    proxy, kubeconfig = through_proxy(t, refuse_twice)
    t.scheduler(kubeconfig=kubeconfig).start(wait_for=None)
    t.wait_all_bound(names)
    expect(proxy.refused, "the proxy refused nothing, so the scenario proves nothing")


@scenario("every tenth write fails and connections keep being cut: every pod is bound, none twice", faults=True)
def flaky_network(t):
    t.nodes(20)
    count, lock = Counter(), threading.Lock()

    def refuse_some(method, path):
        with lock:
            count[method] += 1
            return (500, {}) if method == "POST" and count[method] % 10 == 0 else None

    proxy, kubeconfig = through_proxy(t, refuse_some)
    t.start_scheduler(kubeconfig=kubeconfig, podMaxBackoffSeconds=2)

    def cut_now_and_then(stop):
        while not stop.wait(0.7):
            proxy.cut_connections()
    calm_down = t.background(cut_now_and_then)
    names = []
    for wave in range(5):
        names += t.pods(40, {"cpu": "100m"}, prefix=f"wave-{wave}")
        time.sleep(0.5)
    t.eventually("the network has failed often", lambda: len(proxy.refused) > 10, 60)
    calm_down()
    t.wait_all_bound(names, timeout=90)
