#!/usr/bin/env python3
"""berth and upstream's kube-scheduler side by side, with the same pods against the same kube-apiserver.

A backlog: nodes and pods are created first, then the scheduler is started; with --running, in addition to pods that
run already. Or, with --steady, pods are created at a rate while it runs. Bindings are counted in the API server's audit
log.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import bench_instructions  # noqa: E402
import bench_steady  # noqa: E402
import etcd_copies  # noqa: E402
import objects  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from process import Failed, eventually  # noqa: E402
from scheduler import Program, Scheduler  # noqa: E402

# Key of a measurement, its title, how it is shown, and whether less is better.
ROWS = (
    ("pods_per_second", "pods/s", "{:.0f}", False),
    ("cpu_ms_per_pod", "scheduler CPU per pod, ms", "{:.3f}", True),
    ("peak_memory_mb", "peak memory, MB", "{:.0f}", True),
    ("first_bind_seconds", "time to first bind, s", "{:.2f}", True),
    ("apiserver_cpu_ms_per_pod", "API server CPU per pod, ms", "{:.3f}", True),
    ("seconds", "whole backlog, s", "{:.1f}", True),
)


def clear(api, namespace):
    api.delete_all("Pod", namespace)
    api.delete_all("Event", namespace)
    eventually("the pods are gone", lambda: not api.list("Pod", namespace), 120, every=0.5)


def measure(program, control_plane, folder, namespace, pods):
    """One backlog: starts the scheduler with `pods` pending, waits until the audit log shows all of them bound."""
    audit, mark = control_plane.audit, control_plane.audit.mark()
    recording = folder / "recording"
    flags = (f"--record={recording}",) if program.kind == "recording" else ()
    scheduler = Scheduler(program, control_plane, folder, program.kind, flags=flags)
    apiserver_before, started = control_plane.apiserver.cpu_seconds(), time.time()
    scheduler.start(wait_for=None)
    try:
        def successes():
            return sorted(binding.at for binding in audit.bindings(mark, namespace) if binding.status == 201)

        def all_bound():
            if not scheduler.process.running:
                raise RuntimeError(f"{program.kind} ended:\n{scheduler.process.log_text()[-2000:]}")
            # Some may have to be retried: only successful ones count.
            done = audit.mark() - mark
            bound = [] if done < pods else successes()
            if len(bound) < pods:
                raise Failed(f"{len(bound)} of {pods}, after {done} attempts")
            return bound
        bound = eventually("the backlog is worked off", all_bound, 120 + pods / 20, every=0.2)
        # Events and status writes after the last binding are the scheduler's work too.
        time.sleep(1)
        cpu, apiserver = scheduler.process.cpu_seconds(), control_plane.apiserver.cpu_seconds() - apiserver_before
        span = bound[-1] - bound[0]
        return {
            "pods_per_second": (pods - 1) / span if span else 0.0,
            "cpu_ms_per_pod": cpu * 1000 / pods,
            "peak_memory_mb": scheduler.process.peak_memory_bytes() / 1e6,
            "first_bind_seconds": bound[0] - started,
            "apiserver_cpu_ms_per_pod": apiserver * 1000 / pods,
            "seconds": bound[-1] - started,
        }
    finally:
        scheduler.process.kill()
        shutil.rmtree(recording, ignore_errors=True)


def create_nodes(api, count):
    names = [f"node-{index:05}" for index in range(count)]
    api.create_many("Node", objects.copies(objects.node("NAME", cpu="32", memory="256Gi"), names))
    return names


def has_running(api, count):
    """Whether the API server has that many pods, also in its cache, from which consistent lists are served."""
    listed = api.call("GET", "/api/v1/namespaces/running/pods?limit=1")
    return len(listed["items"]) + listed["metadata"].get("remainingItemCount", 0) == count


def list_as_schedulers_do(api, count):
    """Streams all pods once. The first time takes an API server far longer than later ones (6.3 s and 1.8 s were
    seen), and whichever scheduler happened to be first would have to wait for it."""
    query = "watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    size, tail = 0, b""
    for data in api.stream(f"/api/v1/pods?{query}", accept="application/vnd.kubernetes.protobuf"):
        size += len(data)
        tail = tail[-100:] + data
        if b"k8s.io/initial-events-end" in tail:
            break
    # Every pod is larger than this.
    if size < 500 * count:
        raise Failed(f"expected a stream of {count} pods, found {size} bytes")


def run(programs, options, control_plane, folder):
    """Measurements by scheduler: one dictionary per round."""
    found = {program.kind: [] for program in programs}
    namespace, api = "bench-live", control_plane.api
    for name in (namespace, "running"):
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    nodes = create_nodes(api, options.nodes)
    if options.running:
        etcd_copies.run_pods(control_plane, "running", nodes, options.running)
        eventually("the running pods are there", lambda: has_running(api, options.running), 120, every=1)
        list_as_schedulers_do(api, options.running)
    for number in range(options.rounds):
        # Each goes first in turn, so that neither always gets the fresher server.
        for program in programs if number % 2 == 0 else programs[::-1]:
            pods = [f"pod-{number}-{program.kind}-{index}" for index in range(options.pods)]
            template = objects.pod("NAME", {"cpu": "100m", "memory": "64Mi"})
            api.create_many("Pod", objects.copies(template, pods), namespace)
            time.sleep(2)  # the API server's own work for the new pods settles
            result = measure(program, control_plane, folder, namespace, options.pods)
            print(f"round {number + 1}, {program.kind}: {result['pods_per_second']:.0f} pods/s, "
                  f"{result['cpu_ms_per_pod']:.3f} ms CPU per pod, {result['peak_memory_mb']:.0f} MB, "
                  f"first bind after {result['first_bind_seconds']:.2f} s", file=sys.stderr, flush=True)
            found[program.kind].append(result)
            clear(api, namespace)
    return found


def summarize(found):
    medians = {kind: {key: statistics.median(result[key] for result in results) for key, *_ in ROWS}
               for kind, results in found.items()}
    summary = {"median": medians, "rounds": found}
    for kind, base in (("berth", "upstream"), ("recording", "berth")):
        if {kind, base} <= set(medians):
            summary["ratio"] = {key: medians[kind][key] / medians[base][key] if medians[base][key] else None
                                for key, *_ in ROWS}
    return summary


def table(summary):
    kinds = list(summary["median"])
    lines = [f"{'':28}" + "".join(f"{kind:>12}" for kind in kinds) + (f"{'ratio':>12}" if "ratio" in summary else "")]
    for key, title, form, less_is_better in ROWS:
        line = f"{title:28}" + "".join(f"{form.format(summary['median'][kind][key]):>12}" for kind in kinds)
        ratio = summary.get("ratio", {}).get(key)
        if ratio:
            line += f"{f'1/{1 / ratio:.1f}' if less_is_better and ratio < 1 else f'{ratio:.2f}':>12}"
        lines.append(line)
    return "\n".join(lines)


def loads(text):
    try:
        return [bench_steady.Load(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(error) from None


def arguments():
    parser = argparse.ArgumentParser(prog="make bench-live", description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, metavar="N", help="5000; with --steady 2000")
    parser.add_argument("--pods", type=int, metavar="N", help="in the backlog: 5000; with --running 1000")
    parser.add_argument("--running", type=int, default=0, metavar="N", help="pods that run already (0)")
    parser.add_argument("--steady", type=loads, metavar="RATE[+PENDING],…",
                        help="instead of a backlog, RATE pods a second, beside PENDING that fit nowhere; latencies")
    parser.add_argument("--seconds", type=int, default=20, metavar="N", help="of each steady load (20)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of a backlog; medians are shown (3)")
    parser.add_argument("--scheduler", choices=("both", "berth", "upstream", "recording"), default="both",
                        help="recording: berth without and with --record (both)")
    parser.add_argument("--instructions", action="store_true",
                        help="count berth's instructions per pod under callgrind instead of measuring time")
    parser.add_argument("--berth", type=pathlib.Path, default=HERE.parents[1] / "build" / "berth", metavar="FILE")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    options = parser.parse_args()
    if options.steady and (options.running or options.scheduler == "recording"):
        parser.error("--steady goes with neither --running nor --scheduler recording")
    if options.instructions and (options.steady or options.running or options.scheduler in ("both", "upstream")):
        parser.error("--instructions goes with --scheduler berth or recording, and with neither --steady nor --running")
    options.nodes = options.nodes or (2000 if options.steady else 5000)
    options.pods = options.pods or (1000 if options.running else 5000)
    return options


def report(options, title, summary, text):
    if options.output == "json":
        json.dump(summary, sys.stdout, indent=2)
        print()
    else:
        print(title)
        print(text)


def bench(programs, options, binaries, folder):
    with ControlPlane(folder / "control-plane", binaries, bindings_only=True,
                      creations=bool(options.steady)) as control_plane:
        if options.steady:
            create_nodes(control_plane.api, options.nodes)
            found = bench_steady.run(programs, options.steady, options.seconds, control_plane, folder)
            report(options, f"{options.nodes} nodes, {options.seconds} s of each load",
                   {"nodes": options.nodes, "loads": found}, bench_steady.table(found))
            return
        if options.instructions:
            create_nodes(control_plane.api, options.nodes)
            found = bench_instructions.run(programs, control_plane, folder, "bench-instructions", clear)
            report(options, f"{options.nodes} nodes", {"nodes": options.nodes, "instructions_per_pod": found},
                   bench_instructions.table(found))
            return
        summary = summarize(run(programs, options, control_plane, folder))
        running = f", {options.running} running pods" if options.running else ""
        report(options, f"{options.nodes} nodes{running}, {options.pods} pods, median of {options.rounds}",
               {"nodes": options.nodes, "running": options.running, "pods": options.pods, **summary}, table(summary))


def main():
    options = arguments()
    built = subprocess.run([HERE / "build" / "build"], stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        return built.returncode
    binaries = pathlib.Path(built.stdout.strip())
    executables = {"berth": options.berth, "recording": options.berth, "upstream": binaries / "kube-scheduler"}
    kinds = {"both": ["berth", "upstream"], "recording": ["berth", "recording"]}.get(options.scheduler,
                                                                                     [options.scheduler])
    for kind in kinds:
        if not os.access(executables[kind], os.X_OK):
            sys.exit(f"bench-live: {executables[kind]} is not there; `make build` makes it")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-bench-live-"))
    try:
        bench([Program(kind, executables[kind]) for kind in kinds], options, binaries, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
