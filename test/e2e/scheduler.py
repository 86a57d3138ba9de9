"""Starts a scheduler, berth's or upstream's, with the same flags and the same configuration."""

import http.client
import json
import pathlib
import ssl

from process import Failed, Process, eventually, free_port


class Program:
    """What to run: `upstream` (kube-scheduler) or, under any other name, a built berth and its scheduler verb."""

    def __init__(self, kind, executable):
        self.kind = kind
        self.argv = [str(executable)] + ([] if kind == "upstream" else ["scheduler"])


def configuration(kubeconfig, overrides):
    """A KubeSchedulerConfiguration with high client limits; leader election is disabled unless requested."""
    client = {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 10000, **overrides.get("clientConnection", {})}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        **overrides,
        "clientConnection": client,
    }


class Scheduler:
    """`kubeconfig` is for scheduling only, `identity` for its reviews too. `text` is a complete configuration file;
    `command` is its command line except for the port."""

    def __init__(self, program, control_plane, folder, name="scheduler", kubeconfig=None, identity=None, text=None,
                 command=None, flags=("-v=2",), **overrides):
        folder = pathlib.Path(folder)
        own = identity or control_plane.kubeconfig(f"{name}.kubeconfig")
        self.configuration_file = folder / f"{name}.yaml"
        # JSON is YAML.
        self.configuration_file.write_text(
            text or json.dumps(configuration(kubeconfig or own, overrides), indent=2) + "\n")
        self._admin = control_plane.admin
        self.port = free_port()
        self.process = Process(name, [*command, f"--secure-port={self.port}"] if command else [
            *program.argv, f"--config={self.configuration_file}", "--bind-address=127.0.0.1",
            f"--secure-port={self.port}", f"--cert-dir={folder / (name + '-certificates')}",
            f"--authentication-kubeconfig={own}", f"--authorization-kubeconfig={own}", *flags,
        ], folder / f"{name}.log")

    def start(self, wait_for="/readyz"):
        """Starts it and waits until the health endpoint says ok; with None it does not wait."""
        self.process.start()
        if wait_for:
            eventually(f"{self.process.name} answers {wait_for} with 200", lambda: self._answers(wait_for), timeout=30)
        return self

    def _answers(self, target):
        if not self.process.running:
            raise RuntimeError(f"{self.process.name} ended with status {self.process.exit_status}:\n"
                               f"{self.process.log_text()[-3000:]}")
        try:
            status, body = self.get(target)
        except (OSError, ssl.SSLError, http.client.HTTPException) as error:
            raise Failed(str(error)) from None
        if status != 200:
            raise Failed(f"{status} {body.strip()}")
        return True

    def get(self, target, token=None, as_admin=False):
        """Status and text of one of the scheduler's own HTTPS endpoints; anonymous by default."""
        tls = ssl.create_default_context()
        # Its certificate is self-signed, generated when it started.
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        if as_admin:
            tls.load_cert_chain(str(self._admin.certificate), str(self._admin.key))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=tls, timeout=10)
        try:
            connection.request("GET", target, headers={"Authorization": f"Bearer {token}"} if token else {})
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def metric(self, name, /, **labels):
        """The sum of the samples of `name` that have these labels."""
        status, text = self.get("/metrics", as_admin=True)
        if status != 200:
            raise Failed(f"/metrics answered {status}")
        total, wanted = 0.0, [f'{key}="{value}"' for key, value in labels.items()]
        for line in text.splitlines():
            sample, _, value = line.rpartition(" ")
            if sample.partition("{")[0] == name and all(label in sample for label in wanted):
                total += float(value)
        return total

    def stop(self):
        self.process.stop()
