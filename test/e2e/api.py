"""A small client of the Kubernetes API: JSON over kept connections, one per thread."""

import concurrent.futures
import http.client
import json
import ssl
import threading
import urllib.parse

# Kind: its API path, its plural, whether it is namespaced.
KINDS = {
    "Namespace": ("/api/v1", "namespaces", False),
    "Node": ("/api/v1", "nodes", False),
    "Pod": ("/api/v1", "pods", True),
    "PersistentVolume": ("/api/v1", "persistentvolumes", False),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims", True),
    "ServiceAccount": ("/api/v1", "serviceaccounts", True),
    "Service": ("/api/v1", "services", True),
    "ConfigMap": ("/api/v1", "configmaps", True),
    "Event": ("/apis/events.k8s.io/v1", "events", True),
    "ReplicaSet": ("/apis/apps/v1", "replicasets", True),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets", True),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1", "priorityclasses", False),
    "StorageClass": ("/apis/storage.k8s.io/v1", "storageclasses", False),
    "CSINode": ("/apis/storage.k8s.io/v1", "csinodes", False),
    "DeviceClass": ("/apis/resource.k8s.io/v1", "deviceclasses", False),
    "ResourceSlice": ("/apis/resource.k8s.io/v1", "resourceslices", False),
    "ResourceClaim": ("/apis/resource.k8s.io/v1", "resourceclaims", True),
    "ResourceClaimTemplate": ("/apis/resource.k8s.io/v1", "resourceclaimtemplates", True),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases", True),
    "ClusterRole": ("/apis/rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
}
MERGE_PATCH = "application/merge-patch+json"


class ApiError(Exception):
    def __init__(self, status, body, what):
        self.status = status
        self.body = body
        try:
            message = json.loads(body).get("message", "")
        except ValueError:
            message = body[:300].decode("utf-8", "replace")
        super().__init__(f"{what}: {status} {message}")


def path(kind, namespace=None, name=None, sub=None, **query):
    base, plural, namespaced = KINDS[kind]
    parts = [base]
    if namespaced and namespace:
        parts.append(f"namespaces/{namespace}")
    parts += [part for part in (plural, name, sub) if part]
    text = "/".join(parts)
    query = {key: value for key, value in query.items() if value is not None}
    return f"{text}?{urllib.parse.urlencode(query)}" if query else text


class Api:
    def __init__(self, server, ca, pair=None, token=None):
        address = urllib.parse.urlsplit(server)
        self._host, self._port = address.hostname, address.port
        self._tls = ssl.create_default_context(cafile=str(ca))
        if pair:
            self._tls.load_cert_chain(str(pair.certificate), str(pair.key))
        self._headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        self._thread = threading.local()

    def _connect(self, timeout=30):
        return http.client.HTTPSConnection(self._host, self._port, context=self._tls, timeout=timeout)

    def _exchange(self, method, target, body, content_type):
        """Sends one request over this thread's connection; a kept connection that is dead is replaced once."""
        headers = {**self._headers, **({"Content-Type": content_type} if body is not None else {})}
        for attempt in (1, 2):
            kept = getattr(self._thread, "connection", None)
            connection = kept or self._connect()
            try:
                connection.request(method, target, body, headers)
                response = connection.getresponse()
                data = response.read()
                self._thread.connection = None if response.will_close else connection
                return response.status, data
            except (OSError, http.client.HTTPException):
                connection.close()
                self._thread.connection = None
                if kept is None or attempt == 2:
                    raise

    def raw(self, method, target, body=None, content_type="application/json"):
        """Status and bytes, whatever the status."""
        return self._exchange(method, target, body, content_type)

    def stream(self, target, accept):
        """Yields the bytes of an answer as they arrive, over a separate connection; nothing if it is rejected."""
        connection = self._connect(timeout=120)
        try:
            connection.request("GET", target, headers={**self._headers, "Accept": accept})
            response = connection.getresponse()
            while response.status == 200 and (data := response.read1(1 << 18)):
                yield data
        finally:
            connection.close()

    def call(self, method, target, obj=None, content_type="application/json"):
        body = obj if obj is None or isinstance(obj, bytes) else json.dumps(obj).encode()
        status, data = self._exchange(method, target, body, content_type)
        if status >= 300:
            raise ApiError(status, data, f"{method} {target}")
        return json.loads(data) if data else None

    def get(self, kind, name, namespace=None):
        return self.call("GET", path(kind, namespace, name))

    def find(self, kind, name, namespace=None):
        """None if there is no such object."""
        try:
            return self.get(kind, name, namespace)
        except ApiError as error:
            if error.status != 404:
                raise
            return None

    def list(self, kind, namespace=None, fields=None, labels=None):
        return self.call("GET", path(kind, namespace, fieldSelector=fields, labelSelector=labels))["items"]

    def create(self, obj):
        return self.call("POST", path(obj["kind"], obj["metadata"].get("namespace")), obj)

    def patch(self, kind, name, patch, namespace=None, sub=None):
        return self.call("PATCH", path(kind, namespace, name, sub), patch, MERGE_PATCH)

    def delete(self, kind, name, namespace=None, grace=None):
        options = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        return self.call("DELETE", path(kind, namespace, name), options)

    def delete_all(self, kind, namespace=None):
        self.call("DELETE", path(kind, namespace),
                  {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})

    def create_many(self, kind, bodies, namespace=None, connections=8):
        """Creates objects, given as encoded JSON, over several connections at once."""
        with concurrent.futures.ThreadPoolExecutor(connections) as pool:
            for _ in pool.map(lambda body: self.create_encoded(kind, body, namespace), bodies):
                pass

    def create_encoded(self, kind, body, namespace=None):
        target = path(kind, namespace)
        status, data = self._exchange("POST", target, body, "application/json")
        if status >= 300:
            raise ApiError(status, data, f"POST {target}")

    def watch(self, kind, namespace=None, version="0", seconds=30, fields=None):
        """Yields (event type, object) for at most `seconds`, over a separate connection."""
        target = path(kind, namespace, watch="true", resourceVersion=version, timeoutSeconds=int(seconds),
                      fieldSelector=fields)
        connection = self._connect(timeout=seconds + 10)
        try:
            connection.request("GET", target, headers=self._headers)
            response = connection.getresponse()
            if response.status >= 300:
                raise ApiError(response.status, response.read(), f"GET {target}")
            for line in response:
                event = json.loads(line)
                yield event["type"], event["object"]
        finally:
            connection.close()
