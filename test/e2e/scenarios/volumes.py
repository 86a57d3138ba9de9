"""WaitForFirstConsumer: the scheduler chooses the node, then the volume follows."""

import objects
from api import ApiError
from scenario import expect_equal, no_fit, scenario

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}


def play_volume_controller(t, provisioner=None):
    """Does for this scenario's claims what the PersistentVolume controller and, given a name, a provisioner would."""
    def bind(claim, volume):
        name = claim["metadata"]["name"]
        t.api.patch("PersistentVolumeClaim", name, {"spec": {"volumeName": volume}, "metadata": BIND_COMPLETED},
                    t.namespace)
        t.api.patch("PersistentVolumeClaim", name, {"status": {"phase": "Bound"}}, t.namespace, sub="status")
        t.api.patch("PersistentVolume", volume, {"status": {"phase": "Bound"}}, sub="status")

    def work(stop):
        while not stop.wait(0.1):
            try:
                claimed = {volume["spec"]["claimRef"]["name"]: volume["metadata"]["name"]
                           for volume in t.api.list("PersistentVolume") if volume["spec"].get("claimRef")}
                for claim in t.api.list("PersistentVolumeClaim", t.namespace):
                    name, annotations = claim["metadata"]["name"], claim["metadata"].get("annotations", {})
                    if claim["spec"].get("volumeName"):
                        continue
                    if name in claimed:
                        bind(claim, claimed[name])
                    elif provisioner and SELECTED_NODE in annotations:
                        volume = objects.volume(f"pv-{name}", claim["spec"]["storageClassName"],
                                                on_node=annotations[SELECTED_NODE], claim_ref=claim)
                        t.add_volume(volume)
                        bind(claim, f"pv-{name}")
            except (ApiError, OSError):
                continue  # retried in the next round
    t.background(work)


@scenario("static volumes: the pod is placed where a volume is, and the volume is reserved for its claim before the "
          "pod is bound")
def first_consumer_static(t):
    t.nodes(3)
    t.add(objects.storage_class("local"))
    t.add_volume(objects.volume("pv-1", "local", on_node="node-1"))
    t.add_volume(objects.volume("pv-2", "local", on_node="node-2", size="10Gi"))
    t.add(objects.claim("small", "local"))
    t.add(objects.claim("large", "local", size="5Gi"))
    play_volume_controller(t)
    t.start_scheduler()
    t.pod("two", claims=["large"])
    t.wait_bound("two", on="node-2")
    t.pod("one", claims=["small"])
    t.wait_bound("one", on="node-1")
    for volume, claim in (("pv-1", "small"), ("pv-2", "large")):
        found = t.api.get("PersistentVolume", volume)
        expect_equal(found["spec"]["claimRef"]["name"], claim, f"the claim of {volume}")
        annotation = found["metadata"]["annotations"].get("pv.kubernetes.io/bound-by-controller")
        expect_equal(annotation, "yes", "the annotation of a volume that was chosen for its claim")
    t.add(objects.claim("third", "local"))
    t.pod("three", claims=["third"])
    t.wait_pending("three", no_fit(3, "3 node(s) didn't find available persistent volumes to bind",
                                   "0/3 nodes are available: 3 Preemption is not helpful for scheduling."))


@scenario("dynamic volumes: the claim is annotated with the node, and the pod is bound once the volume is provisioned")
def first_consumer_dynamic(t):
    t.nodes(2)
    t.node("target", labels={"disk": "fast"})
    t.add(objects.storage_class("dynamic", provisioner="example.com/disks"))
    t.add(objects.claim("data", "dynamic"))
    t.start_scheduler()
    t.pod("user", nodeSelector={"disk": "fast"}, claims=["data"])
    claim = t.eventually("the claim is told the node", lambda: _told(t, "data"))
    expect_equal(claim["metadata"]["annotations"][SELECTED_NODE], "target", "the selected node")
    t.stays("no binding before there is a volume", lambda: not t.get_pod("user")["spec"].get("nodeName"), 1)
    t.eventually("the pod says where it is about to go",
                 lambda: t.get_pod("user")["status"].get("nominatedNodeName") == "target")
    play_volume_controller(t, provisioner="example.com/disks")
    t.wait_bound("user", on="target")
    expect_equal(t.get_pod("user")["status"].get("nominatedNodeName"), None, "the nominated node of a bound pod")


def _told(t, name):
    claim = t.api.get("PersistentVolumeClaim", name, t.namespace)
    return claim if SELECTED_NODE in claim["metadata"].get("annotations", {}) else None


@scenario("a provisioner that fails removes the node from the claim, and the pod is scheduled again")
def provisioning_fails_then_succeeds(t):
    t.nodes(2)
    t.add(objects.storage_class("dynamic", provisioner="example.com/disks"))
    t.add(objects.claim("data", "dynamic"))
    t.start_scheduler(podMaxBackoffSeconds=2)
    t.pod("user", claims=["data"])
    t.eventually("the claim is told a node", lambda: _told(t, "data"))
    t.api.patch("PersistentVolumeClaim", "data", {"metadata": {"annotations": {SELECTED_NODE: None}}}, t.namespace)
    t.wait_event("FailedScheduling", "user")
    play_volume_controller(t, provisioner="example.com/disks")
    t.wait_bound("user")
