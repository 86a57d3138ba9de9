"""The instructions that a live scheduler needs per pod, with and without --record, counted by callgrind.

Unlike time, instructions hardly depend on how busy the machine is: two runs differ by up to 5 %. Those of the kernel
are not counted. Each scheduler schedules a short and a long backlog; the difference is the cost of the additional pods,
without the cost of starting.

The cost of recording is not the difference between two runs, which is smaller than their noise, but what callgrind
counted within the recorder: on its own thread, and where the driver calls it.
"""

import re
import shutil
import subprocess
import sys
import time

import objects
from process import Failed, eventually
from scheduler import Program, Scheduler

BACKLOGS = (200, 1200)
WITHIN = "  within the recorder"


def collected(log):
    """The number of instructions, from callgrind's output."""
    found = re.findall(r"Collected : (\d+)", log)
    if not found:
        raise Failed(f'expected "Collected : N" from callgrind, found:\n{log[-2000:]}')
    return int(found[-1])


# The entry points of the recorder: its thread, and what the driver calls as its tap.
RECORDER = re.compile(r"^\s*([\d,]+) .*\bberth::replay::Recorder::(?:Serve|On[A-Z]\w*|WantsCheckpoint)\(")


def within_recorder(annotated):
    """Instructions within the recorder, from callgrind_annotate's inclusive list."""
    found = [RECORDER.match(line) for line in annotated.splitlines()]
    return sum(int(match[1].replace(",", "")) for match in found if match)


def per_pod(counts):
    """From {pods: instructions} of a short and a long backlog."""
    (few, short), (many, long) = sorted(counts.items())
    return (long - short) / (many - few)


def count(program, control_plane, folder, namespace, pods):
    api, audit = control_plane.api, control_plane.audit
    names = [f"pod-{index:05}" for index in range(pods)]
    api.create_many("Pod", objects.copies(objects.pod("NAME", {"cpu": "100m", "memory": "64Mi"}), names), namespace)
    time.sleep(1)
    recording = folder / "recording"
    counted = Program(program.kind, program.argv[0])
    counted.argv = ["valgrind", "--tool=callgrind", "--fair-sched=yes", f"--callgrind-out-file={folder / 'callgrind'}",
                    *program.argv]
    scheduler = Scheduler(counted, control_plane, folder, f"{program.kind}-{pods}",
                          flags=(f"--record={recording}",) if program.kind == "recording" else ())
    mark = audit.mark()
    scheduler.start(wait_for=None)
    try:
        eventually("the backlog is worked off", lambda: pods <= sum(
            binding.status == 201 for binding in audit.bindings(mark, namespace)), 120 + pods / 4, every=0.5)
        time.sleep(4)  # events follow, and watches report the bound pods
        scheduler.stop()
        annotated = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", folder / "callgrind"],
                                   check=True, capture_output=True, text=True).stdout
        return collected(scheduler.process.log_text()), within_recorder(annotated)
    finally:
        scheduler.process.kill()
        shutil.rmtree(recording, ignore_errors=True)


def run(programs, control_plane, folder, namespace, clear):
    """Instructions per pod, by scheduler, and those within the recorder."""
    control_plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    found = {}
    for program in programs:
        counts, within = {}, {}
        for pods in BACKLOGS:
            counts[pods], within[pods] = count(program, control_plane, folder, namespace, pods)
            print(f"{program.kind}, {pods} pods: {counts[pods]:,} instructions", file=sys.stderr, flush=True)
            clear(control_plane.api, namespace)
        found[program.kind] = per_pod(counts)
        if program.kind == "recording":
            found[WITHIN] = per_pod(within)
    return found


def table(found):
    lines = [f"{kind:22}{count:>12,.0f} instructions per pod" for kind, count in found.items()]
    if WITHIN in found:
        if found[WITHIN] <= 0:
            raise Failed("expected instructions within the recorder, found none: has one of its functions another name?")
        lines.append(f"recording adds {found[WITHIN] / (found['recording'] - found[WITHIN]):.1%}")
    return "\n".join(lines)
