"""Extenders: HTTP services that take part in decisions."""

import threading

import objects
from extender import Extender, keep, node_names
from process import free_port
from scenario import expect, expect_equal, no_fit, scenario


def start(t, **answers):
    extender = Extender(**answers)
    t.on_close(extender.close)
    return extender


@scenario("an extender filters nodes, and its reason is in the pod's message")
def extender_filters(t):
    t.nodes(3)
    extender = start(t, filter=lambda question: keep(question, lambda name: name == "node-1", "not licensed"))
    t.start_scheduler(extenders=[{"urlPrefix": extender.url, "filterVerb": "filter"}])
    t.pod("allowed")
    t.wait_bound("allowed", on="node-1")
    question = extender.called("filter")[0]
    expect_equal(question["Pod"]["metadata"]["name"], "allowed", "the pod in the extender's question")
    expect_equal(sorted(node_names(question)), ["node-0", "node-1", "node-2"], "the nodes in it")
    t.pod("barred", nodeSelector={"kubernetes.io/hostname": "node-2"})
    t.wait_pending("barred", no_fit(
        3, "1 not licensed, 2 node(s) didn't match Pod's node affinity/selector",
        "0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for "
        "scheduling."))


@scenario("an extender's priorities, multiplied by its weight, outweigh the plugins'; one with a node cache gets only "
          "names")
def extender_prioritizes(t):
    t.nodes(5)
    def favour(question):
        return [{"Host": name, "Score": 10 if name == "node-3" else 0} for name in node_names(question)]
    extender = start(t, prioritize=favour)
    t.start_scheduler(extenders=[{"urlPrefix": extender.url, "prioritizeVerb": "prioritize", "weight": 100,
                                  "nodeCacheCapable": True}])
    for name in ("a", "b", "c"):
        t.pod(name, {"cpu": "500m"})
        t.wait_bound(name, on="node-3")
    question = extender.called("prioritize")[0]
    expect(question.get("NodeNames") and not question.get("Nodes"), "an extender with a cache is sent names, not nodes")


@scenario("an extender binds instead of the scheduler, only for pods that request its resource")
def extender_binds(t):
    t.nodes(2, extended={"example.com/widget": "4"})

    def bind(question):
        t.api.call("POST", f"/api/v1/namespaces/{question['PodNamespace']}/pods/{question['PodName']}/binding",
                   {"apiVersion": "v1", "kind": "Binding",
                    "metadata": {"name": question["PodName"], "uid": question["PodUID"]},
                    "target": {"apiVersion": "v1", "kind": "Node", "name": question["Node"]}})
        return {}

    extender = start(t, bind=bind)
    t.start_scheduler(extenders=[{"urlPrefix": extender.url, "bindVerb": "bind",
                                  "managedResources": [{"name": "example.com/widget"}]}])
    t.pod("plain", {"cpu": "1"})
    widget = objects.pod("widget", {"example.com/widget": "1"})
    widget["spec"]["containers"][0]["resources"]["limits"] = {"example.com/widget": "1"}
    t.add(widget)
    t.wait_all_bound(["plain", "widget"])
    expect_equal([question["PodName"] for question in extender.called("bind")], ["widget"], "pods the extender bound")


def change_then_reject(t):
    """An extender's filter that changes the pod it is asked about: the scheduler decides on an outdated version."""
    def answer(question):
        t.api.patch("Pod", question["Pod"]["metadata"]["name"], {"metadata": {"labels": {"changed": "yes"}}}, t.namespace)
        return keep(question, lambda name: False, "not licensed")
    return answer


@scenario("a pod that changes while it is being scheduled gets its reason, and keeps the change")
def pod_changes_while_it_is_scheduled(t):
    t.node("n1")
    extender = start(t, filter=change_then_reject(t))
    t.start_scheduler(extenders=[{"urlPrefix": extender.url, "filterVerb": "filter"}])
    t.pod("changing")
    told = t.wait_pending("changing")
    expect("not licensed" in told["message"], f"the message has the extender's reason: {told['message']}")
    expect_equal(t.get_pod("changing")["metadata"]["labels"].get("changed"), "yes", "the label set in between")


@scenario("an extender that is down blocks its pods, unless it is ignorable; when it is back, they are scheduled")
def extender_down(t):
    t.nodes(2)
    dead = f"http://127.0.0.1:{free_port()}"
    profile_free = [{"urlPrefix": dead, "filterVerb": "filter", "ignorable": True}]
    lenient = t.start_scheduler(extenders=profile_free)
    t.pod("lenient")
    t.wait_bound("lenient")
    lenient.stop()

    strict = t.start_scheduler(extenders=[{"urlPrefix": dead, "filterVerb": "filter"}], podMaxBackoffSeconds=2)
    t.pod("strict")
    told = t.wait_pending("strict", reason="SchedulerError")
    expect("connect" in told["message"].lower(), f"the message tells what is wrong: {told['message']}")
    t.wait_event("FailedScheduling", "strict")
    strict.stop()

    extender = start(t, filter=lambda question: keep(question, lambda name: True))
    t.start_scheduler(extenders=[{"urlPrefix": extender.url, "filterVerb": "filter"}])
    t.wait_bound("strict")


@scenario("an extender that does not answer delays only its own pods, and the scheduler no longer than its timeout")
def extender_hangs(t):
    t.nodes(2, extended={"example.com/widget": "4"})
    over = threading.Event()
    t.on_close(over.set)

    def hang(question):
        over.wait(60)
        return keep(question, lambda name: True)

    extender = start(t, filter=hang)
    scheduler = t.start_scheduler(podMaxBackoffSeconds=2, extenders=[
        {"urlPrefix": extender.url, "filterVerb": "filter", "httpTimeout": "1s",
         "managedResources": [{"name": "example.com/widget"}]}])
    stuck = objects.pod("stuck", {"example.com/widget": "1"})
    stuck["spec"]["containers"][0]["resources"]["limits"] = {"example.com/widget": "1"}
    t.add(stuck)
    t.wait_pending("stuck", reason="SchedulerError")
    names = t.pods(20, {"cpu": "100m"})
    t.wait_all_bound(names)
    if t.program.kind == "berth":
        duration = "scheduler_berth_extender_duration_seconds"
        calls = scheduler.metric(f"{duration}_count", verb="filter", result="error")
        seconds = scheduler.metric(f"{duration}_sum", verb="filter", result="error")
        expect(calls >= 1 and seconds >= 0.9 * calls, f"{calls} calls without an answer took {seconds} s")
    over.set()
    t.wait_bound("stuck")
