"""Programs that the harness starts: each with a log file, ended by its own pid, never outliving the harness."""

import os
import shutil
import signal
import socket
import subprocess
import time

SCALE = float(os.environ.get("BERTH_E2E_TIMEOUT_SCALE", "1"))


class Failed(Exception):
    """A scenario's expectation that was not met; the message says what was seen."""


def eventually(what, check, timeout=15.0, every=0.05):
    """Returns the first true value of `check()`; fails with `what` after `timeout` seconds (times the scale).

    A check may raise Failed: its message is then part of the failure.
    """
    deadline = time.monotonic() + timeout * SCALE
    while True:
        seen = ""
        try:
            value = check()
            if value:
                return value
        except Failed as failure:
            seen = f": {failure}"
        if time.monotonic() > deadline:
            raise Failed(f"{what}: not within {timeout * SCALE:g} s{seen}")
        time.sleep(every)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    def __init__(self, name, argv, log_path, env=None):
        self.name = name
        self.argv = [str(word) for word in argv]
        self.log_path = log_path
        self._env = {**os.environ, **(env or {})}
        self._popen = None

    def start(self):
        # setpriv makes the kernel end the program if the harness itself is killed.
        guard = ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []
        with open(self.log_path, "ab") as log:
            self._popen = subprocess.Popen(guard + self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           env=self._env)
        return self

    @property
    def pid(self):
        return self._popen.pid

    @property
    def exit_status(self):
        return self._popen.poll() if self._popen else None

    @property
    def running(self):
        return self._popen is not None and self._popen.poll() is None

    def wait(self, timeout):
        """The exit status; fails if the program is still running after `timeout` seconds."""
        try:
            return self._popen.wait(timeout * SCALE)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} was still running after {timeout * SCALE:g} s") from None

    def signal(self, number):
        if self.running:
            os.kill(self._popen.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        if self._popen:
            self._popen.wait()

    def stop(self, timeout=10.0):
        """SIGTERM, then SIGKILL if it does not end."""
        self.signal(signal.SIGTERM)
        try:
            if self._popen:
                self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()

    def log_text(self):
        try:
            with open(self.log_path, encoding="utf-8", errors="replace") as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def cpu_seconds(self):
        """User and system time so far."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_memory_bytes(self):
        return self._status_bytes("VmHWM:")

    def memory_bytes(self):
        return self._status_bytes("VmRSS:")

    def _status_bytes(self, field):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith(field):
                    return int(line.split()[1]) * 1024
        return 0
