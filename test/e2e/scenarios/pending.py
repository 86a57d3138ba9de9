"""What is reported about a pending pod: the condition's message and the event's note, to the letter."""

import objects
from scenario import expect, expect_equal, no_fit, scenario

NO_HELP = "Preemption is not helpful for scheduling."


@scenario("the message of an unschedulable pod counts the nodes by reason; condition and event have the same text")
def exact_pending_texts(t):
    t.node("small", cpu="1", memory="1Gi", labels={"disk": "ssd"})
    t.node("tainted", taints=[objects.taint("dedicated", value="db")])
    t.node("cordoned", unschedulable=True)
    t.node("full", pods="1")
    t.start_scheduler()
    t.pod("holder", nodeName="full")
    t.eventually("the holder is known", lambda: t.get_pod("holder"))
    table = {
        "too-big": (
            dict(requests={"cpu": "2", "memory": "2Gi"}),
            no_fit(4, "1 Insufficient cpu, 1 Insufficient memory, 1 Too many pods, 1 node(s) had untolerated taint(s), "
                   "1 node(s) were unschedulable",
                   "0/4 nodes are available: 1 No preemption victims found for incoming pod, 3 " + NO_HELP)),
        "nowhere": (
            dict(nodeSelector={"disk": "tape"}),
            no_fit(4, "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't match Pod's "
                   "node affinity/selector", "0/4 nodes are available: 4 " + NO_HELP)),
        "friendless": (
            dict(nodeSelector={"disk": "ssd"}, affinity=objects.require_near({"app": "none"})),
            no_fit(4, "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod affinity rules, "
                   "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable",
                   "0/4 nodes are available: 4 " + NO_HELP)),
        "claimless": (
            dict(claims=["missing"]),
            # Not a mistake: DynamicResources has no data yet, says "not found", and no later plugin is called.
            '0/4 nodes are available: persistentvolumeclaim "missing" not found. not found'),
    }
    for name, (properties, message) in table.items():
        t.pod(name, **properties)
        told = t.wait_pending(name, message)
        event = t.wait_event("FailedScheduling", name, told["message"])
        expect_equal(event["type"], "Warning", "the event's type")
        expect_equal(event["action"], "Scheduling", "the event's action")
        expect_equal(event["reportingController"], "default-scheduler", "who reports it")


@scenario("without any node, the message says so")
def no_nodes_at_all(t):
    t.start_scheduler()
    t.pod("lonely")
    t.wait_pending("lonely", "no nodes available to schedule pods")
    t.wait_event("FailedScheduling", "lonely", "no nodes available to schedule pods")


@scenario("repeated events become one event with a series")
def alike_events_are_a_series(t):
    t.node("n1", cpu="4")
    scheduler = t.start_scheduler(podMaxBackoffSeconds=1)
    small = t.pods(4, {"cpu": "100m"}, prefix="small")
    t.wait_all_bound(small)
    t.pod("waits", {"cpu": "4"})
    t.wait_event("FailedScheduling", "waits")

    # Each of these frees room, though not enough, so the pod is tried again with the same result.
    for name in small[:3]:
        attempts = scheduler.metric("scheduler_schedule_attempts_total", result="unschedulable")
        t.delete_pod(name)
        t.eventually("the pod was tried again", lambda: scheduler.metric(
            "scheduler_schedule_attempts_total", result="unschedulable") > attempts)
    t.eventually("an event has a series",
                 lambda: any(event.get("series") for event in t.events("FailedScheduling", "waits")))
    # The first one refers to the pod before it had its condition, so there may be two; four attempts were made.
    found = t.events("FailedScheduling", "waits")
    expect(len(found) <= 2, f"{len(found)} events")
    # Further repetitions are written only every few minutes.
    expect_equal([event["series"]["count"] for event in found if event.get("series")], [2], "the count of the series")
