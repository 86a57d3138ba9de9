"""berth shadow and berth record beside upstream's kube-scheduler: comparing its decisions without writing."""

import json
import pathlib
import random
import signal
import subprocess
import time

import objects
from api import ApiError, path
from control_plane import SHADOW_USER
from process import SCALE, Failed, Process, eventually
from scenario import expect, expect_equal, scenario
from scenarios.deployment import documents, right_used, rights_of
from scenarios.explain import expect_schema
from scenarios.recording import now
from scenarios.volumes import play_volume_controller
from scheduler import Program, Scheduler

RIGHTS = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "shadow" / "rbac.yaml"
BATCH = 50  # pods that are created at once, over several connections
ZONE = "topology.kubernetes.io/zone"


def shadow_identity(t):
    """A kubeconfig with exactly the permissions of deploy/shadow, and those permissions."""
    rights = documents(t.control_plane.kubectl("create", "--dry-run=client", "-o=json", f"-f={RIGHTS}"))
    t.control_plane.kubectl("create", f"-f={RIGHTS}")
    t.on_close(lambda: t.control_plane.kubectl("delete", "--ignore-not-found", f"-f={RIGHTS}"))
    token = t.api.call("POST", path("ServiceAccount", "kube-system", "berth-shadow", "token"),
                       {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                        "spec": {"expirationSeconds": 7200}})["status"]["token"]
    granted = set().union(*(rights_of(item["rules"]) for item in rights if item["kind"] == "ClusterRole"))
    return t.control_plane.kubeconfig("shadow.kubeconfig", token=token), granted


def upstream(t, **overrides):
    """kube-scheduler, whichever scheduler the other scenarios run."""
    program = Program("upstream", t.control_plane.binaries / "kube-scheduler")
    made = Scheduler(program, t.control_plane, t.folder, "kube-scheduler", **overrides)
    t.schedulers.append(made)
    return made.start()


class Beside:
    """A verb of berth that follows the cluster until it is told to stop."""

    def __init__(self, t, name, *arguments, begun):
        self.process = Process(name, [t.options.berth, *arguments], t.folder / f"{name}.log")
        self.process.start()
        t.on_close(self.process.kill)
        eventually(f"berth {name} follows the cluster", lambda: self._begun(begun), timeout=30)

    def _begun(self, word):
        if not self.process.running:
            raise Failed(f"it ended with status {self.process.exit_status}: {self.process.log_text()}")
        return word in self.process.log_text()

    def end(self, wanted=0):
        self.process.signal(signal.SIGTERM)
        status = self.process.wait(300)
        expect_equal(status, wanted, f"status of berth {self.process.name}\n{self.process.log_text()[-3000:]}")
        return self.process.log_text()


def run(t, *arguments, wanted=0):
    ran = subprocess.run([t.options.berth, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=300 * SCALE)
    expect_equal(ran.returncode, wanted, f"status of berth {' '.join(map(str, arguments))}\n{ran.stdout}\n{ran.stderr}")
    return ran.stdout + ran.stderr


def make_nodes(t, count, chance):
    for index in range(count):
        t.node(f"node-{index}", cpu=str(chance.choice((4, 8, 16))), memory=f"{chance.choice((16, 32, 64))}Gi",
               labels={ZONE: f"zone-{index % 3}", "disk": chance.choice(("ssd", "hdd"))},
               taints=[objects.taint("dedicated")] if index % 10 == 0 else ())


def prepare_volumes(t, count, nodes):
    t.add(objects.storage_class("local"))
    t.add(objects.storage_class("dynamic", provisioner="example.com/disks"))
    for index in range(count):
        if index % 2 == 0:
            t.add_volume(objects.volume(f"disk-{index}", "local", on_node=f"node-{1 + index % (nodes - 1)}"))
        t.add(objects.claim(f"claim-{index}", "local" if index % 2 == 0 else "dynamic"))
    play_volume_controller(t, provisioner="example.com/disks")


def mixed_pod(index, chance, claims):
    app = f"app-{chance.randrange(12)}"
    requests = {"cpu": f"{chance.randrange(1, 10) * 50}m", "memory": f"{chance.randrange(1, 10) * 64}Mi"}
    spec = {"terminationGracePeriodSeconds": 0}
    kind = chance.randrange(10)
    if kind == 0:
        spec["topologySpreadConstraints"] = [objects.spread({"app": app}, ZONE, max_skew=3)]
    elif kind == 1:
        spec["topologySpreadConstraints"] = [
            objects.spread({"app": app}, "kubernetes.io/hostname", max_skew=2, otherwise="ScheduleAnyway")]
    elif kind == 2:
        spec["affinity"] = objects.require_apart({"app": app})
    elif kind == 3:
        spec["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 50, "podAffinityTerm": objects.pod_term({"app": app}, ZONE)}]}}
    elif kind == 4:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    elif kind == 5:
        spec["nodeSelector"] = {"disk": "ssd"}
    elif kind == 6:
        spec["priorityClassName"] = chance.choice(("e2e-low", "e2e-high"))
    elif kind == 7 and claims:
        return objects.pod(f"pod-{index}", requests, labels={"app": app}, claims=[claims.pop()], **spec)
    elif kind == 8 and chance.randrange(6) == 0:
        requests["cpu"] = "64"  # fits nowhere
    return objects.pod(f"pod-{index}", requests, labels={"app": app}, **spec)


def mixed_work(t, nodes, pods, seed=18):
    """Pods of many kinds, as fast as they can be created; some are deleted and nodes change meanwhile."""
    chance = random.Random(seed)
    make_nodes(t, nodes, chance)
    t.add(objects.priority_class("e2e-low", 10))
    t.add(objects.priority_class("e2e-high", 1000))
    claims = [f"claim-{index}" for index in range(min(pods // 10, 100))]
    prepare_volumes(t, len(claims), nodes)
    t.unserved.update(f"pod-{index}" for index in range(pods))  # some wait for a volume or fit nowhere
    yield  # the schedulers are started here
    for start in range(0, pods, BATCH):
        batch = [mixed_pod(index, chance, claims) for index in range(start, min(start + BATCH, pods))]
        names = [pod["metadata"]["name"] for pod in batch]
        t.created.update(names)
        t.api.create_many("Pod", (json.dumps(pod).encode() for pod in batch), t.namespace)
        for name in chance.sample(names, len(names) // 25):
            delete_quietly(t, name)
        if start // BATCH % 2:
            name = f"node-{chance.randrange(nodes)}"
            t.api.patch("Node", name, {"metadata": {"labels": {"disk": chance.choice(("ssd", "hdd"))}}})
    yield
    eventually("the scheduler has looked at every pod", lambda: all_answered(t), timeout=120 + pods / 5, every=1)


def delete_quietly(t, name):
    t.deleted.add(name)
    try:
        t.api.delete("Pod", name, t.namespace, grace=0)
    except ApiError as error:
        if error.status != 404:
            raise


def all_answered(t):
    waiting = [name for name, pod in t.pods_by_name().items()
               if not pod["spec"].get("nodeName")
               and not any(found["type"] == "PodScheduled" for found in pod["status"].get("conditions", ()))]
    if waiting:
        raise Failed(f"{len(waiting)} pods wait, such as {waiting[0]}")
    return True


def summary_of(report):
    document = expect_schema(report.read_text(), "ShadowReport")
    return document, document["summary"]


def check_audit(t, granted):
    requests = [event for event in t.audit.requests_of(SHADOW_USER, t.mark) if "objectRef" in event]
    expect(requests, "the audit log knows nothing of the shadow")
    expect_equal({event["verb"] for event in requests} - {"list", "watch"}, set(), "verbs besides reading")
    refused = {right_used(event) for event in requests if event.get("responseStatus", {}).get("code") == 403}
    expect_equal(refused, set(), "rights that are missing")
    used = {right_used(event) for event in requests}
    expect_equal(used - granted, set(), "rights that come from elsewhere")
    idle = {right[:2] for right in granted} - {right[:2] for right in used}
    expect(idle <= {("resource.k8s.io", "devicetaintrules")}, f"rights that nothing used: {idle}")


@scenario("a shadow of kube-scheduler agrees or names the race, and writes nothing", only="berth")
def shadow_of_kube_scheduler(t):
    identity, granted = shadow_identity(t)
    pods = t.options.shadow_pods
    work = mixed_work(t, nodes=60, pods=pods)
    next(work)
    scheduler = upstream(t, percentageOfNodesToScore=100)
    report, page = t.folder / "report.json", t.folder / "report.html"
    shadow = Beside(t, "shadow", "shadow", f"--kubeconfig={identity}", f"--config={scheduler.configuration_file}",
                    f"--report={report}", f"--report={page}", f"--report={t.folder / 'report.md'}",
                    f"--metrics-file={t.folder / 'shadow.prom'}", begun="Following")
    next(work)
    next(work, None)
    told = shadow.end()
    document, summary = summary_of(report)
    expect(summary["compared"] >= pods * 0.9, f"too few were compared: {summary}")
    expect_equal((summary["infeasible"], summary["placeable"]), (0, 0), f"findings in\n{told[-4000:]}")
    agreed = summary["agreed"] + summary["raced"]
    expect(agreed >= 0.99 * summary["compared"], f"{agreed} of {summary['compared']} agreed or raced\n{told[-4000:]}")
    nameless = [item for item in document["differences"] if item["verdict"] == "raced" and not item["events"]]
    expect_equal(nameless, [], "races without a name")
    expect("<script" not in page.read_text(), "a script in the page")
    expect('berth_shadow_comparisons_total{verdict="agreed"}' in (t.folder / "shadow.prom").read_text(), "metrics")
    check_audit(t, granted)
    print(f"        shadow of {pods} pods: {summary}", flush=True)


@scenario("if kube-scheduler samples nodes, the shadow reports that as the likely cause", only="berth")
def shadow_names_sampling(t):
    identity, _ = shadow_identity(t)
    t.nodes(199, cpu="16")
    t.node("fast", cpu="16", labels={"disk": "nvme"})
    wish = {"weight": 100, "preference": {"matchExpressions": [
        {"key": "disk", "operator": "In", "values": ["nvme"]}]}}
    scheduler = upstream(t)
    report = t.folder / "report.json"
    shadow = Beside(t, "shadow", "shadow", f"--kubeconfig={identity}", f"--config={scheduler.configuration_file}",
                    f"--report={report}", begun="Following")
    # Every pod prefers one node, and 100 of 200 nodes are evaluated for each.
    t.wait_all_bound(t.pods(60, {"cpu": "10m"}, affinity={"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [wish]}}))
    time.sleep(1)
    told = shadow.end()
    _, summary = summary_of(report)
    expect_equal(summary["infeasible"], 0, f"findings in\n{told}")
    expect(summary["lowerBySampling"] > 0, f"nothing was sampled: {summary}")
    expect("Sampling is the likely cause" in told, f"the summary does not name it:\n{told}")


def bind(t, pod, node):
    t.api.call("POST", path("Pod", t.namespace, pod, "binding"),
               {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod},
                "target": {"apiVersion": "v1", "kind": "Node", "name": node}})


@scenario("infeasible and lower-scored placements are reported with their reasons and exit status 2", only="berth")
def shadow_finds_what_is_wrong(t):
    identity, _ = shadow_identity(t)
    t.node("full", cpu="1")
    t.node("tainted", cpu="8", taints=[objects.taint("dedicated")])
    t.node("good", cpu="8")
    report = t.folder / "report.json"
    shadow = Beside(t, "shadow", "shadow", f"--kubeconfig={identity}", f"--report={report}",
                    "--fail-on=infeasible,lower", begun="Following")
    t.pod("fine", {"cpu": "100m"})
    t.pod("wrong", {"cpu": "100m"})
    t.pod("worse", {"cpu": "900m"})
    time.sleep(2)
    bind(t, "fine", "good")
    bind(t, "wrong", "tainted")
    bind(t, "worse", "full")
    time.sleep(1)
    told = shadow.end(wanted=2)
    document, summary = summary_of(report)
    expect_equal((summary["agreed"], summary["infeasible"], summary["lower"]), (1, 1, 1), f"verdicts in\n{told}")
    wrong = next(item for item in document["differences"] if item["pod"].endswith("/wrong"))
    expect_equal(wrong["rejection"]["plugin"], "TaintToleration", f"who rejects it in {wrong}")
    worse = next(item for item in document["differences"] if item["pod"].endswith("/worse"))
    expect("NodeResourcesFit" in {gap["plugin"] for gap in worse["plugins"]}, f"plugins in {worse}")


def shadow_of_recording(t, folder, scheduler):
    report = t.folder / "recorded.json"
    run(t, "shadow", "--recording", folder, "--config", scheduler.configuration_file, "--report", report)
    return summary_of(report)[0]


@scenario("a cluster that kube-scheduler serves is recorded, then explained, replayed and compared", only="berth")
def recording_of_another_scheduler(t):
    identity, granted = shadow_identity(t)
    folder = t.folder / "recording"
    for index in range(4):
        t.node(f"n{index}", cpu="4", labels={ZONE: "ab"[index % 2]})
    scheduler = upstream(t, percentageOfNodesToScore=100)
    recording = Beside(t, "record", "record", folder, f"--kubeconfig={identity}", "--record-size=8Mi",
                       f"--config={scheduler.configuration_file}", begun="Recording")
    t.wait_all_bound(t.pods(30, {"cpu": "200m"}, labels={"app": "a"}))
    t.pod("huge", {"cpu": "64"})
    t.wait_pending("huge")
    time.sleep(1.2)
    then = now()
    time.sleep(1.2)
    recording.end()

    told = run(t, "replay", folder, "--at", then, "--explain", f"{t.namespace}/huge")
    expect("Insufficient cpu" in told and "64" in told, f"why in\n{told}")
    other = t.folder / "other.yaml"
    other.write_text(json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {
            "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}}]}]}))
    moved = json.loads(run(t, "replay", folder, "--config", other, "-o", "json", wanted=1))
    expect(any(pod["change"] == "Moved" for pod in moved["differences"]), f"who moves: {moved['differences']}")
    plain = run(t, "replay", folder, wanted=2)
    expect("nothing to compare" in plain and "another scheduler" in plain and "the same" not in plain,
           f"what a plain replay says\n{plain}")
    compared = shadow_of_recording(t, folder, scheduler)
    expect(compared["summary"]["compared"] >= 31, f"compared: {compared['summary']}")
    expect_equal(compared["summary"]["infeasible"], 0, f"findings in {compared}")
    check_audit(t, granted)


@scenario("without permissions, without a server or with an invalid configuration, shadow and record report it",
          only="berth")
def shadow_refusals(t):
    identity, _ = shadow_identity(t)
    t.api.patch("ClusterRole", "berth-shadow", {"rules": [
        {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list", "watch"]}]})
    for verb in (["shadow"], ["record", t.folder / "refused"]):
        told = run(t, *verb, f"--kubeconfig={identity}", wanted=1)
        expect("does not show" in told and "list and watch" in told and "forbidden" in told, f"without rights:\n{told}")
    nowhere = t.control_plane.kubeconfig("nowhere.kubeconfig", server="http://127.0.0.1:9")
    told = run(t, "shadow", f"--kubeconfig={nowhere}", wanted=1)
    expect("the cluster cannot be read" in told and "127.0.0.1:9" in told, f"without a server:\n{told}")
    bad = t.folder / "bad.yaml"
    bad.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: -1\n")
    expect("parallelism" in run(t, "shadow", f"--kubeconfig={identity}", f"--config={bad}", wanted=1), "bad config")
