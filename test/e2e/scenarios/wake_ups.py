"""Events that may make a pending pod schedulable requeue it within seconds. Without an event, pods are retried only
after five minutes, so a pod that is bound in time was requeued by the event."""

import objects
from scenario import scenario

WITHIN = 10.0
ZONE = "topology.kubernetes.io/zone"


def wakes(name, proves):
    """A scenario that starts a scheduler, runs the function up to its yield, checks that the pod `waits` is pending,
    lets the function trigger the event, and checks that the pod is bound."""
    def register(function):
        def play(t):
            t.start_scheduler(podMaxBackoffSeconds=2)
            steps = function(t)
            reason = next(steps) or "Unschedulable"
            t.wait_pending("waits", reason=reason)
            t.stays("the pod is pending", lambda: not t.get_pod("waits")["spec"].get("nodeName"), 0.5)
            next(steps, None)
            t.wait_bound("waits", timeout=WITHIN)
        scenario(proves, name=f"woken_by_{name}")(play)
        return function
    return register


@wakes("node_added", "a node is added")
def node_added(t):
    t.node("n1", cpu="1")
    t.pod("waits", {"cpu": "2"})
    yield
    t.node("n2", cpu="4")


@wakes("first_node", "the first node is added")
def first_node(t):
    t.pod("waits")
    yield
    t.node("n1")


@wakes("node_label", "a node gets the required label")
def node_label(t):
    t.node("n1")
    t.pod("waits", nodeSelector={"disk": "ssd"})
    yield
    t.api.patch("Node", "n1", {"metadata": {"labels": {"disk": "ssd"}}})


@wakes("taint_removed", "a taint is removed from a node")
def taint_removed(t):
    t.node("n1", taints=[objects.taint("maintenance")])
    t.pod("waits")
    yield
    t.api.patch("Node", "n1", {"spec": {"taints": None}})


@wakes("uncordon", "a node is uncordoned")
def uncordon(t):
    t.node("n1", unschedulable=True)
    t.pod("waits")
    yield
    t.api.patch("Node", "n1", {"spec": {"unschedulable": None}})


@wakes("allocatable", "a node's allocatable grows")
def allocatable(t):
    t.node("n1", cpu="1")
    t.pod("waits", {"cpu": "2"})
    yield
    t.api.patch("Node", "n1", {"status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}}}, sub="status")


@wakes("toleration_added", "the pending pod itself gets a toleration")
def toleration_added(t):
    t.node("n1", taints=[objects.taint("gpu")])
    t.pod("waits")
    yield
    t.api.call("PATCH", f"/api/v1/namespaces/{t.namespace}/pods/waits",
               [{"op": "add", "path": "/spec/tolerations/-", "value": {"key": "gpu", "operator": "Exists"}}],
               "application/json-patch+json")


@wakes("pod_deleted", "a pod that used the resources is deleted")
def pod_deleted(t):
    t.node("n1", cpu="2")
    t.pod("holder", {"cpu": "2"})
    t.wait_bound("holder")
    t.pod("waits", {"cpu": "2"})
    yield
    t.delete_pod("holder")


@wakes("pod_finished", "a pod that used the resources has finished")
def pod_finished(t):
    t.node("n1", cpu="2")
    t.pod("holder", {"cpu": "2"})
    t.wait_bound("holder")
    t.pod("waits", {"cpu": "2"})
    yield
    t.api.patch("Pod", "holder", {"status": {"phase": "Succeeded"}}, t.namespace, sub="status")


@wakes("port_freed", "a host port becomes free")
def port_freed(t):
    t.node("n1")
    t.pod("holder", host_port=8080)
    t.wait_bound("holder")
    t.pod("waits", host_port=8080)
    yield
    t.delete_pod("holder")


@wakes("rival_deleted", "the pod that anti-affinity excluded is deleted")
def rival_deleted(t):
    t.node("n1")
    t.pod("rival", labels={"app": "db"})
    t.wait_bound("rival")
    t.pod("waits", affinity=objects.require_apart({"app": "db"}))
    yield
    t.delete_pod("rival")


@wakes("friend_bound", "a pod that affinity requires is bound")
def friend_bound(t):
    t.node("n1")
    t.pod("waits", affinity=objects.require_near({"app": "db"}))
    yield
    t.pod("friend", labels={"app": "db"})


@wakes("friend_labelled", "a running pod gets the label that affinity requires")
def friend_labelled(t):
    t.node("n1")
    t.pod("friend")
    t.wait_bound("friend")
    t.pod("waits", affinity=objects.require_near({"app": "db"}))
    yield
    t.api.patch("Pod", "friend", {"metadata": {"labels": {"app": "db"}}}, t.namespace)


@wakes("skew_relieved", "a pod is deleted from the zone that exceeded the skew")
def skew_relieved(t):
    t.node("a", labels={ZONE: "a"})
    t.node("b", labels={ZONE: "b"}, unschedulable=True)
    constraint = [{**objects.spread({"app": "web"}, ZONE), "nodeTaintsPolicy": "Ignore"}]
    t.pod("holder", labels={"app": "web"}, topologySpreadConstraints=constraint)
    t.wait_bound("holder")
    t.pod("waits", labels={"app": "web"}, topologySpreadConstraints=constraint)
    yield
    t.delete_pod("holder")


@wakes("pod_shrunk", "a running pod is resized to request less")
def pod_shrunk(t):
    t.node("n1", cpu="4")
    t.pod("holder", {"cpu": "3"})
    t.wait_bound("holder")
    t.pod("waits", {"cpu": "2"})
    yield
    t.api.call("PATCH", f"/api/v1/namespaces/{t.namespace}/pods/holder/resize",
               [{"op": "replace", "path": "/spec/containers/0/resources/requests/cpu", "value": "1"}],
               "application/json-patch+json")


@wakes("claim_created", "the claim that the pod names is created")
def claim_created(t):
    t.node("n1")
    t.add(objects.storage_class("static"))
    t.pod("waits", claims=["data"])
    yield
    claim = t.add(objects.claim("data", "static", volume="pv-data"))
    t.add_volume(objects.volume("pv-data", "static", on_node="n1", claim_ref=claim), phase="Bound")
    t.api.patch("PersistentVolumeClaim", "data",
                {"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}, t.namespace)


@wakes("volume_created", "a volume that matches the claim is created")
def volume_created(t):
    from scenarios.volumes import play_volume_controller
    t.node("n1")
    t.add(objects.storage_class("static"))
    t.add(objects.claim("data", "static"))
    t.pod("waits", claims=["data"])
    yield
    play_volume_controller(t)
    t.add_volume(objects.volume("pv-data", "static", on_node="n1"))


@wakes("claim_bound", "a claim of an Immediate storage class is bound")
def claim_bound(t):
    t.node("n1")
    t.add(objects.storage_class("immediate", provisioner="example.com/disks", mode="Immediate"))
    claim = t.add(objects.claim("data", "immediate"))
    t.pod("waits", claims=["data"])
    yield
    t.add_volume(objects.volume("pv-data", "immediate", on_node="n1", claim_ref=claim), phase="Bound")
    t.api.patch("PersistentVolumeClaim", "data",
                {"spec": {"volumeName": "pv-data"},
                 "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}, t.namespace)


@wakes("storage_class_created", "the storage class that a claim names is created")
def storage_class_created(t):
    from scenarios.volumes import play_volume_controller
    t.node("n1")
    t.add(objects.claim("data", "late"))
    t.pod("waits", claims=["data"])
    yield
    play_volume_controller(t, provisioner="example.com/disks")
    t.add(objects.storage_class("late", provisioner="example.com/disks"))
