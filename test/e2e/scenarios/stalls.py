"""What has once blocked a scheduler, or kept it busy with the wrong things."""

import signal
import threading
import time

import objects
from control_plane import SCHEDULER_USER, ControlPlane
from fault_proxy import FaultProxy
from scenario import expect, scenario
from scheduler import Scheduler

# The defaults of kube-scheduler and berth.
DEFAULT_LIMITS = {"qps": 50, "burst": 100}
DEBIANS_ETCD = "/usr/bin/etcd"  # 3.4.23: before 3.4.31, 3.5.13 and 3.6 there are no progress requests


@scenario("a pod becomes Failed and Pending again during a slow binding: scheduling continues, and SIGTERM stops the "
          "scheduler", faults=True)
def pod_returns_while_it_is_bound(t):
    t.node("n1", cpu="8")
    asked, go_on = threading.Event(), threading.Event()

    def hold_first_binding(method, path):
        if method == "POST" and path.endswith("/pods/slow/binding") and not asked.is_set():
            asked.set()
            go_on.wait(20)
        return None

    proxy = FaultProxy(t.control_plane, hold_first_binding)
    t.on_close(proxy.close)
    t.on_close(go_on.set)
    scheduler = t.start_scheduler(kubeconfig=t.control_plane.kubeconfig("proxied.kubeconfig", server=proxy.url))
    t.pod("slow", {"cpu": "1"})
    expect(asked.wait(20), "the binding did not come")
    for phase in ("Failed", "Pending"):
        t.api.patch("Pod", "slow", {"status": {"phase": phase}}, t.namespace, sub="status")
        time.sleep(0.3)  # so that the watch reports both
    go_on.set()
    t.wait_bound("slow")
    for index in range(5):
        t.pod(f"next-{index}", {"cpu": "500m"})
        t.wait_bound(f"next-{index}")
    status, body = scheduler.get("/livez")[:2]
    expect(status == 200, f"/livez says {status}: {body}")
    scheduler.process.signal(signal.SIGTERM)
    expect(scheduler.process.wait(30) is not None, "SIGTERM did not end it")


@scenario("an urgent pod is bound without waiting for the status updates of 2,500 unschedulable pods at the default "
          "rate")
def binds_beside_reports(t):
    t.node("n1", cpu="4")
    # Early, so that the API server's admission knows it when the pod is created.
    t.add({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000})
    scheduler = t.start_scheduler(clientConnection=DEFAULT_LIMITS)
    crowd = t.pods(2500, {"cpu": "100"}, prefix="crowd")
    t.eventually("the crowd is being reported", lambda: _reports(t) > 50, timeout=60)
    before = _reports(t)
    t.pod("urgent", {"cpu": "1"}, priorityClassName="urgent")
    t.wait_bound("urgent", timeout=60)
    meanwhile = _reports(t) - before
    # At 50 a second the 2,500 take most of a minute; a binding queued behind them would have come last.
    expect(meanwhile < 500, f"{meanwhile} reports were written before the urgent pod was bound")
    expect(_reports(t) < len(crowd), "all had been reported by then, so the scenario proves nothing")
    expect(scheduler.process.running, "the scheduler ended")
    t.unserved.update(crowd)


def _reports(t):
    return sum(event["verb"] == "patch" and event.get("objectRef", {}).get("resource") == "pods"
               and event["objectRef"].get("subresource") == "status" and event["stage"] == "ResponseComplete"
               for event in t.audit.requests_of(SCHEDULER_USER, t.mark))


@scenario("with an etcd that cannot report progress, streaming lists fail: the scheduler falls back to lists and binds")
def older_etcd(t):
    with ControlPlane(t.folder / "older", t.control_plane.binaries, DEBIANS_ETCD) as older:
        older.api.create(objects.node("n1", cpu="4"))
        scheduler = Scheduler(t.program, older, t.folder, "with-older-etcd").start()
        t.on_close(scheduler.process.kill)
        pod = objects.pod("web", {"cpu": "1"})
        pod["metadata"]["namespace"] = "default"
        older.api.create(pod)
        t.eventually("the pod is bound", lambda: older.api.get("Pod", "web", "default")["spec"].get("nodeName") == "n1")
        verbs = {event["verb"] for event in older.audit.requests_of(SCHEDULER_USER)
                 if event.get("objectRef", {}).get("resource") == "pods" and event["objectRef"].get("name") is None}
        expect("list" in verbs, f"pods were not listed ({verbs}): streaming works, so the scenario proves nothing")
