"""Invalid configurations are rejected with a message that names the field; and what can be changed at run time."""

import json
import signal

import objects
from control_plane import SCHEDULER_USER
from scenario import expect, expect_equal, scenario


def refused(t, words, name, flags=(), **overrides):
    scheduler = t.scheduler(name, flags=flags, **overrides).start(wait_for=None)
    status = scheduler.process.wait(20)
    text = scheduler.process.log_text()
    expect(status != 0, f"{name}: it ended with status 0")
    for word in words:
        expect(word in text, f"{name}: {word!r} is not in what it said:\n{text[-1500:]}")


@scenario("an invalid configuration is rejected at startup, with an exit status other than 0 and the name of the field")
def bad_configuration_is_refused(t):
    t.node("n1")
    t.unserved.add("untouched")
    t.pod("untouched")
    refused(t, ["unheardOf"], "unknown-field", unheardOf=1)
    refused(t, ["kubescheduler.config.k8s.io/v9"], "unknown-version", apiVersion="kubescheduler.config.k8s.io/v9")
    refused(t, ["podMaxBackoffSeconds"], "backoff-upside-down", podInitialBackoffSeconds=10, podMaxBackoffSeconds=1)
    refused(t, ["percentageOfNodesToScore"], "percentage", percentageOfNodesToScore=101)
    refused(t, ["Unheard"], "unknown-plugin", profiles=[
        {"schedulerName": "default-scheduler", "plugins": {"filter": {"enabled": [{"name": "Unheard"}]}}}])
    refused(t, ["schedulerName"], "same-name-twice", profiles=[{"schedulerName": "a"}, {"schedulerName": "a"}])
    refused(t, ["hardPodAffinityWeight"], "plugin-argument", profiles=[{"pluginConfig": [
        {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 1000}}]}])
    refused(t, ["leaseDuration"], "election", leaderElection={
        "leaderElect": True, "leaseDuration": "1s", "renewDeadline": "10s", "retryPeriod": "2s"})
    refused(t, ["--unheard-of"], "unknown-flag", flags=["--unheard-of=1"])
    pod = t.get_pod("untouched")
    expect(not pod["spec"].get("nodeName") and not pod["status"].get("conditions"), "the pod was touched")


@scenario("--help works without a cluster and lists the flags")
def help_ends_well(t):
    import subprocess
    done = subprocess.run([*t.program.argv, "--help"], capture_output=True, text=True, timeout=20)
    expect(done.returncode == 0, f"--help ended with {done.returncode}: {done.stderr[-300:]}")
    for flag in ("--config", "--leader-elect", "--secure-port", "--authentication-kubeconfig", "--feature-gates"):
        expect(flag in done.stdout, f"--help does not name {flag}")


def write(scheduler, before, **changes):
    """The scheduler's configuration file as it was, with these fields changed."""
    scheduler.configuration_file.write_text(json.dumps({**before, **changes}, indent=2) + "\n")


@scenario("SIGHUP reloads the configuration: a pending pod is scheduled with the new one; an invalid one is reported "
          "and changes nothing", only="berth")
def configuration_is_reloaded(t):
    t.node("n1", cpu="4", taints=[objects.taint("example.com/reserved")])
    scheduler = t.start_scheduler()
    t.pod("waits", {"cpu": "1"})
    t.wait_pending("waits")
    without_taints = [{"schedulerName": "default-scheduler",
                       "plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}}]
    before = json.loads(scheduler.configuration_file.read_text())

    write(scheduler, before, profiles=without_taints, podMaxBackoffSeconds=-1)
    scheduler.process.signal(signal.SIGHUP)
    t.eventually("the bad file is counted",
                 lambda: scheduler.metric("berth_config_reloads_total", result="error") == 1)
    expect_equal(scheduler.metric("berth_config_last_reload_successful"), 0, "the gauge after a bad file")
    status, text = scheduler.get("/readyz?verbose", as_admin=True)
    expect(status == 200 and "podMaxBackoffSeconds" in text, f"/readyz?verbose does not tell: {status} {text}")
    t.eventually("an event tells", lambda: [event for event in t.api.list("Event", "kube-system")
                                            if event["reason"] == "ConfigurationRefused"])
    expect("podMaxBackoffSeconds" in scheduler.process.log_text(), "the log does not tell")
    expect(not t.get_pod("waits")["spec"].get("nodeName"), "the pod was scheduled by a file that was refused")

    # A field that takes effect only at startup is rejected by name.
    write(scheduler, before, leaderElection={"leaderElect": True})
    scheduler.process.signal(signal.SIGHUP)
    t.eventually("leader election is named", lambda: "leaderElection: cannot be changed while running" in
                 scheduler.get("/readyz?verbose", as_admin=True)[1])

    write(scheduler, before, profiles=without_taints)
    scheduler.process.signal(signal.SIGHUP)
    t.wait_bound("waits", on="n1")
    expect_equal(scheduler.metric("berth_config_reloads_total", result="success"), 1, "reloads")
    t.on_close(lambda: t.api.delete_all("Event", "kube-system"))


@scenario("--policy-configmap reads a Policy from the cluster at startup; without it, startup fails with upstream's "
          "message", only="berth")
def policy_from_a_config_map(t):
    rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["e2e-policy"], "verbs": ["get"]}
    t.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                  "metadata": {"name": "e2e-policy"}, "rules": [rule]})
    t.on_close(lambda: t.api.delete("ClusterRole", "e2e-policy"))
    t.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                  "metadata": {"name": "e2e-policy"},
                  "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "e2e-policy"},
                  "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": SCHEDULER_USER}]})
    t.on_close(lambda: t.api.delete("ClusterRoleBinding", "e2e-policy"))
    refused(t, ["couldn't get policy config map kube-system/e2e-policy"], "no-config-map",
            flags=["--policy-configmap=e2e-policy"])
    t.on_close(lambda: t.api.delete("ConfigMap", "e2e-policy", "kube-system"))
    t.api.create({"apiVersion": "v1", "kind": "ConfigMap",
                  "metadata": {"name": "e2e-policy", "namespace": "kube-system"}, "data": {"other": "{}"}})
    refused(t, ['missing policy config map value at key "policy.cfg"'], "no-key",
            flags=["--policy-configmap=e2e-policy"])
    policy = {"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "HostName"}], "priorities": []}
    t.api.patch("ConfigMap", "e2e-policy", {"data": {"policy.cfg": json.dumps(policy)}}, "kube-system")
    # Only the mandatory predicates check resources here.
    t.node("n1", cpu="1")
    t.start_scheduler(flags=["--policy-configmap=e2e-policy", "-v=2"])
    t.pod("named", nodeSelector={"anything": "goes"})
    t.wait_bound("named", on="n1")
