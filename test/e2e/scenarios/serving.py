"""The scheduler's own HTTPS endpoints."""

from api import path
from scenario import expect, expect_equal, scenario

READ_METRICS = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": "e2e-metrics"}, "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]}


def token(t, account):
    t.add({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}})
    answer = t.api.call("POST", path("ServiceAccount", t.namespace, account, "token"),
                        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    return answer["status"]["token"]


@scenario("health checks are open to everyone; metrics require authorization by the API server: 403, 401 or 200")
def metrics_need_authorization(t):
    t.node("n1")
    scheduler = t.start_scheduler()
    t.pod("web")
    t.wait_bound("web")
    for health in ("/healthz", "/livez", "/readyz"):
        expect_equal(scheduler.get(health), (200, "ok"), health)
    expect_equal(scheduler.get("/metrics")[0], 403, "/metrics for anonymous")
    expect_equal(scheduler.get("/metrics", token="nonsense")[0], 401, "/metrics with a token nobody gave out")
    expect_equal(scheduler.get("/metrics", token=token(t, "nobody"))[0], 403, "/metrics for an account without rights")

    t.api.create(READ_METRICS)
    t.on_close(lambda: t.api.delete("ClusterRole", "e2e-metrics"))
    t.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                  "metadata": {"name": "e2e-metrics"},
                  "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "e2e-metrics"},
                  "subjects": [{"kind": "ServiceAccount", "name": "monitor", "namespace": t.namespace}]})
    t.on_close(lambda: t.api.delete("ClusterRoleBinding", "e2e-metrics"))
    monitor = token(t, "monitor")
    t.eventually("/metrics for an account with the right",
                 lambda: scheduler.get("/metrics", token=monitor)[0] == 200, 20)
    expect_equal(scheduler.get("/configz", token=monitor)[0], 403, "/configz with a right to /metrics only")
    expect_equal(scheduler.get("/metrics", as_admin=True)[0], 200, "/metrics with the administrator's certificate")


@scenario("the metrics show the work done: attempts, pending pods, durations")
def metrics_tell(t):
    t.nodes(2, cpu="2")
    scheduler = t.start_scheduler()
    names = t.pods(4, {"cpu": "1"})
    t.wait_all_bound(names)
    t.pod("waits", {"cpu": "1"})
    t.wait_pending("waits")
    attempts = "scheduler_schedule_attempts_total"
    t.eventually("4 are scheduled",
                 lambda: scheduler.metric(attempts, result="scheduled", profile="default-scheduler") == 4)
    expect(scheduler.metric(attempts, result="unschedulable") >= 1, "no unschedulable attempt is counted")
    expect_equal(scheduler.metric("scheduler_pending_pods", queue="unschedulable"), 1, "pending pods")
    expect_equal(scheduler.metric("scheduler_pod_scheduling_attempts_count"), 4, "attempts histogram")
    durations = scheduler.metric("scheduler_scheduling_attempt_duration_seconds_count", result="scheduled")
    expect(durations >= 4, f"{durations} durations of attempts")
    status, text = scheduler.get("/metrics/resources", as_admin=True)
    expect_equal(status, 200, "/metrics/resources")
    expect("kube_pod_resource_request" in text, "no kube_pod_resource_request")
    status, text = scheduler.get("/configz", as_admin=True)
    expect(status == 200 and "kubescheduler.config.k8s.io" in text, f"/configz: {status} {text[:200]}")
    for target, checks in (("/readyz?verbose", ("shutdown", "sched-handler-sync")), ("/livez?verbose", ("ping",)),
                           ("/healthz?verbose", ("ping",))):
        status, text = scheduler.get(target, as_admin=True)
        expect_equal(status, 200, target)
        for check in checks:
            expect(f"[+]{check} ok" in text, f"{target} does not name {check}:\n{text}")
