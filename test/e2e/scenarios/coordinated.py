"""Leader election that the API server coordinates (feature gate CoordinatedLeaderElection): it elects one of the
candidates that have announced themselves, and writes its name into the lease."""

import datetime
import subprocess

from control_plane import SECOND_SCHEDULER_USER
from scenario import expect, expect_equal, scenario
from scenarios.deployment import SECOND_SCHEDULER, documents, right_used, rights_of, second_scheduler

GATE = "--feature-gates=CoordinatedLeaderElection=true"
SERVER_FLAGS = [GATE, "--runtime-config=coordination.k8s.io/v1beta1=true"]
CANDIDATES = "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates"
ELECTION = {"leaderElect": True, "leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s",
            "resourceLock": "leases", "resourceNamespace": "kube-system", "resourceName": "kube-scheduler"}


def coordinate(t):
    """Restarts the API server with the feature, and without it after the scenario. False, with a message, if this
    server does not have it."""
    server = t.control_plane.apiserver
    told = subprocess.run([server.argv[0], "--help"], capture_output=True, text=True, timeout=60).stdout
    if "CoordinatedLeaderElection=true|false" not in told:
        print(f"        skipped: {server.argv[0]} has no feature gate CoordinatedLeaderElection", flush=True)
        return False
    plain = list(server.argv)

    def restore():
        server.kill()
        server.argv = plain
        t.control_plane.start_apiserver()
    t.on_close(restore)
    t.on_close(lambda: t.api.call("DELETE", CANDIDATES, {"kind": "DeleteOptions", "apiVersion": "v1"}))
    server.kill()
    server.argv = [*plain, *SERVER_FLAGS]
    t.control_plane.start_apiserver()
    return True


def lease(t, name="kube-scheduler"):
    found = t.api.find("Lease", name, "kube-system")
    return found["spec"] if found else {}


def candidates(t):
    return {item["metadata"]["name"]: item["spec"] for item in t.api.call("GET", CANDIDATES)["items"]}


def start(t, name, **properties):
    return t.scheduler(name, flags=("-v=2", GATE), leaderElection=ELECTION, **properties).start(wait_for="/healthz")


def leads(scheduler):
    return scheduler.metric("leader_election_master_status", name="kube-scheduler") == 1


@scenario("the API server elects one of two schedulers; when that is killed mid-backlog, it elects the other",
          faults=True)
def coordinated_leader_killed(t):
    if not coordinate(t):
        return
    t.nodes(50)
    schedulers = [start(t, "first"), start(t, "second")]
    t.eventually("both are candidates", lambda: len(candidates(t)) == 2)
    for spec in candidates(t).values():
        expect_equal({key: spec[key] for key in ("leaseName", "binaryVersion", "emulationVersion", "strategy")},
                     {"leaseName": "kube-scheduler", "binaryVersion": "1.36.4", "emulationVersion": "1.36.0",
                      "strategy": "OldestEmulationVersion"}, "a candidate")
    t.eventually("one of them leads", lambda: any(leads(scheduler) for scheduler in schedulers), 30)
    before = lease(t)
    expect_equal((before["strategy"], before["leaseDurationSeconds"]), ("OldestEmulationVersion", 6), "the lease")
    expect(before["holderIdentity"] in candidates(t), f"the lease is held by {before['holderIdentity']}, no candidate")
    leader, standby = schedulers if leads(schedulers[0]) else reversed(schedulers)
    expect(not leads(standby), "two lead")
    names = t.pods(600, {"cpu": "100m"})
    t.wait_bound_count(100)
    leader.process.kill()
    # The whole backlog may have been bound by now; these are for the other scheduler.
    names += t.pods(100, {"cpu": "100m"}, prefix="later")
    t.eventually("the other holds it", lambda: lease(t)["holderIdentity"] not in ("", before["holderIdentity"]), 60)
    t.eventually("the other says that it leads", lambda: leads(standby), 10)
    t.wait_all_bound(names)
    # The first of two equal candidates is still preferred, but it has not answered its ping.
    t.stays("the other goes on", lambda: leads(standby) and lease(t).get("preferredHolder") is None, 5)


@scenario("the API server prefers an older scheduler: the leader releases the lease and exits with an error")
def coordinated_end_of_term(t):
    if not coordinate(t):
        return
    t.node("n1")
    leader = start(t, "leader")
    t.pod("before")
    t.wait_bound("before", timeout=30)
    older = {"apiVersion": "coordination.k8s.io/v1beta1", "kind": "LeaseCandidate", "metadata": {"name": "older"},
             "spec": {"leaseName": "kube-scheduler", "binaryVersion": "1.36.4", "emulationVersion": "1.35.0",
                      "strategy": "OldestEmulationVersion", "renewTime": now()}}
    t.api.call("POST", CANDIDATES, older)

    def answer_pings(stop):
        while not stop.wait(0.5):
            t.api.call("PATCH", f"{CANDIDATES}/older", {"spec": {"renewTime": now()}},
                       "application/merge-patch+json")
    stop = t.background(answer_pings)
    expect(leader.process.wait(40) != 0, "a scheduler whose term has ended ends with a status other than 0")
    t.eventually("the older one holds it", lambda: lease(t)["holderIdentity"] == "older", 10)
    stop()
    t.pod("after")
    t.stays("nobody binds", lambda: not t.get_pod("after")["spec"].get("nodeName"), 1)


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@scenario("a second scheduler with coordinated election reports what the API server lacks, and then leads with its own "
          "lease and the permissions of deploy/second-scheduler", only="berth")
def coordinated_second_scheduler(t):
    files = [f"-f={SECOND_SCHEDULER / name}" for name in ("service-account.yaml", "rbac.yaml", "config.yaml")]
    manifests = documents(t.control_plane.kubectl("create", "--dry-run=client", "-o=json", *files))
    t.on_close(lambda: t.control_plane.kubectl("delete", "--ignore-not-found", *files))
    t.control_plane.kubectl("create", *files)
    t.node("n1")
    waiting = second_scheduler(t, manifests, flags=("-v=2", GATE)).start(wait_for="/healthz")
    t.eventually("it says why it waits", lambda: "nobody leads until then" in waiting.process.log_text(), 20)
    expect_equal(lease(t, "berth-scheduler"), {}, "a lease that nobody assigned")
    status, body = waiting.get("/readyz?verbose")
    expect(status == 500 and "[-]informer-sync failed" in body, f"/readyz: {status}\n{body}")
    waiting.process.kill()

    if not coordinate(t):
        return
    second_scheduler(t, manifests, flags=("-v=2", GATE)).start()
    t.pod("web", schedulerName="berth-scheduler")
    t.wait_bound("web", timeout=30)
    expect(lease(t, "berth-scheduler")["holderIdentity"] in candidates(t), "the lease is held by no candidate")
    expect_equal({spec["leaseName"] for spec in candidates(t).values()}, {"berth-scheduler"}, "what it stands for")
    candidate, ping = lease(t, "berth-scheduler")["holderIdentity"], now()
    t.api.call("PATCH", f"{CANDIDATES}/{candidate}", {"spec": {"pingTime": ping}}, "application/merge-patch+json")
    t.eventually("it answers a ping", lambda: candidates(t)[candidate]["renewTime"] >= ping, 2)
    requests = [event for event in t.audit.requests_of(SECOND_SCHEDULER_USER, t.mark) if "objectRef" in event]
    refused = {right_used(event) for event in requests if event.get("responseStatus", {}).get("code") == 403}
    expect_equal(refused, set(), "rights that are missing")
    granted = set().union(*(rights_of(item["rules"]) for item in manifests if item["kind"] in ("ClusterRole", "Role")))
    of_candidates = {right for right in granted if right[1] == "leasecandidates"}
    idle = of_candidates - {right_used(event) for event in requests}
    expect(idle <= {("coordination.k8s.io", "leasecandidates", "list")}, f"rights that nothing used: {idle}")
