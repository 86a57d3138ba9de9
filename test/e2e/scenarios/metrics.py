"""Metrics after the same work: kube-scheduler's names, label sets and orders of magnitude."""

import fnmatch
import pathlib
import re
from collections import defaultdict

import objects
from scenario import expect, scenario
from scheduler import Program, Scheduler

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs" / "metrics.md"
SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="(?:[^"\\]|\\.)*"')
# These depend on how the work was done, not on how much there was: only names and labels are compared.
OWN_MEASURE = (
    "process_*",                      # another runtime
    "rest_client_*",                  # lists, watches and writes are divided differently into requests
    "kubernetes_build_info",
    "registered_metrics_total",       # each counts its own
    "scheduler_goroutines",           # of the moment
    "scheduler_inflight_events",      # of the moment
    "scheduler_plugin_evaluation_total",  # here every filter counts all nodes
    "scheduler_event_handling_duration_seconds",  # events are labelled differently, see docs/metrics.md
    "scheduler_queueing_hint_execution_duration_seconds",  # a hint is called once for similar pods
    "scheduler_plugin_execution_duration_seconds",  # one cycle in ten, at random
)
MAGNITUDE = 10.0  # and so many more or fewer, for small numbers
SLACK = 12.0


class Family:
    def __init__(self):
        self.labels = set()
        self.amount = 0.0  # of events: a counter's or a gauge's sum, a histogram's count


def families(text):
    """The metrics with samples, by name."""
    kinds = dict(line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE "))
    found = defaultdict(Family)
    for line in text.splitlines():
        match = SAMPLE.match(line)
        if not match:
            continue
        name, labels, value = match.group(1), LABEL.findall(match.group(2) or ""), float(match.group(3))
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        base = base if kinds.get(base) in ("histogram", "summary") else name
        if name.endswith("_bucket") and base != name:
            labels.remove("le")
        found[base].labels.add(tuple(sorted(labels)))
        if base == name or name.endswith("_count"):
            found[base].amount += value
    return found


def documented_as_absent():
    """The names, with wildcards, in the table of docs/metrics.md, and the reason beside each."""
    section = DOCS.read_text(encoding="utf-8").split("## Of upstream, and not here")[1].split("\n## ")[0]
    absent = {}
    for line in section.splitlines():
        if line.startswith("| `"):
            names, why = line.strip("|").split("|", 1)
            absent.update({name: why.strip() for name in re.findall(r"`([^`]+)`", names)})
    return absent


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def mixed_workload(t, prefix):
    """Plain pods, gates, a pod that fits only on a later node, preemption, affinity, spread, a volume, devices."""
    nodes = t.nodes(4, prefix=f"{prefix}-node", cpu="4", labels={"zone": prefix})
    # There is no kubelet, so pods end at once.
    names = t.pods(12, {"cpu": "500m"}, prefix=f"{prefix}-plain", terminationGracePeriodSeconds=0)
    t.wait_all_bound(names)
    t.pod(f"{prefix}-near", {"cpu": "100m"}, labels={"app": prefix}, affinity=objects.require_apart({"app": prefix}))
    t.pod(f"{prefix}-spread", {"cpu": "100m"}, labels={"app": prefix},
          topologySpreadConstraints=[objects.spread({"app": prefix}, "kubernetes.io/hostname")])
    t.pod(f"{prefix}-gated", {"cpu": "100m"}, schedulingGates=[{"name": "example.com/wait"}])
    t.wait_all_bound([f"{prefix}-near", f"{prefix}-spread"])
    t.api.patch("Pod", f"{prefix}-gated", {"spec": {"schedulingGates": []}}, t.namespace)
    t.wait_bound(f"{prefix}-gated")

    t.add(objects.storage_class(f"{prefix}-local"))
    t.add_volume(objects.volume(f"{prefix}-volume", f"{prefix}-local", on_node=nodes[0]))
    t.add(objects.claim(f"{prefix}-data", f"{prefix}-local"))
    t.pod(f"{prefix}-stateful", {"cpu": "100m"}, claims=[f"{prefix}-data"])

    def finish_claim():
        """Does what the volume controller would."""
        volume = t.api.get("PersistentVolume", f"{prefix}-volume")
        if not volume["spec"].get("claimRef"):
            return False
        t.api.patch("PersistentVolumeClaim", f"{prefix}-data", {"spec": {"volumeName": f"{prefix}-volume"},
                    "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}, t.namespace)
        t.api.patch("PersistentVolumeClaim", f"{prefix}-data", {"status": {"phase": "Bound"}}, t.namespace, "status")
        return True
    t.eventually("the volume is given to the claim", finish_claim, 30)
    t.wait_bound(f"{prefix}-stateful", timeout=30)

    t.pod(f"{prefix}-large", {"cpu": "6"}, terminationGracePeriodSeconds=0)
    t.wait_pending(f"{prefix}-large")
    t.node(f"{prefix}-big", cpu="6")
    t.wait_bound(f"{prefix}-large", on=f"{prefix}-big")
    low = t.pods(2, {"cpu": "2"}, prefix=f"{prefix}-low", priorityClassName="e2e-metrics-low",
                 terminationGracePeriodSeconds=0)
    t.wait_all_bound(low)
    # No node has that much left: on any of them a pod of lower priority has to be evicted.
    t.pod(f"{prefix}-urgent", {"cpu": "3"}, priorityClassName="e2e-metrics-high")
    t.deleted.update([*names, *low, f"{prefix}-large"])
    t.wait_bound(f"{prefix}-urgent", timeout=40)
    t.pod(f"{prefix}-never", {"cpu": "100"})
    t.wait_pending(f"{prefix}-never")


def measure(t, program, prefix):
    # With leader election, so that its metrics are compared too.
    scheduler = Scheduler(program, t.control_plane, t.folder, prefix,
                          leaderElection={"leaderElect": True, "leaseDuration": "15s", "renewDeadline": "10s",
                                          "retryPeriod": "2s", "resourceName": f"{prefix}-scheduler"})
    t.schedulers.append(scheduler)
    scheduler.start()
    mixed_workload(t, prefix)
    t.eventually("the last attempt is counted",
                 lambda: scheduler.metric("scheduler_pending_pods", queue="unschedulable") >= 1
                 and scheduler.metric("scheduler_unschedulable_pods") >= 1)
    status, text = scheduler.get("/metrics", as_admin=True)
    expect(status == 200, f"/metrics of {prefix} answered {status}")
    scheduler.stop()
    for pod in t.api.list("Pod", t.namespace):
        t.delete_pod(pod["metadata"]["name"])
    t.eventually("the pods are gone", lambda: not t.api.list("Pod", t.namespace))
    t.api.delete_all("Node")
    (t.folder / f"{prefix}-metrics.txt").write_text(text)
    return families(text)


@scenario("after the same work both schedulers have the same metrics: names, label sets, orders of magnitude",
          only="berth")
def metrics_of_both_schedulers(t):
    for name, value in (("low", -10), ("high", 1000)):
        t.add(objects.priority_class(f"e2e-metrics-{name}", value))
    theirs = measure(t, Program("upstream", t.control_plane.binaries / "kube-scheduler"), "upstream")
    ours = measure(t, t.program, "berth")
    absent = documented_as_absent()
    expect(len(theirs) > 60, f"kube-scheduler has only {len(theirs)} metrics with samples")
    problems = []
    for name, family in sorted(theirs.items()):
        if matches(name, absent):
            if name in ours:
                problems.append(f"{name}: documented as absent, but it is there")
            continue
        if name not in ours:
            problems.append(f"{name}: no sample, and docs/metrics.md gives no reason")
            continue
        if family.labels != ours[name].labels:
            problems.append(f"{name}: labels {sorted(ours[name].labels)}, expected {sorted(family.labels)}")
        high, low = max(family.amount, ours[name].amount), min(family.amount, ours[name].amount)
        if not matches(name, OWN_MEASURE) and high > low * MAGNITUDE + SLACK:
            problems.append(f"{name}: {ours[name].amount:g}, where kube-scheduler has {family.amount:g}")
    # Metrics that upstream does not have are named after berth.
    for name in sorted(set(ours) - set(theirs)):
        if "berth_" not in name and not name.startswith("scheduler_"):
            problems.append(f"{name}: kube-scheduler has no such metric")
    expect(not problems, f"{len(problems)} of {len(theirs)} differ:\n  " + "\n  ".join(problems))
