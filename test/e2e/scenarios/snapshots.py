"""Simulating a running cluster: berth reads it, predicts what would happen, and writes nothing.

The verbs that read are berth's, whichever scheduler runs: their predictions must hold for both.
"""

import json
import subprocess

import objects
from control_plane import SCHEDULER_USER
from process import SCALE
from scenario import expect, expect_equal, scenario


def berth(t, *arguments, wanted=0):
    """What a verb of berth printed, on standard output and standard error."""
    ran = subprocess.run([t.options.berth, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=60 * SCALE)
    expect_equal(ran.returncode, wanted, f"status of berth {' '.join(map(str, arguments))}\n{ran.stderr}")
    return ran.stdout, ran.stderr


def populate(t):
    """Running pods, pods that fit on one node, and pods that fit on none."""
    t.add(objects.storage_class("e2e-local"))
    t.add_volume(objects.volume("e2e-disk", "e2e-local", on_node="n2"))
    t.add(objects.claim("data", "e2e-local"))
    t.add(objects.priority_class("e2e-urgent", 1000, policy="Never"))
    t.add(objects.disruption_budget("budget", {"app": "old"}))
    t.node("n1", cpu="2", labels={"disk": "ssd"})
    t.node("n2", cpu="2", taints=[objects.taint("dedicated")])
    t.pod("old", {"cpu": "1"}, labels={"app": "old"}, nodeName="n1")
    t.pod("fast", {"cpu": "1"}, nodeSelector={"disk": "ssd"}, priorityClassName="e2e-urgent")
    t.pod("database", {"cpu": "1"}, claims=["data"], tolerations=[{"key": "dedicated", "operator": "Exists"}])
    t.pod("late", {"cpu": "1"})


# What creates and mutates pods, which a scheduler need not read.
BEYOND_THE_SCHEDULERS_ROLES = {
    "deployments.apps", "daemonsets.apps", "jobs.batch", "priorityclasses.scheduling.k8s.io",
    "runtimeclasses.node.k8s.io", "limitranges", "resourcequotas", "resourceclaimtemplates.resource.k8s.io",
    "devicetaintrules.resource.k8s.io"}


@scenario("simulate --from-cluster predicts what happens, and predicts the same from a snapshot")
def simulation_of_a_running_cluster(t):
    populate(t)
    admin = t.control_plane.kubeconfig("snapshot.kubeconfig", pair=t.control_plane.admin)
    before = t.api.list("Pod", t.namespace)
    live, _ = berth(t, "simulate", "--from-cluster", f"--kubeconfig={admin}", "-o", "json", wanted=2)
    for name in ("cluster.yaml", "cluster.json", "cluster.yaml.gz", "cluster.json.gz"):
        berth(t, "snapshot", f"--kubeconfig={admin}", "-o", t.folder / name)
        again, _ = berth(t, "simulate", "-f", t.folder / name, "-o", "json", wanted=2)
        expect_equal(again, live, f"the simulation of {name}")
    text, _ = berth(t, "snapshot", f"--kubeconfig={admin}")
    expect_equal(text, (t.folder / "cluster.yaml").read_text(), "a snapshot on standard output")
    expect("managedFields" not in text, "managedFields are in the snapshot")
    expect_equal(t.api.list("Pod", t.namespace), before, "the pods of the cluster")

    t.start_scheduler()
    foretold = {pod["pod"]: pod for pod in json.loads(live)["pods"] if pod["pod"].startswith(t.namespace + "/")}
    expect_equal({key.split("/")[1]: pod.get("node") for key, pod in foretold.items()},
                 {"fast": "n1", "late": None, "database": "n2"}, "what is foretold")
    t.wait_bound("fast", on="n1")
    t.wait_pending("late", foretold[f"{t.namespace}/late"]["message"])
    # No volume controller runs, which would bind the claim.
    t.eventually("the volume is claimed for the database",
                 lambda: t.api.get("PersistentVolume", "e2e-disk")["spec"].get("claimRef", {}).get("name") == "data")
    t.unserved.add("database")


# It reads more than a scheduler may: priority classes. That it is denied, and continues, is part of the scenario.
@scenario("a snapshot only lists, and continues without what it may not read", faults=True)
def snapshot_only_lists(t):
    populate(t)
    t.unserved.update(("fast", "database", "late"))
    mark = t.audit.mark()
    _, told = berth(t, "snapshot", f"--kubeconfig={t.control_plane.kubeconfig('reader.kubeconfig')}", "-o",
                    t.folder / "cluster.json")
    berth(t, "simulate", "--from-cluster", f"--kubeconfig={t.control_plane.kubeconfig('reader.kubeconfig')}", wanted=2)
    unread = {line.split("cannot read ")[1].split(": ")[0] for line in told.splitlines() if "warning: " in line}
    expect_equal(unread, BEYOND_THE_SCHEDULERS_ROLES, f"warnings in\n{told}")
    kinds = {item["kind"] for item in json.loads((t.folder / "cluster.json").read_text())["items"]}
    expect({"Node", "Pod", "PersistentVolume", "PersistentVolumeClaim", "StorageClass",
            "PodDisruptionBudget"} <= kinds, f"kinds: {kinds}")

    t.eventually("the requests are in the audit log", lambda: len(t.audit.requests_of(SCHEDULER_USER, mark)) >= 38)
    requests = t.audit.requests_of(SCHEDULER_USER, mark)
    expect_equal({event["verb"] for event in requests}, {"list"}, "verbs")
    expect(all(event["userAgent"].startswith("berth/berth-") for event in requests), "other user agents")
    expect("secrets" not in {event["objectRef"]["resource"] for event in requests}, "secrets were asked for")
