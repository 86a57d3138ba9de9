"""Scheduling gates."""

from scenario import condition, expect, scenario

MESSAGE = "Scheduling is blocked due to non-empty scheduling gates"


@scenario("a gated pod is not scheduled until its last gate is removed, and then at once")
def gated_until_last_gate_is_gone(t):
    t.node("n1")
    t.start_scheduler()
    t.pod("held", schedulingGates=[{"name": "example.com/quota"}, {"name": "example.com/review"}])
    # The API server itself sets this condition when the pod is created.
    t.wait_pending("held", reason="SchedulingGated", message=MESSAGE)
    t.api.patch("Pod", "held", {"spec": {"schedulingGates": [{"name": "example.com/review"}]}}, t.namespace)
    t.stays("the second gate holds", lambda: condition(t.get_pod("held"))["reason"] == "SchedulingGated", 1)
    expect(not t.events("FailedScheduling", "held"), "a gated pod must not be reported as failed")
    t.api.patch("Pod", "held", {"spec": {"schedulingGates": None}}, t.namespace)
    t.wait_bound("held", on="n1", timeout=5)
