"""A real etcd and a real kube-apiserver on loopback: TLS, RBAC with the bootstrap roles, an audit log. Nothing else
runs: no kubelets and no controllers. Scenarios do what these would."""

import base64
import json
import os
import pathlib
import re
import ssl
import subprocess
import urllib.request

import certificates
from api import Api
from audit import AuditLog
from process import SCALE, Failed, Process, eventually, free_port

# These admission plugins rely on controllers that do not run here: service accounts in every namespace,
# finalizers that a controller removes, taints that a controller removes from a new node.
NEEDS_CONTROLLERS = "ServiceAccount,StorageObjectInUseProtection,TaintNodesByCondition"
SCHEDULER_USER = "system:kube-scheduler"
SECOND_SCHEDULER_USER = "system:serviceaccount:kube-system:berth-scheduler"  # of deploy/second-scheduler
SHADOW_USER = "system:serviceaccount:kube-system:berth-shadow"  # of deploy/shadow


def _audit_policy(bindings_only, creations):
    rules = [{"level": "Metadata", "resources": [{"group": "", "resources": ["pods/binding"]}]}]
    if creations:
        rules.append({"level": "Metadata", "verbs": ["create"], "resources": [{"group": "", "resources": ["pods"]}]})
    if not bindings_only:
        rules.append({"level": "Metadata", "users": [SCHEDULER_USER]})
        rules.append({"level": "Metadata", "userGroups": ["system:serviceaccounts"]})
    return {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
            "rules": [*rules, {"level": "None"}]}


class ControlPlane:
    """Use as a context manager. `etcd` is the program to run instead of the one that was built; `bindings_only` keeps
    the audit log small, for benchmarks; `creations` adds the creations of pods to it."""

    def __init__(self, folder, binaries, etcd=None, bindings_only=False, creations=False):
        self.folder = pathlib.Path(folder)
        self.binaries = pathlib.Path(binaries)
        self._etcd_program = etcd or self.binaries / "etcd"
        self._etcd_url = f"http://127.0.0.1:{free_port()}"
        self._etcd_peer_url = f"http://127.0.0.1:{free_port()}"
        self._port = free_port()
        self.url = f"https://127.0.0.1:{self._port}"
        self.audit = AuditLog(self.folder / "audit.log")

        keys = self.folder / "keys"
        keys.mkdir(parents=True)
        self.ca = certificates.Authority(keys)
        self._front_proxy_ca = certificates.Authority(keys, "front-proxy-ca")
        self._server_pair = self.ca.server("kube-apiserver")
        self.admin = self.ca.user("admin", group="system:masters")
        self.scheduler_user = self.ca.user(SCHEDULER_USER)
        self._token_key = certificates.signing_key(keys)
        (self.folder / "audit-policy.json").write_text(json.dumps(_audit_policy(bindings_only, creations)))

        self.etcd = Process("etcd", self._etcd_argv(), self.folder / "etcd.log")
        self.apiserver = Process("kube-apiserver", self._apiserver_argv(), self.folder / "kube-apiserver.log")
        self.api = Api(self.url, self.ca.certificate, self.admin)

    def _etcd_argv(self):
        told = subprocess.run([self._etcd_program, "--version"], capture_output=True, text=True, timeout=10).stdout
        version = tuple(int(part) for part in re.search(r"etcd Version: (\d+)\.(\d+)", told).groups())
        # Before 3.6 kube-apiserver cannot request progress, and gets it only as often as etcd reports by itself.
        more = ["--unsafe-no-fsync"] if version >= (3, 6) else ["--experimental-watch-progress-notify-interval=500ms"]
        return [self._etcd_program, "--name=e2e", f"--data-dir={self.folder / 'etcd'}",
                f"--listen-client-urls={self._etcd_url}", f"--advertise-client-urls={self._etcd_url}",
                f"--listen-peer-urls={self._etcd_peer_url}", f"--initial-advertise-peer-urls={self._etcd_peer_url}",
                f"--initial-cluster=e2e={self._etcd_peer_url}", "--quota-backend-bytes=4294967296",
                "--log-level=error", *more]

    def _apiserver_argv(self):
        return [self.binaries / "kube-apiserver", f"--etcd-servers={self._etcd_url}", "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", f"--secure-port={self._port}",
                f"--tls-cert-file={self._server_pair.certificate}", f"--tls-private-key-file={self._server_pair.key}",
                f"--client-ca-file={self.ca.certificate}",
                f"--requestheader-client-ca-file={self._front_proxy_ca.certificate}",
                "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-",
                "--requestheader-allowed-names=front-proxy-client",
                "--authorization-mode=RBAC", f"--disable-admission-plugins={NEEDS_CONTROLLERS}",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={self._token_key}",
                f"--service-account-signing-key-file={self._token_key}", "--service-cluster-ip-range=10.0.0.0/24",
                f"--audit-policy-file={self.folder / 'audit-policy.json'}", f"--audit-log-path={self.audit.path}",
                "--audit-log-maxsize=4096", "--delete-collection-workers=8", "--profiling=false",
                "--shutdown-delay-duration=0s", "-v=1"]

    def __enter__(self):
        try:
            self.etcd.start()
            self.start_apiserver()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # No data is kept, so nothing needs an orderly shutdown.
        self.apiserver.kill()
        self.etcd.kill()

    def start_apiserver(self):
        """Starts it, also after it was killed: same port, same data. If it exits before it is ready, as it does after a
        minute on an overloaded machine, it is restarted, as a kubelet would."""
        for last in (False, False, True):
            self.apiserver.start()
            try:
                eventually("kube-apiserver is ready", self._ready, timeout=120)
                return
            except RuntimeError:
                if last or not self.etcd.running:
                    raise

    def _ready(self):
        for process in (self.etcd, self.apiserver):
            if not process.running:
                raise RuntimeError(f"{process.name} ended with status {process.exit_status}:\n"
                                   f"{process.log_text()[-3000:]}")
        try:
            return self.api.raw("GET", "/readyz")[0] == 200
        except (OSError, ssl.SSLError):
            return False

    def api_as(self, token=None):
        """A client with a token, or without any credentials."""
        return Api(self.url, self.ca.certificate, token=token)

    def kubectl(self, *arguments):
        """What kubectl prints, as the administrator."""
        admin = self.kubeconfig("admin.kubeconfig", pair=self.admin)
        ran = subprocess.run([self.binaries / "kubectl", f"--kubeconfig={admin}", *arguments],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * SCALE)
        if ran.returncode != 0:
            raise Failed(f"kubectl {' '.join(map(str, arguments))}: status {ran.returncode}\n{ran.stderr}")
        return ran.stdout

    def compact_etcd(self):
        """Compacts all revisions but the newest, through etcd's JSON gateway."""
        revision = int(self.etcd_call("/v3/kv/range", {"key": base64.b64encode(b"x").decode()})["header"]["revision"])
        self.etcd_call("/v3/kv/compaction", {"revision": revision, "physical": True})
        return revision

    def etcd_call(self, target, body):
        request = urllib.request.Request(self._etcd_url + target, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def kubeconfig(self, file_name, pair=None, server=None, token=None):
        """Writes a kubeconfig; with `server`, one without a client certificate (a proxy in between has it)."""
        lines = ["apiVersion: v1", "kind: Config", "current-context: e2e", "contexts:", "- name: e2e",
                 "  context: {cluster: e2e, user: e2e}", "clusters:", "- name: e2e", "  cluster:",
                 f"    server: {server or self.url}"]
        if not server:
            lines += [f"    certificate-authority: {self.ca.certificate}"]
        lines += ["users:", "- name: e2e"]
        if server:
            lines += ["  user: {}"]
        elif token:
            lines += ["  user:", f"    token: {token}"]
        else:
            pair = pair or self.scheduler_user
            lines += ["  user:", f"    client-certificate: {pair.certificate}", f"    client-key: {pair.key}"]
        target = self.folder / file_name
        target.write_text("\n".join(lines) + "\n")
        os.chmod(target, 0o600)
        return target
