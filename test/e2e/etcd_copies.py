"""Thousands of running pods within seconds: one is created through the API, and its record in etcd is copied.

A record is protobuf, in which every text follows its length. So names, UIDs and node names can be replaced by others of
the same length. What kube-apiserver then serves is the same as for pods that were created one by one.
"""

import base64
import concurrent.futures
import datetime
import uuid

import objects

PODS_PER_TRANSACTION = 100  # etcd allows 128 operations


def _text(data):
    return base64.b64encode(data).decode()


def _running_status(started):
    """What a kubelet writes."""
    conditions = [{"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": started}
                  for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")]
    container = {"name": "main", "image": "registry.example/app:1",
                 "imageID": f"registry.example/app@sha256:{'0' * 64}", "containerID": f"containerd://{'0' * 64}", "ready": True, "started": True, "restartCount": 0,
                 "state": {"running": {"startedAt": started}}, "lastState": {}}
    return {"phase": "Running", "conditions": conditions, "hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.1"}],
            "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}], "qosClass": "Burstable", "startTime": started,
            "containerStatuses": [container]}


def make_template(api, namespace, name, node_name, labels):
    """A pod of a ReplicaSet, on its node and running."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet",
             "metadata": {"name": labels["app"], "uid": str(uuid.uuid4())}}
    pod = objects.pod(name, {"cpu": "100m", "memory": "64Mi"}, {**labels, "pod-template-hash": "5d4f8c7b9"}, owner,
                      nodeName=node_name)
    pod["metadata"]["namespace"] = namespace
    api.create(pod)
    started = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return api.patch("Pod", name, {"status": _running_status(started)}, namespace, "status")


def copies_of(record, replacements):
    """The record with each text replaced; a text that is missing, or of another length, would break the record."""
    for old, new in replacements:
        if old not in record or len(old) != len(new):
            raise ValueError(f"cannot replace {old!r} by {new!r} in a record of etcd")
        record = record.replace(old, new)
    return record


def run_pods(control_plane, namespace, node_names, count, templates=50):
    """Creates `count` running pods in `namespace`, in turn on `node_names`, which all have the same length."""
    folder = f"/registry/pods/{namespace}/"
    puts = []
    for number in range(templates):
        own = [f"app-{number:02}-{index:06}" for index in range(count // templates + (number < count % templates))]
        if not own:
            break
        made = make_template(control_plane.api, namespace, own[0], node_names[0], {"app": f"app-{number:02}"})
        found = control_plane.etcd_call("/v3/kv/range", {"key": _text((folder + own[0]).encode())})
        record = base64.b64decode(found["kvs"][0]["value"])
        for name in own[1:]:
            node = node_names[len(puts) % len(node_names)]
            puts.append((folder + name, record, (
                (own[0].encode(), name.encode()), (made["metadata"]["uid"].encode(), str(uuid.uuid4()).encode()),
                (node_names[0].encode(), node.encode()))))

    def put(begin):
        operations = [{"requestPut": {"key": _text(key.encode()), "value": _text(copies_of(record, replacements))}}
                      for key, record, replacements in puts[begin:begin + PODS_PER_TRANSACTION]]
        control_plane.etcd_call("/v3/kv/txn", {"success": operations})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in pool.map(put, range(0, len(puts), PODS_PER_TRANSACTION)):
            pass
