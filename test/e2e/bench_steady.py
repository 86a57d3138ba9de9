"""Pods that are created at a steady rate: how long each takes from its creation to its binding.

All times are the API server's own, from its audit log: when the creation's request arrives and is answered, and when
the binding's request arrives and is answered. In between are the API server, the watch and the scheduler. The creations
and bindings themselves are the same work for any scheduler, but under load everything shares the same processors.
"""

import concurrent.futures
import re
import sys
import time

import objects
from process import Failed, eventually
from scheduler import Scheduler

NAMESPACE = "bench-steady"
WARM_UP_SECONDS = 2
# The stages of a pod, from the creation's request to the binding's answer.
PARTS = (("total", "creation to bind"), ("create", "creating"), ("schedule", "created to bind request"),
         ("bind", "binding"))


class Load:
    """Pods per second, optionally while `pending` unschedulable pods are in the queue."""

    def __init__(self, text):
        found = re.fullmatch(r"([1-9]\d*)(?:\+(\d+))?", text)
        if not found:
            raise ValueError(f"{text!r}: expected RATE or RATE+PENDING, such as 150 or 60+2000")
        self.rate, self.pending = int(found[1]), int(found[2] or 0)

    def __str__(self):
        return f"{self.rate} pods/s" + (f", {self.pending} that fit nowhere" if self.pending else "")


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def parts_of(created, bound):
    """The times of one pod, in milliseconds. A watch may be quicker than the creation's own answer."""
    return {"total": (bound.at - created[0]) * 1000, "create": (created[1] - created[0]) * 1000,
            "schedule": max(0.0, bound.received - created[1]) * 1000, "bind": (bound.at - bound.received) * 1000}


def create_steadily(api, names, rate):
    """Creates each at its time, however long the ones before take; returns the achieved rate."""
    template = objects.pod("NAME", {"cpu": "100m", "memory": "64Mi"})
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        calls = []
        for number, body in enumerate(objects.copies(template, names)):
            time.sleep(max(0.0, started + number / rate - time.monotonic()))
            calls.append(pool.submit(api.create_encoded, "Pod", body, NAMESPACE))
        for call in calls:
            call.result()
    return len(names) / (time.monotonic() - started)


def measure(program, control_plane, folder, load, seconds):
    """One scheduler under one load: percentiles of each part, in milliseconds."""
    api, audit = control_plane.api, control_plane.audit
    if load.pending:
        fits_nowhere = objects.pod("NAME", {"cpu": "100"})
        names = [f"fits-nowhere-{index}" for index in range(load.pending)]
        api.create_many("Pod", objects.copies(fits_nowhere, names), NAMESPACE)
    scheduler = Scheduler(program, control_plane, folder, program.kind, flags=())
    scheduler.start()
    try:
        cpu = scheduler.process.cpu_seconds()
        mark = audit.mark()
        names = [f"pod-{index}" for index in range(load.rate * (seconds + WARM_UP_SECONDS))]
        achieved = create_steadily(api, names, load.rate)

        def all_bound():
            if not scheduler.process.running:
                raise RuntimeError(f"{program.kind} ended:\n{scheduler.process.log_text()[-2000:]}")
            bound = {binding.pod: binding for binding in audit.bindings(mark, NAMESPACE) if binding.status == 201}
            if len(bound) < len(names):
                raise Failed(f"{len(bound)} of {len(names)}")
            return bound
        bound = eventually("all pods are bound", all_bound, 120, every=0.5)
        created = audit.creations(mark, NAMESPACE)
        cpu = scheduler.process.cpu_seconds() - cpu
    finally:
        scheduler.process.kill()
    ways = [parts_of(created[name], bound[name]) for name in names[load.rate * WARM_UP_SECONDS:]]
    return {"achieved_rate": achieved, "cpu_ms_per_pod": cpu * 1000 / len(names),
            **{part: {"p50": percentile([way[part] for way in ways], 0.5),
                      "p99": percentile([way[part] for way in ways], 0.99)} for part, _ in PARTS}}


def clear(api):
    api.delete_all("Pod", NAMESPACE)
    api.delete_all("Event", NAMESPACE)
    eventually("the pods are gone", lambda: not api.list("Pod", NAMESPACE), 120, every=0.5)
    time.sleep(2)  # the API server's own work settles


def run(programs, loads, seconds, control_plane, folder):
    """Measurements by load, then by scheduler."""
    api = control_plane.api
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    found = {}
    for number, load in enumerate(loads):
        found[str(load)] = {}
        for program in programs if number % 2 == 0 else programs[::-1]:
            result = measure(program, control_plane, folder, load, seconds)
            total = result["total"]
            print(f"{load}, {program.kind}: p50 {total['p50']:.1f}, p99 {total['p99']:.1f} ms; "
                  f"{result['achieved_rate']:.0f} pods/s were created", file=sys.stderr, flush=True)
            found[str(load)][program.kind] = result
            clear(api)
    return found


def table(found):
    kinds = sorted({kind for results in found.values() for kind in results})
    lines = [f"{'p50 / p99, ms':44}" + "".join(f"{kind:>22}" for kind in kinds)]
    for load, results in found.items():
        lines.append(load)
        for part, title in PARTS:
            cells = (f"{results[kind][part]['p50']:.1f} / {results[kind][part]['p99']:.1f}" for kind in kinds)
            lines.append(f"  {title:42}" + "".join(f"{cell:>22}" for cell in cells))
    return "\n".join(lines)
