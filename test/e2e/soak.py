#!/usr/bin/env python3
"""Pods are created and deleted for minutes, and the scheduler's memory must stay where it was after the first.

Waves of pods are created, bound and deleted at a steady rate with a real kube-apiserver. What a scheduler remembers has
to be bounded by what exists, not by what has happened: its memory in the last minute is compared with the plateau of
the first one. Status 0: it stayed. 1: it grew.
"""

import argparse
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import objects  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from process import eventually  # noqa: E402
from scheduler import Program, Scheduler  # noqa: E402

PLATEAU_SECONDS = 60
NAMESPACE = "soak"


def verdict(samples, slack):
    """What is wrong with (seconds, bytes) samples; None if the memory of the last minute is that of the first."""
    end = samples[-1][0]
    if end < 2 * PLATEAU_SECONDS:
        return f"{end:.0f} s are too few: two minutes are needed to compare the last with the first"
    plateau = max(memory for seconds, memory in samples if seconds <= PLATEAU_SECONDS)
    last = max(memory for seconds, memory in samples if seconds > end - PLATEAU_SECONDS)
    if last > plateau * (1 + slack):
        return (f"memory grew from {plateau / 1e6:.1f} MB in the first minute to {last / 1e6:.1f} MB in the last, "
                f"more than {slack:.0%}")
    return None


class Soak:
    """Waves of pods at a rate, and the memory of the scheduler at each."""

    def __init__(self, api, scheduler, options):
        self.api, self.scheduler, self.options = api, scheduler, options
        self.pods, self.samples = 0, []

    def run(self):
        started = time.monotonic()
        while time.monotonic() - started < self.options.minutes * 60:
            self._wave()
            if not self.scheduler.process.running:
                sys.exit(f"soak: the scheduler ended:\n{self.scheduler.process.log_text()[-2000:]}")
            now = time.monotonic() - started
            self.samples.append((now, self.scheduler.process.memory_bytes()))
            time.sleep(max(0.0, self.pods / self.options.rate - now))
        return self.pods / (time.monotonic() - started)

    def _wave(self):
        names = [f"pod-{self.pods + index}" for index in range(self.options.rate)]
        template = objects.pod("NAME", {"cpu": "100m", "memory": "64Mi"})
        self.api.create_many("Pod", objects.copies(template, names), NAMESPACE)
        eventually("the wave is bound", lambda: not self.api.list("Pod", NAMESPACE, fields="spec.nodeName="), 60, 0.1)
        self.api.delete_all("Pod", NAMESPACE)
        self.pods += len(names)


def arguments():
    parser = argparse.ArgumentParser(prog="test/e2e/soak.py", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3, metavar="N", help="how long (3); at least 2")
    parser.add_argument("--rate", type=int, default=70, metavar="N", help="pods a second, at most (70)")
    parser.add_argument("--slack", type=float, default=0.1, metavar="PART", help="growth that is no growth (0.1)")
    parser.add_argument("--scheduler", choices=("berth", "upstream"), default="berth")
    parser.add_argument("--berth", type=pathlib.Path, default=HERE.parents[1] / "build" / "berth", metavar="FILE")
    return parser.parse_args()


def main():
    options = arguments()
    built = subprocess.run([HERE / "build" / "build"], stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        return built.returncode
    binaries = pathlib.Path(built.stdout.strip())
    executable = options.berth if options.scheduler == "berth" else binaries / "kube-scheduler"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="berth-soak-"))
    try:
        with ControlPlane(folder / "control-plane", binaries, bindings_only=True) as control_plane:
            api = control_plane.api
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
            names = [f"node-{index}" for index in range(20)]
            api.create_many("Node", objects.copies(objects.node("NAME", cpu="32", memory="256Gi"), names))
            # The ring of attempts is bounded by its flag, and would take most of an hour to fill.
            flags = ("--explain-memory=1Mi",) if options.scheduler == "berth" else ()
            scheduler = Scheduler(Program(options.scheduler, executable), control_plane, folder, options.scheduler,
                                  flags=flags)
            scheduler.start()
            try:
                soak = Soak(api, scheduler, options)
                rate = soak.run()
            finally:
                scheduler.process.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    next_line = 0
    for seconds, memory in soak.samples:
        if seconds >= next_line:
            print(f"{seconds:5.0f} s  {memory / 1e6:6.1f} MB")
            next_line = seconds + 15
    print(f"{soak.pods} pods, {rate:.0f} a second; {soak.samples[-1][1] / 1e6:.1f} MB at the end")
    wrong = verdict(soak.samples, options.slack)
    if wrong:
        print(f"soak: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
