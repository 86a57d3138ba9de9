"""The deployments that docs/deploy.md describes: instead of kube-scheduler, and beside it."""

import itertools
import json
import pathlib
import signal

import objects
from api import path
from control_plane import SECOND_SCHEDULER_USER
from process import eventually
from scenario import expect, expect_equal, scenario
from scenarios.extenders import change_then_reject, start as start_extender
from scenarios.preemption import terminating
from scenarios.volumes import play_volume_controller

SECOND_SCHEDULER = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "second-scheduler"
# Permissions that only other clusters need: (verb, why).
FALLBACKS = {"list": "servers that do not stream lists"}


@scenario("started as kube-scheduler with the arguments of kubeadm's static pod, it works as kube-scheduler does")
def static_pod_arguments(t):
    t.node("n1")
    program = t.folder / "kube-scheduler"
    program.symlink_to(pathlib.Path(t.program.argv[0]).resolve())
    kubeconfig = t.control_plane.kubeconfig("scheduler.conf")
    scheduler = t.start_scheduler(command=[
        program, f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1", f"--kubeconfig={kubeconfig}", "--leader-elect=true"])
    # The kubelet's probes: startup, liveness and readiness.
    for probe in ("/livez", "/readyz"):
        expect_equal(scheduler.get(probe), (200, "ok"), probe)
    t.pod("web", {"cpu": "1"})
    t.wait_bound("web", on="n1")
    t.wait_event("Scheduled", "web", f"Successfully assigned {t.namespace}/web to n1")
    listed = t.control_plane.kubectl("get", "events", "-n", t.namespace, "--field-selector=reason=Scheduled",
                                     "-o=custom-columns=:.source.component,:.reportingComponent,:.message",
                                     "--no-headers")
    expect("default-scheduler" in listed and f"Successfully assigned {t.namespace}/web to n1" in listed,
           f"kubectl get events says\n{listed}")
    described = t.control_plane.kubectl("describe", "pod", "web", "-n", t.namespace)
    event = next((line for line in described.splitlines() if "Scheduled" in line and "Normal" in line), "")
    expect(event.split()[-6:] == ["default-scheduler", "Successfully", "assigned", f"{t.namespace}/web", "to", "n1"],
           f"kubectl describe pod says\n{described}")
    holder = t.api.get("Lease", "kube-scheduler", "kube-system")["spec"]["holderIdentity"]
    expect(holder, "nobody holds the lease kube-scheduler")


def documents(text):
    """JSON documents, one after the other, as kubectl prints several objects."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        found += document.get("items", [document])
        text = text[end:]
    return found


def rights_of(rules):
    """(group, resource, verb) of rules as RBAC writes them."""
    return {(group, resource, verb) for rule in rules for group in rule["apiGroups"]
            for resource in rule["resources"] for verb in rule["verbs"]}


def right_used(event):
    about = event["objectRef"]
    resource = about["resource"] + (f"/{about['subresource']}" if about.get("subresource") else "")
    return about.get("apiGroup", ""), resource, event["verb"]


def second_scheduler(t, manifests, more="", **properties):
    """A scheduler with the configuration of the manifests, and more of it, as their service account."""
    token = t.api.call("POST", path("ServiceAccount", "kube-system", "berth-scheduler", "token"),
                       {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                        "spec": {"expirationSeconds": 3600}})["status"]["token"]
    identity = t.control_plane.kubeconfig("second-scheduler.kubeconfig", token=token)
    text = next(item for item in manifests if item["kind"] == "ConfigMap")["data"]["config.yaml"]
    return t.scheduler(identity=identity, text=f"{text}clientConnection: {{kubeconfig: {identity}}}\n{more}", **properties)


def use_every_right(t, scheduler):
    """Bindings, events and their series, preemption, volumes of both kinds, a look at /metrics, SIGUSR2."""
    ours = {"schedulerName": "berth-scheduler"}
    t.add(objects.priority_class("e2e-low", 10))
    t.add(objects.priority_class("e2e-high", 1000))
    t.add(objects.storage_class("local"))
    t.add(objects.storage_class("dynamic", provisioner="example.com/disks"))
    t.node("n1", cpu="2")
    t.add_volume(objects.volume("pv-1", "local", on_node="n1"))
    t.add(objects.claim("static", "local"))
    t.add(objects.claim("provisioned", "dynamic"))
    play_volume_controller(t, provisioner="example.com/disks")
    scheduler.start()
    t.pod("stores", {"cpu": "500m"}, claims=["static", "provisioned"], priorityClassName="e2e-high", **ours)
    t.wait_bound("stores")
    t.pod("victim", {"cpu": "1"}, priorityClassName="e2e-low", **ours)
    t.wait_bound("victim")
    t.pod("preemptor", {"cpu": "1500m"}, priorityClassName="e2e-high", **ours)
    t.eventually("the victim is being deleted", lambda: terminating(t.get_pod("victim")))
    t.api.delete("Pod", "victim", t.namespace, grace=0)
    t.deleted.add("victim")
    t.wait_bound("preemptor")
    t.pod("waits", {"cpu": "3"}, **ours)
    t.wait_pending("waits")
    # It has changed before its reason is written: it is read.
    changes = objects.pod("changes", {"example.com/licence": "1"}, **ours)
    changes["spec"]["containers"][0]["resources"]["limits"] = {"example.com/licence": "1"}
    t.add(changes)
    t.wait_pending("changes")
    # Room that it may not use requeues it; reported again, the event becomes a series.
    t.node("n2", taints=[objects.taint("e2e")])
    sizes = itertools.count(5)

    def is_told_again():
        t.api.patch("Node", "n2", {"status": {"allocatable": {"cpu": str(next(sizes))}}}, sub="status")
        return any(event.get("series") for event in t.events("FailedScheduling", "waits"))
    eventually("the event is a series", is_told_again, timeout=20, every=1)
    nobody = t.api.call("POST", path("ServiceAccount", "kube-system", "berth-scheduler", "token"),
                        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    expect_equal(scheduler.get("/metrics", token=nobody["status"]["token"])[0], 403, "/metrics without the right")
    expect_equal(scheduler.get("/metrics", as_admin=True)[0], 200, "/metrics with the administrator's certificate")
    scheduler.process.signal(signal.SIGUSR2)
    t.eventually("SIGUSR2 is answered", lambda: "Dump of scheduling queue" in scheduler.process.log_text())
    expect("Cache mismatch" not in scheduler.process.log_text(), "the scheduler's picture is not the server's")


@scenario("the permissions in deploy/second-scheduler suffice, and none of them is unused", only="berth")
def second_scheduler_rights(t):
    files = [f"-f={SECOND_SCHEDULER / name}" for name in ("service-account.yaml", "rbac.yaml", "config.yaml")]
    manifests = documents(t.control_plane.kubectl("create", "--dry-run=client", "-o=json", *files))
    t.on_close(lambda: t.control_plane.kubectl("delete", "--ignore-not-found", *files))
    t.control_plane.kubectl("create", *files)
    extender = start_extender(t, filter=change_then_reject(t))
    extenders = [{"urlPrefix": extender.url, "filterVerb": "filter",
                  "managedResources": [{"name": "example.com/licence", "ignoredByScheduler": True}]}]
    scheduler = second_scheduler(t, manifests, more=f"extenders: {json.dumps(extenders)}\n")
    use_every_right(t, scheduler)

    requests = [event for event in t.audit.requests_of(SECOND_SCHEDULER_USER, t.mark) if "objectRef" in event]
    refused = {right_used(event) for event in requests if event.get("responseStatus", {}).get("code") == 403}
    expect_equal(refused, set(), "rights that are missing")
    granted = set().union(*(rights_of(item["rules"]) for item in manifests if item["kind"] in ("ClusterRole", "Role")))
    used = {right_used(event) for event in requests}
    # Permissions for devices are used in devices.py, those for candidates in coordinated.py.
    idle = {right for right in granted - used
            if right[0] != "resource.k8s.io" and right[1] not in ("pods/finalizers", "leasecandidates")}
    expect_equal({right for right in idle if right[2] not in FALLBACKS}, set(), "rights that nothing used")
    for right in {right for right in idle if right[2] in FALLBACKS}:
        group, resource, _ = right
        expect((group, resource, "watch") in used, f"{right} is no fallback: nothing watched {resource}")
    # Granted by the binding to extension-apiserver-authentication-reader, and by nothing else.
    beyond = used - granted
    expect(beyond <= {("", "configmaps", "get")}, f"rights that come from elsewhere: {beyond}")
