"""What is wrong is refused, with words that lead to the place."""

from scenario import expect, scenario


def refused(t, words, name, flags=(), **overrides):
    scheduler = t.scheduler(name, flags=flags, **overrides).start(wait_for=None)
    status = scheduler.process.wait(20)
    text = scheduler.process.log_text()
    expect(status != 0, f"{name}: it ended with status 0")
    for word in words:
        expect(word in text, f"{name}: {word!r} is not in what it said:\n{text[-1500:]}")


@scenario("a bad configuration is refused before anything is done: a status other than 0 and the field's name")
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


@scenario("--help works without a cluster and names the flags")
def help_ends_well(t):
    import subprocess
    done = subprocess.run([*t.program.argv, "--help"], capture_output=True, text=True, timeout=20)
    expect(done.returncode == 0, f"--help ended with {done.returncode}: {done.stderr[-300:]}")
    for flag in ("--config", "--leader-elect", "--secure-port", "--authentication-kubeconfig", "--feature-gates"):
        expect(flag in done.stdout, f"--help does not name {flag}")
