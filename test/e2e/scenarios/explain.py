"""What the scheduler reports about itself: /debug/berth/, berth explain --live, annotations."""

import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import socket
import subprocess
import urllib.error
import urllib.request

import objects
from api import path
from process import SCALE, Process
from scenario import expect, expect_equal, scenario
from scenarios.serving import token
from scenarios.snapshots import berth

PROJECT = pathlib.Path(__file__).resolve().parents[3]
READER = PROJECT / "deploy" / "second-scheduler" / "reader.yaml"
SIMULATOR = "kube-scheduler-simulator.sigs.k8s.io/"


def load_schema_check():
    """test/planner's validator for the published schemas."""
    loader = importlib.machinery.SourceFileLoader("planner_test", str(PROJECT / "test" / "planner" / "planner_test"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("planner_test", loader))
    loader.exec_module(module)
    return module.schema_problems


def expect_schema(text, kind):
    document = json.loads(text)
    expect_equal(document["kind"], kind, "kind")
    schema = json.loads((PROJECT / "docs" / "schemas" / "live" / f"{kind}.json").read_text())
    expect_equal(list(load_schema_check()(document, schema, schema)), [], f"what is against the schema of {kind}")
    return document


def page(scheduler, target, kind):
    status, text = scheduler.get(target, as_admin=True)
    expect_equal(status, 200, f"{target}\n{text}")
    return expect_schema(text, kind)


@scenario("the debug pages show why a pod is pending or where it is (queue, decisions, nodes, explanations) to "
          "authorized users", only="berth")
def debug_pages(t):
    t.node("n1", cpu="2", labels={"disk": "hdd"})
    t.node("n2", cpu="1")
    scheduler = t.start_scheduler()
    t.pod("web", {"cpu": "1500m"})
    t.wait_bound("web", on="n1")
    t.pod("db", {"cpu": "2"}, nodeSelector={"disk": "ssd"})
    t.wait_pending("db")
    t.pod("held", schedulingGates=[{"name": "example.com/wait"}])
    explain = f"/debug/berth/pods/{t.namespace}/db/explain"
    for target in (explain, "/debug/berth/queue", "/debug/berth/decisions", "/debug/berth/nodes", "/debug/berth/"):
        expect_equal(scheduler.get(target)[0], 403, f"{target} for anonymous")
    expect_equal(scheduler.get(explain, token=token(t, "nobody"))[0], 403, f"{explain} without a right")

    told = page(scheduler, explain, "PodExplanation")
    expect_equal(told["place"], "Unschedulable", "where it is")
    expect_equal(told["attempts"][0]["reasons"][0]["reason"], "node(s) didn't match Pod's node affinity/selector",
                 "the most frequent reason")
    expect_equal(told["now"]["nodes"], 2, "nodes")
    expect("NodeAdd" in next(entry["events"] for entry in told["wakeUps"] if entry["plugin"] == "NodeAffinity"),
           f"what would wake it: {told['wakeUps']}")
    placed = page(scheduler, f"/debug/berth/pods/{t.namespace}/web/explain", "PodExplanation")
    expect_equal((placed["place"], placed["node"]), ("Placed", "n1"), "where web is")
    expect_equal(placed["now"]["feasibleNodes"], 1, "nodes on which web would fit, were it placed again")

    def held_is_gated():
        lanes = {lane["lane"]: lane for lane in page(scheduler, "/debug/berth/queue", "SchedulingQueue")["lanes"]}
        return ([pod["pod"] for pod in lanes["Unschedulable"]["pods"]] == [f"{t.namespace}/db"] and
                [pod["gatedBy"] for pod in lanes["Gated"]["pods"]] == ["SchedulingGates"])
    t.eventually("the queue has one pod asleep and one gated", held_is_gated)
    bound = page(scheduler, "/debug/berth/decisions?outcome=Bound", "SchedulingDecisions")["attempts"]
    expect_equal([(attempt["pod"], attempt["node"]) for attempt in bound], [(f"{t.namespace}/web", "n1")], "bound")
    nodes = page(scheduler, "/debug/berth/nodes", "SchedulingNodes")["nodes"]
    expect_equal([node["node"] for node in nodes], ["n1", "n2"], "nodes")
    expect_equal(nodes[0]["resources"][0], {"resource": "cpu", "requested": "1500m", "allocatable": "2",
                                            "share": 0.75}, "cpu of n1")
    for target, status in ((f"/debug/berth/pods/{t.namespace}/nobody/explain", 404), ("/debug/berth/queue?limit=x", 400),
                           ("/debug/berth/nothing", 404)):
        found, text = scheduler.get(target, as_admin=True)
        expect_equal(found, status, f"{target}\n{text}")
        expect_equal(json.loads(text)["kind"], "Problems", target)


def own_address():
    """An address of this machine that a pod may have: the API server does not proxy requests to loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address = probe.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith("127.") else address


def add_scheduler_pod(t, name, address, port):
    """Represents the pod that the scheduler runs in."""
    pod = objects.pod(name, labels={"app.kubernetes.io/name": "berth"}, nodeName="control-plane")
    pod["metadata"]["namespace"] = "kube-system"
    pod["spec"]["containers"][0]["args"] = [f"--secure-port={port}"]
    t.api.create(pod)
    t.on_close(lambda: t.api.delete("Pod", name, "kube-system", grace=0))
    t.api.call("PATCH", path("Pod", "kube-system", name, "status"),
               {"status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}},
               "application/merge-patch+json")


@scenario("berth explain --live asks the leader through the API server, with a token for the scheduler only",
          only="berth")
def explain_live(t):
    address = own_address()
    t.control_plane.kubectl("create", f"-f={READER}")
    t.on_close(lambda: t.control_plane.kubectl("delete", "--ignore-not-found", f"-f={READER}"))
    t.node("n1", cpu="1")
    scheduler = t.start_scheduler(flags=("-v=2", "--bind-address=0.0.0.0"),
                                  leaderElection={"leaderElect": True, "resourceName": "kube-scheduler",
                                                  "resourceNamespace": "kube-system"})
    t.pod("db", {"cpu": "2"})
    t.wait_pending("db")
    t.pod("web", {"cpu": "500m"})
    t.wait_bound("web")
    admin = t.control_plane.kubeconfig("live.kubeconfig", pair=t.control_plane.admin)
    live = ("explain", "--live", f"--kubeconfig={admin}")
    holder = t.api.get("Lease", "kube-scheduler", "kube-system")["spec"]["holderIdentity"]

    _, told = berth(t, *live, f"{t.namespace}/db", wanted=1)
    expect(f"no scheduler pod found for the leader {holder}" in told, told)
    _, told = berth(t, *live, f"{t.namespace}/nobody", wanted=1)
    expect("cannot read pod" in told and "not found" in told, told)

    # At its own address, with a token for the API server, like any client of /metrics.
    t.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                  "metadata": {"name": "e2e-reads"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
                                                                 "kind": "ClusterRole", "name": "berth-reader"},
                  "subjects": [{"kind": "ServiceAccount", "name": "monitor", "namespace": t.namespace}]})
    t.on_close(lambda: t.api.delete("ClusterRoleBinding", "e2e-reads"))
    token_file = t.folder / "token"
    token_file.write_text(token(t, "monitor"))
    at_address = ("explain", "--live", f"--server-url=https://127.0.0.1:{scheduler.port}",
                  "--insecure-skip-tls-verify", f"--token-file={token_file}")

    def is_told():
        ran = subprocess.run([t.options.berth, *at_address, f"{t.namespace}/db"], capture_output=True, text=True,
                             timeout=60 * SCALE)
        return ran.returncode == 2 and "is unschedulable" in ran.stdout and "Insufficient cpu" in ran.stdout
    t.eventually("the scheduler answers at its address", is_told, 20)
    _, told = berth(t, *at_address, f"{t.namespace}/nobody", wanted=1)
    expect("knows no pod" in told, told)
    if address is None:
        return

    add_scheduler_pod(t, holder.rpartition("_")[0], address, scheduler.port)
    text, _ = berth(t, *live, f"{t.namespace}/db", wanted=2)
    expect("is unschedulable" in text and "Would fit with" in text, text)
    text, _ = berth(t, *live, "-n", t.namespace, "web", "-o", "json", wanted=0)
    expect_equal(expect_schema(text, "PodExplanation")["node"], "n1", "where web is")
    _, told = berth(t, *live, "--reader=nobody", f"{t.namespace}/db", wanted=1)
    expect("no token of service account kube-system/nobody" in told, told)
    t.api.delete("ClusterRoleBinding", "berth-reader")

    def is_refused():
        ran = subprocess.run([t.options.berth, *live, f"{t.namespace}/db"], capture_output=True, text=True,
                             timeout=60 * SCALE)
        return ran.returncode == 1 and "berth-reader" in ran.stderr and "cannot get path" in ran.stderr
    t.eventually("without the right, the sentence says who lacks it", is_refused, 30)


@scenario("--annotate-results writes the plugins' results as kube-scheduler-simulator does", only="berth")
def annotated_results(t):
    t.node("n1", cpu="2")
    t.node("n2", cpu="4")
    t.node("n3", cpu="500m")
    t.start_scheduler(flags=("-v=2", "--annotate-results"))
    t.pod("web", {"cpu": "1"})
    node = t.wait_bound("web")["spec"]["nodeName"]

    def annotations():
        found = t.get_pod("web")["metadata"].get("annotations", {})
        return found if SIMULATOR + "selected-node" in found else None
    found = t.eventually("web is annotated", annotations)
    expect_equal(found[SIMULATOR + "selected-node"], node, "selected-node")
    filters = json.loads(found[SIMULATOR + "filter-result"])
    expect_equal(filters["n1"]["NodeResourcesFit"], "passed", "a filter of n1")
    expect_equal(filters["n3"]["NodeResourcesFit"], "Insufficient cpu", "a filter of n3")
    finals = json.loads(found[SIMULATOR + "finalscore-result"])
    raws = json.loads(found[SIMULATOR + "score-result"])
    expect_equal(sorted(finals), ["n1", "n2"], "nodes with scores")
    expect_equal(sorted(raws["n1"]), sorted(finals["n1"]), "plugins with scores")
    totals = {name: sum(map(int, scores.values())) for name, scores in finals.items()}
    expect_equal(max(totals, key=totals.get), node, f"the node with the highest total of {totals}")


@scenario("the console of a running scheduler works in a browser", only="berth")
def console_in_a_browser(t):
    pages = PROJECT / "test" / "page"
    if not (pages / "node_modules" / "playwright-core").exists() or not shutil.which("chromium"):
        return  # scripts/install-deps --page installs them
    t.nodes(3, cpu="2")
    scheduler = t.start_scheduler()
    t.wait_all_bound(t.pods(3, {"cpu": "1"}))
    t.pod("db", {"cpu": "4"})
    t.wait_pending("db")
    admin = t.control_plane.admin
    ran = subprocess.run(["node", pages / "console_live.mjs", f"https://127.0.0.1:{scheduler.port}/debug/berth/console",
                          admin.certificate, admin.key, f"#pod={t.namespace}/db", t.folder / "console.png"],
                         capture_output=True, text=True, timeout=120 * SCALE)
    expect_equal(ran.returncode, 0, ran.stderr)
    shown = json.loads(ran.stdout)
    expect_equal(shown["problems"], [], "errors of the page")
    expect_equal(shown["connection"], ["Live: changes are shown as they happen."], "its connection")
    expect_equal(shown["tiles"], 3, "nodes")
    expect(any(f"{t.namespace}/db" in lane and lane.startswith("Unschedulable") for lane in shown["lanes"]),
           f"the lanes of the queue are {shown['lanes']}")
    expect_equal(len(shown["decisions"]), 4, f"decisions\n{shown['decisions']}")
    expect("3 Insufficient cpu" in " ".join(shown["pod"]), f"the pod is told as {shown['pod']}")


def console(t, name, *arguments):
    """Starts berth with these arguments; returns it with the address that it prints."""
    process = Process(name, [t.options.berth, *arguments], t.folder / f"{name}.log").start()
    t.on_close(process.stop)

    def address():
        lines = (t.folder / f"{name}.log").read_text().split()
        return next((word for word in lines if word.startswith("http://127.0.0.1:")), None)
    return process, t.eventually("the address of the console is printed", address, 30)


def fetch(url, host=None):
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=30 * SCALE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def first_event(url):
    """The first event of a stream."""
    with urllib.request.urlopen(url, timeout=30 * SCALE) as stream:
        for line in stream:
            if line.startswith(b"data: "):
                return json.loads(line[6:])
    raise AssertionError("the stream ended without an event")


def reader(t, name, rules):
    """A kubeconfig of a user with these permissions."""
    if rules:
        t.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
                      "rules": rules})
        t.on_close(lambda: t.api.delete("ClusterRole", name))
        t.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                      "metadata": {"name": name},
                      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
                      "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": t.namespace}]})
        t.on_close(lambda: t.api.delete("ClusterRoleBinding", name))
    return t.control_plane.kubeconfig(f"{name}.kubeconfig", token=token(t, name))


@scenario("berth console shows a cluster through its API, whichever scheduler runs there, and only reads")
def console_of_a_cluster(t):
    t.nodes(3, cpu="2")
    t.start_scheduler()
    t.wait_all_bound(t.pods(3, {"cpu": "1"}, prefix="early"))
    t.pod("db", {"cpu": "4"})
    t.wait_pending("db")
    kubeconfig = reader(t, "e2e-console", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}])
    process, address = console(t, "console", "console", f"--kubeconfig={kubeconfig}")
    base = address.rpartition("/")[0]
    t.eventually("the cluster has been read", lambda: fetch(f"{base}/queue")[0] == 200, 30)

    def lane(name):
        queue = json.loads(fetch(f"{base}/queue?limit=5000")[1])
        return [pod["pod"] for lane in queue["lanes"] if lane["lane"] == name for pod in lane["pods"]]
    expect(f"{t.namespace}/db" in lane("Unschedulable"), f"unschedulable: {lane('Unschedulable')}")
    told = expect_schema(fetch(f"{base}/pods/{t.namespace}/db/explain")[1], "PodExplanation")
    expect("3 Insufficient cpu" in told["attempts"][0]["message"], f"what the scheduler said: {told['attempts']}")
    expect_equal(told["now"]["feasibleNodes"], 0, "nodes that berth finds feasible")
    expect_equal(told["now"]["reasons"][0]["plugin"], "NodeResourcesFit", "who rejects it for berth")
    t.pod("late", {"cpu": "1"})
    node = t.wait_bound("late")["spec"]["nodeName"]

    def decision():
        found = json.loads(fetch(f"{base}/decisions?pod=late")[1])["attempts"]
        return found and found[0]
    seen = t.eventually("the binding is seen", decision)
    expect_equal((seen["outcome"], seen["node"]), ("Bound", node), "the decision")
    expect("seen through its API" in first_event(f"{base}/events")["about"], "what it says it shows")

    expect_equal(fetch(f"{address.rpartition('/')[0][:-4]}zzzz/queue")[0], 403, "without the token")
    expect_equal(fetch(f"{base}/queue", host="rebound.example")[0], 403, "for another host")
    verbs = {event["verb"] for event in t.audit.requests_of(f"system:serviceaccount:{t.namespace}:e2e-console", t.mark)}
    expect(verbs and verbs <= {"get", "list", "watch"}, f"what it asked of the API server: {verbs}")
    show_in_browser(t, address, f"#pod={t.namespace}/db", "Insufficient cpu")
    process.stop()
    expect_equal(process.exit_status, 0, "its exit status")

    nobody = reader(t, "e2e-nobody", None)
    _, told = berth(t, "console", f"--kubeconfig={nobody}", wanted=1)
    expect("does not show" in told and "rights to list and watch" in told, f"without rights: {told}")


def show_in_browser(t, address, fragment, wanted):
    pages = PROJECT / "test" / "page"
    if not (pages / "node_modules" / "playwright-core").exists() or not shutil.which("chromium"):
        return  # scripts/install-deps --page installs them
    ran = subprocess.run(["node", pages / "console_live.mjs", address, "", "", fragment, t.folder / "console.png"],
                         capture_output=True, text=True, timeout=120 * SCALE)
    expect_equal(ran.returncode, 0, ran.stderr)
    shown = json.loads(ran.stdout)
    expect_equal(shown["problems"], [], "errors of the page")
    expect_equal(shown["connection"], ["Live: changes are shown as they happen."], "its connection")
    expect(wanted in " ".join(shown["pod"]), f"the pod is told as {shown['pod']}")


@scenario("berth replay --console shows a recording in the console", only="berth")
def replay_in_the_console(t):
    folder = t.folder / "recording"
    scheduler = t.start_scheduler(flags=("-v=2", f"--record={folder}"))
    t.nodes(2, cpu="2")
    t.wait_all_bound(t.pods(3, {"cpu": "1"}))
    t.pod("db", {"cpu": "4"})
    t.wait_pending("db")
    scheduler.process.stop()
    process, address = console(t, "watch", "replay", folder, "--console", "--speed", "1000")
    base = address.rpartition("/")[0]

    def is_over():
        status, text = fetch(f"{base}/queue")
        return status == 200 and "its end" in first_event(f"{base}/events").get("about", "") and json.loads(text)
    queue = t.eventually("the recording has been shown to its end", is_over, 60)
    lanes = {lane["lane"]: [pod["pod"] for pod in lane["pods"]] for lane in queue["lanes"]}
    expect(f"{t.namespace}/db" in lanes["Unschedulable"], f"the queue of then: {lanes}")
    outcomes = [one["outcome"] for one in json.loads(fetch(f"{base}/decisions")[1])["attempts"]]
    expect_equal(outcomes.count("Bound"), 3, f"decisions: {outcomes}")
    show_in_browser(t, address, f"#pod={t.namespace}/db", "Insufficient cpu")
    process.stop()
    expect_equal(process.exit_status, 0, "its exit status")
