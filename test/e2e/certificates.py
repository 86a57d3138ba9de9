"""Certificates for one control plane, made by the openssl program: a CA, a server, and one per user."""

import pathlib
import subprocess


def _openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, timeout=30)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {' '.join(map(str, arguments))}: {done.stderr.strip()}")


class Pair:
    """A certificate and its key, as files."""

    def __init__(self, folder, name):
        self.certificate = pathlib.Path(folder) / f"{name}.crt"
        self.key = pathlib.Path(folder) / f"{name}.key"


class Authority:
    def __init__(self, folder, name="ca"):
        self.folder = pathlib.Path(folder)
        self.pair = Pair(folder, name)
        _openssl("req", "-x509", *_NEW_KEY, "-keyout", self.pair.key, "-out", self.pair.certificate, "-days", 2,
                 "-subj", f"/CN=berth-e2e-{name}", "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    @property
    def certificate(self):
        return self.pair.certificate

    def _issue(self, name, subject, extension):
        pair, request = Pair(self.folder, name), self.folder / f"{name}.csr"
        _openssl("req", "-new", *_NEW_KEY, "-keyout", pair.key, "-out", request, "-subj", subject, "-addext", extension)
        _openssl("x509", "-req", "-in", request, "-CA", self.pair.certificate, "-CAkey", self.pair.key,
                 "-CAcreateserial", "-days", 2, "-copy_extensions", "copy", "-out", pair.certificate)
        request.unlink()
        return pair

    def server(self, name):
        return self._issue(name, f"/CN={name}", "subjectAltName=IP:127.0.0.1,DNS:localhost")

    def user(self, name, group=None):
        subject = (f"/O={group}" if group else "") + f"/CN={name}"
        return self._issue(name.replace(":", "-"), subject, "extendedKeyUsage=clientAuth")


def signing_key(folder):
    """A key for service account tokens."""
    path = pathlib.Path(folder) / "service-accounts.key"
    _openssl("genrsa", "-out", path, 2048)
    return path


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
