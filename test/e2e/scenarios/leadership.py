"""Two schedulers, one leader."""

import signal

from scenario import expect, expect_equal, scenario

# As short as the rules allow (lease > renew > 1.2 × retry) and still reliably renewed on a busy machine.
ELECTION = {"leaderElect": True, "leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s",
            "resourceLock": "leases", "resourceNamespace": "kube-system", "resourceName": "kube-scheduler"}


def lease(t):
    found = t.api.find("Lease", "kube-scheduler", "kube-system")
    return found["spec"] if found else {}


def start_two(t):
    first = t.scheduler("first", leaderElection=ELECTION).start()
    t.eventually("the first leads", lambda: lease(t).get("holderIdentity"))
    second = t.scheduler("second", leaderElection=ELECTION).start(wait_for="/healthz")
    return first, second


@scenario("the leader is killed mid-backlog: the standby takes over the lease and binds the rest, none twice",
          faults=True)
def leader_killed(t):
    t.nodes(50)
    first, _ = start_two(t)
    before = lease(t)
    expect_equal((before["leaseDurationSeconds"], before["leaseTransitions"]), (6, 0), "the lease")
    names = t.pods(600, {"cpu": "100m"})
    t.wait_bound_count(100)
    first.process.kill()
    t.eventually("another holds it", lambda: lease(t)["holderIdentity"] not in ("", before["holderIdentity"]), 30)
    t.wait_all_bound(names)
    expect_equal(lease(t)["leaseTransitions"], 1, "the lease's transitions")


@scenario("a standby binds nothing; a leader that is terminated releases the lease, and the standby takes over")
def leader_steps_down(t):
    t.nodes(3)
    first, second = start_two(t)
    holder = lease(t)["holderIdentity"]
    names = t.pods(20)
    t.wait_all_bound(names)
    expect_equal(second.metric("scheduler_schedule_attempts_total", result="scheduled"), 0, "the standby's pods")
    expect_equal(first.metric("leader_election_master_status", name="kube-scheduler"), 1, "the leader's own word")
    expect_equal(second.metric("leader_election_master_status", name="kube-scheduler"), 0, "the standby's own word")
    first.process.signal(signal.SIGTERM)
    expect_equal(first.process.wait(15), 0, "the status of a scheduler that was asked to end")
    # Sooner than the lease would have expired: it was released.
    t.eventually("the standby leads", lambda: lease(t)["holderIdentity"] not in ("", holder), 4.5)
    t.pod("after")
    t.wait_bound("after")


@scenario("a leader that cannot renew its lease stops binding and exits with an error", faults=True)
def lost_lease_ends_the_scheduler(t):
    from fault_proxy import FaultProxy
    t.nodes(3)
    cut_off = {"now": False}
    proxy = FaultProxy(t.control_plane,
                       lambda method, path: (503, {}) if cut_off["now"] and "/leases/" in path else None)
    t.on_close(proxy.close)
    kubeconfig = t.control_plane.kubeconfig("proxied.kubeconfig", server=proxy.url)
    leader = t.scheduler("leader", kubeconfig=kubeconfig, leaderElection=ELECTION).start()
    t.pod("before")
    t.wait_bound("before")
    cut_off["now"] = True
    expect(leader.process.wait(30) != 0, "a scheduler that lost its lease ends with a status other than 0")
    t.pod("after")
    t.stays("nobody binds", lambda: not t.get_pod("after")["spec"].get("nodeName"), 1)
