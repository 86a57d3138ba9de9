"""A scheduler that records, and berth replay, which repeats every decision."""

import datetime
import json
import subprocess
import time

import objects
from process import SCALE
from scenario import expect, expect_equal, scenario


def replay(t, *arguments, wanted=0):
    ran = subprocess.run([t.options.berth, "replay", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=120 * SCALE)
    expect_equal(ran.returncode, wanted,
                 f"status of berth replay {' '.join(map(str, arguments))}\n{ran.stdout}\n{ran.stderr}")
    return ran.stdout if wanted < 2 else ran.stderr


def record(t, folder):
    return t.start_scheduler(flags=("-v=2", f"--record={folder}", "--record-size=8Mi"))


def work(t):
    """A bit of everything: spread, affinity, a volume, preemption, a pod that fits nowhere, one that is deleted."""
    t.add(objects.priority_class("e2e-urgent", 1000))
    t.add(objects.storage_class("e2e-local"))
    t.add_volume(objects.volume("e2e-disk", "e2e-local", on_node="n2"))
    t.add(objects.claim("data", "e2e-local"))
    for index in range(4):
        t.node(f"n{index}", cpu="2", labels={"zone": "ab"[index % 2]})
    t.pods(4, {"cpu": "100m"}, prefix="spread", labels={"app": "spread"},
           topologySpreadConstraints=[objects.spread({"app": "spread"}, "zone")])
    apart = t.pods(3, {"cpu": "100m"}, prefix="apart", labels={"app": "apart"},
                   affinity=objects.require_apart({"app": "apart"}))
    plain = t.pods(12, {"cpu": "300m"}, prefix="plain", terminationGracePeriodSeconds=0)
    t.wait_all_bound([*apart, *plain])
    t.pod("database", {"cpu": "10m"}, claims=["data"])
    t.unserved.add("database")  # its claim has no controller to bind it
    t.pod("huge", {"cpu": "64"})
    t.wait_pending("huge")
    t.delete_pod("plain-3")
    t.pod("urgent", {"cpu": "1500m"}, priorityClassName="e2e-urgent")
    t.wait_bound("urgent")


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@scenario("a recording replays with the same decisions, even if the scheduler was killed", faults=True, only="berth")
def recording_replays(t):
    folder = t.folder / "recording"
    first = record(t, folder)
    work(t)
    time.sleep(2.5)  # records are in the file after a second
    first.process.kill()
    second = record(t, folder)
    more = t.pods(20, {"cpu": "20m"}, prefix="more")
    t.wait_all_bound(more)
    second.process.stop()

    text = replay(t, folder)
    same = text.count("Every decision is the same: node, score, message, victims.")
    expect_equal(same, 2, f"recordings that agree in\n{text}")
    reports = [json.loads(replay(t, folder, "-o", "json", "--threads", threads)) for threads in ("1", "2", "7")]
    report = json.loads(replay(t, folder, "-o", "json", "--threads", "3", "--verify-incremental"))
    expect(report["same"], f"same: {report}")
    for other in reports:
        expect_equal(other, report, "the report with another number of threads")
    expect(report["recordings"][0]["open"] and not report["recordings"][1]["open"],
           f"the first was killed and the second was not: {report}")
    expect_equal(len(report["recordings"]), 2, "recordings")
    expect(report["recordings"][0]["bound"] >= 19, f"bound pods in {report['recordings'][0]}")
    expect(report["recordings"][0]["preemptions"] >= 1, f"preemptions in {report['recordings'][0]}")
    expect("**Every decision is the same**" in replay(t, folder, "--report"), "the Markdown report")
    for part in folder.glob("*.rec"):
        expect_equal(part.stat().st_mode & 0o777, 0o600, f"who may read {part}")


@scenario("a recording explains past decisions, and can be replayed with another configuration", only="berth")
def recording_answers(t):
    folder = t.folder / "recording"
    scheduler = record(t, folder)
    work(t)
    time.sleep(1.1)  # --at has whole seconds
    then = now()
    time.sleep(1.1)
    t.delete_pod("huge")
    scheduler.process.stop()

    told = replay(t, folder, "--at", then, "--explain", f"{t.namespace}/huge")
    expect("Insufficient cpu" in told and "64" in told, f"why in\n{told}")
    other = t.folder / "other.yaml"
    other.write_text(json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {
            "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}}]}]}))
    moved = json.loads(replay(t, folder, "--config", other, "-o", "json", wanted=1))
    expect(any(pod["change"] == "Moved" for pod in moved["differences"]),
           f"pods that move under MostAllocated: {moved['differences']}")


@scenario("a file that is not a recording, is damaged or has another format is rejected with a clear message",
          only="berth")
def recording_refusals(t):
    folder = t.folder / "recording"
    scheduler = record(t, folder)
    t.node("n1")
    t.pod("web", {"cpu": "1"})
    t.wait_bound("web", on="n1")
    scheduler.process.stop()
    expect("no pod" in replay(t, folder, "--explain", "nobody", wanted=2), "an unknown pod")
    expect("begins at" in replay(t, folder, "--at", "2001-01-01T00:00:00Z", "--explain", "web", wanted=2), "too early")
    part = next(folder.glob("*.rec"))
    content = part.read_bytes()
    part.write_bytes(content[:8] + b"\x09" + content[9:])
    expect("has format 9, and this berth reads formats 1 to 4" in replay(t, folder, wanted=2), "a newer format")
    part.write_bytes(b"kind: Pod\n")
    expect("is no recording of berth" in replay(t, folder, wanted=2), "another file")
    part.write_bytes(content[:-5])
    expect("nothing was compared" in replay(t, folder, wanted=2), "a torn one, of which nothing is left")
    for at in (20, 60, len(content) // 2, len(content) - 3):
        part.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1:])
        expect("damaged" in replay(t, folder, wanted=2), f"byte {at} of {len(content)} is another")
    header_end = 16 + 13 + int.from_bytes(content[16:20], "little")
    part.write_bytes(content[:header_end + 5])
    expect("nothing was compared" in replay(t, folder, wanted=2), "too little is left")
    part.unlink()
    expect("there is no recording in this folder" in replay(t, folder, wanted=2), "an empty folder")
