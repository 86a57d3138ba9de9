"""Kubernetes objects from a few arguments, as the scenarios need them."""

import json


def _meta(name, labels=None, namespace=None, owner=None, annotations=None):
    meta = {"name": name, "labels": labels or {}}
    if namespace:
        meta["namespace"] = namespace
    if annotations:
        meta["annotations"] = annotations
    if owner:
        meta["ownerReferences"] = [{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True,
                                    "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]
    return meta


def node(name, cpu="4", memory="16Gi", pods="110", labels=None, taints=(), unschedulable=False, extended=None):
    resources = {"cpu": cpu, "memory": memory, "pods": pods, "ephemeral-storage": "100Gi", **(extended or {})}
    spec = {"taints": list(taints), "unschedulable": unschedulable}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": _meta(name, {"kubernetes.io/hostname": name, **(labels or {})}), "spec": spec,
            "status": {"capacity": resources, "allocatable": resources,
                       "conditions": [{"type": "Ready", "status": "True", "reason": "E2E"}]}}


def taint(key, effect="NoSchedule", value=""):
    return {"key": key, "value": value, "effect": effect}


def pod(name, requests=None, labels=None, owner=None, claims=(), host_port=None, annotations=None, **spec):
    """`spec` is merged into the pod's spec: nodeSelector, affinity, schedulingGates…"""
    container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": requests or {}}}
    if host_port:
        container["ports"] = [{"containerPort": host_port, "hostPort": host_port}]
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _meta(name, labels, owner=owner, annotations=annotations),
            "spec": {"containers": [container], "volumes": volumes, **spec}}


def pod_term(labels, topology_key="kubernetes.io/hostname"):
    return {"labelSelector": {"matchLabels": labels}, "topologyKey": topology_key}


def require_near(labels, topology_key="kubernetes.io/hostname"):
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [pod_term(labels, topology_key)]}}


def require_apart(labels, topology_key="kubernetes.io/hostname"):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [pod_term(labels, topology_key)]}}


def spread(labels, topology_key, max_skew=1, otherwise="DoNotSchedule"):
    return {"maxSkew": max_skew, "topologyKey": topology_key, "whenUnsatisfiable": otherwise,
            "labelSelector": {"matchLabels": labels}}


def priority_class(name, value, policy="PreemptLowerPriority"):
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": _meta(name), "value": value,
            "preemptionPolicy": policy}


def replica_set(name, labels):
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": _meta(name, labels),
            "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}}


def disruption_budget(name, labels):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": _meta(name),
            "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}}}


def storage_class(name, provisioner="kubernetes.io/no-provisioner", mode="WaitForFirstConsumer"):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": _meta(name),
            "provisioner": provisioner, "volumeBindingMode": mode}


def claim(name, storage_class_name, size="1Gi", volume=None):
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class_name,
            "resources": {"requests": {"storage": size}}}
    if volume:
        spec["volumeName"] = volume
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": _meta(name), "spec": spec}


def volume(name, storage_class_name, size="1Gi", on_node=None, claim_ref=None):
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class_name,
            "persistentVolumeReclaimPolicy": "Retain", "local": {"path": f"/volumes/{name}"}}
    if on_node:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": [on_node]}]}]}}
    if claim_ref:
        meta = claim_ref["metadata"]
        spec["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta["namespace"],
                            "name": meta["name"], "uid": meta["uid"]}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": _meta(name), "spec": spec}


def device_class(name, driver, extended=None):
    spec = {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]}
    if extended:
        spec["extendedResourceName"] = extended
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": _meta(name), "spec": spec}


def resource_slice(driver, node_name, devices):
    """A pool of the node's own with these devices."""
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": _meta(f"{node_name}-{driver}"),
            "spec": {"driver": driver, "nodeName": node_name, "devices": [{"name": name} for name in devices],
                     "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1}}}


def _claim_spec(class_name, count):
    return {"devices": {"requests": [{"name": "devices", "exactly": {"deviceClassName": class_name, "count": count}}]}}


def resource_claim(name, class_name, count=1, owner=None):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": _meta(name, owner=owner),
            "spec": _claim_spec(class_name, count)}


def claim_template(name, class_name, count=1):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": _meta(name),
            "spec": {"spec": _claim_spec(class_name, count)}}


def copies(template, names):
    """Encoded copies of `template`, one per name; a node's hostname label gets its name."""
    placeholder = template["metadata"]["name"]
    text = json.dumps(template)
    return (text.replace(f'"{placeholder}"', f'"{name}"').encode() for name in names)
