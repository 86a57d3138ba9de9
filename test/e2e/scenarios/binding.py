"""The ordinary life of a pod: it is bound, and that is reported."""

import objects
from scenario import condition, expect, expect_equal, scenario


@scenario("a pod is bound, with a binding, a condition and an event")
def binds_with_condition_and_event(t):
    t.nodes(3)
    t.start_scheduler()
    t.pod("web", {"cpu": "500m", "memory": "128Mi"})
    pod = t.wait_bound("web", on=("node-0", "node-1", "node-2"))
    expect_equal(condition(pod)["status"], "True", "PodScheduled")
    event = t.wait_event("Scheduled", "web",
                         f"Successfully assigned {t.namespace}/web to {pod['spec']['nodeName']}")
    expect_equal(event["type"], "Normal", "the event's type")
    expect_equal(event["action"], "Binding", "the event's action")
    expect_equal(event["reportingController"], "default-scheduler", "who reports the event")
    expect_equal(event["regarding"]["uid"], pod["metadata"]["uid"], "the pod the event regards")
    expect(event["reportingInstance"].startswith("default-scheduler-"), f"instance {event['reportingInstance']}")


@scenario("a pod of another scheduler is ignored")
def leaves_other_schedulers_pods(t):
    t.node("n1")
    t.start_scheduler()
    t.unserved.add("foreign")
    t.pod("foreign", schedulerName="somebody-else")
    t.pod("ours")
    t.wait_bound("ours")
    t.stays("the foreign pod is untouched", lambda: condition(t.get_pod("foreign")) is None, seconds=1)


@scenario("pods without constraints are spread evenly over equal nodes")
def spreads_load_by_default(t):
    t.nodes(4)
    names = t.pods(20, {"cpu": "100m", "memory": "64Mi"})
    t.start_scheduler()
    pods = t.wait_all_bound(names)
    per_node = sorted(sum(pod["spec"]["nodeName"] == f"node-{n}" for pod in pods.values()) for n in range(4))
    expect_equal(per_node, [5, 5, 5, 5], "pods per node")


@scenario("of several pending pods, the one with the highest priority is scheduled first")
def highest_priority_first(t):
    t.add(objects.priority_class("e2e-urgent", 1000, policy="Never"))
    t.node("n1", cpu="1")
    t.pod("early", {"cpu": "1"})
    t.pod("urgent", {"cpu": "1"}, priorityClassName="e2e-urgent")
    t.start_scheduler()
    t.wait_bound("urgent", on="n1")
    t.wait_pending("early")
