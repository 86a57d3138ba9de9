"""The stage of one scenario: its own namespace, nodes, pods, schedulers, and ways to wait for what must happen.

A scenario is a function marked with @scenario that takes the stage:

    @scenario("a pod is bound")
    def pod_is_bound(t):
        t.node("n1")
        t.start_scheduler()
        t.pod("web", {"cpu": "1"})
        t.wait_bound("web", on="n1")
"""

import threading
import time

import objects
from api import ApiError
from process import SCALE, Failed, eventually
from scheduler import Scheduler

SCENARIOS = []
# What a scenario may leave behind outside its namespace, and what must be gone before the next.
CLUSTER_KINDS = ("Node", "PersistentVolume", "StorageClass", "CSINode", "ResourceSlice", "DeviceClass")
NAMESPACE_KINDS = ("Pod", "PersistentVolumeClaim", "PodDisruptionBudget", "ReplicaSet", "Event")


def scenario(proves, faults=False, name=None, only=None):
    """Registers a scenario: `proves` is the sentence shown, `faults` says that it injects faults, `only` names the one
    scheduler that it is about."""
    def register(function):
        SCENARIOS.append(Entry(name or function.__name__, proves, faults, only, function))
        return function
    return register


class Entry:
    def __init__(self, name, proves, faults, only, function):
        self.name, self.proves, self.faults, self.only, self.function = name, proves, faults, only, function


class Stage:
    def __init__(self, entry, control_plane, program, folder, options):
        self.control_plane = control_plane
        self.api = control_plane.api
        self.audit = control_plane.audit
        self.program = program
        self.folder = folder
        self.options = options
        self.faults = entry.faults
        self.namespace = "e2e-" + entry.name.replace("_", "-")
        self.mark = self.audit.mark()
        self.schedulers = []
        self.created, self.deleted = set(), set()
        self.placed = set()    # pods created with a node: the audit log has no binding for them
        self.unserved = set()  # pods that no scheduler here handles
        self._closing = []
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})

    # Things to create -------------------------------------------------------------------------------------------

    def node(self, name, **properties):
        return self.api.create(objects.node(name, **properties))

    def nodes(self, count, prefix="node", **properties):
        """Equal except for their names: prefix-0, prefix-1…"""
        names = [f"{prefix}-{index}" for index in range(count)]
        self.api.create_many("Node", objects.copies(objects.node("NAME", **properties), names))
        return names

    def add(self, obj):
        """Creates any object; a namespaced one in this scenario's namespace."""
        if obj["kind"] not in (*CLUSTER_KINDS, "PriorityClass"):
            obj["metadata"]["namespace"] = self.namespace
        if obj["kind"] == "PriorityClass":
            self.on_close(lambda: self.api.delete("PriorityClass", obj["metadata"]["name"]))
        if obj["kind"] == "Pod":
            self.created.add(obj["metadata"]["name"])
            if obj["spec"].get("nodeName"):
                self.placed.add(obj["metadata"]["name"])
        return self.api.create(obj)

    def pod(self, name, requests=None, **properties):
        return self.add(objects.pod(name, requests, **properties))

    def pods(self, count, requests=None, prefix="pod", **properties):
        """Equal except for their names, created over several connections."""
        names = [f"{prefix}-{index}" for index in range(count)]
        self.created.update(names)
        template = objects.pod("NAME", requests, **properties)
        self.api.create_many("Pod", objects.copies(template, names), self.namespace)
        return names

    def delete_pod(self, name, grace=0):
        self.deleted.add(name)
        self.api.delete("Pod", name, self.namespace, grace=grace)

    def add_volume(self, volume, phase="Available"):
        """A PersistentVolume in the phase that its controller would set."""
        self.add(volume)
        name = volume["metadata"]["name"]
        return self.api.patch("PersistentVolume", name, {"status": {"phase": phase}}, sub="status")

    def scheduler(self, name=None, **properties):
        """A scheduler that is not started yet; it is stopped with the scenario."""
        made = Scheduler(self.program, self.control_plane, self.folder, name or f"scheduler-{len(self.schedulers)}",
                         **properties)
        self.schedulers.append(made)
        return made

    def start_scheduler(self, **properties):
        return self.scheduler(**properties).start()

    def on_close(self, action):
        """Runs when the scenario has ended, whatever its outcome; the last one first."""
        self._closing.append(action)

    def background(self, work):
        """Runs work(stop), an Event, in a thread that is stopped with the scenario."""
        stop = threading.Event()
        thread = threading.Thread(target=work, args=(stop,), daemon=True)
        thread.start()

        def finish():
            stop.set()
            thread.join(30)
        self.on_close(finish)
        return finish

    # Things to see ----------------------------------------------------------------------------------------------

    def get_pod(self, name):
        return self.api.get("Pod", name, self.namespace)

    def pods_by_name(self):
        return {pod["metadata"]["name"]: pod for pod in self.api.list("Pod", self.namespace)}

    def bound_count(self):
        """Pods bound since the scenario began, according to the audit log."""
        return sum(binding.status == 201 for binding in self.audit.bindings(self.mark, self.namespace))

    def events(self, reason, pod):
        return [event for event in self.api.list("Event", self.namespace)
                if event.get("reason") == reason and event.get("regarding", {}).get("name") == pod]

    # Things to wait for -----------------------------------------------------------------------------------------

    def wait_bound(self, name, on=None, timeout=15.0):
        def is_bound():
            pod = self.get_pod(name)
            if not pod["spec"].get("nodeName"):
                raise Failed(f"pending, {condition(pod) or 'no condition'}")
            return pod
        pod = eventually(f"pod {name} is bound", is_bound, timeout)
        if on is not None:
            nodes, found = [on] if isinstance(on, str) else list(on), pod["spec"]["nodeName"]
            expect(found in nodes, f"pod {name} is on {found}, not {' or '.join(nodes)}")
        return pod

    def wait_all_bound(self, names, timeout=60.0):
        """Pods by name, once all of them are on a node."""
        def all_bound():
            pods = self.pods_by_name()
            left = [name for name in names if not pods[name]["spec"].get("nodeName")]
            if left:
                raise Failed(f"{len(left)} of {len(names)} are pending, such as {left[0]}: {condition(pods[left[0]])}")
            return pods
        return eventually("all pods are bound", all_bound, timeout, every=0.1 + len(names) / 2000)

    def wait_bound_count(self, count, timeout=60.0):
        def enough():
            bound = self.bound_count()
            if bound < count:
                raise Failed(f"{bound} of {count}")
            return True
        eventually(f"{count} pods are bound", enough, timeout)

    def wait_pending(self, name, message=None, reason="Unschedulable", timeout=15.0):
        """Waits for PodScheduled=False with this reason and, if given, exactly this message."""
        def is_told():
            found = condition(self.get_pod(name))
            if not found or found["status"] != "False" or found.get("reason") != reason:
                raise Failed(f"found {found}")
            if message is not None and found.get("message") != message:
                raise Failed(f"\n  expected {message}\n  found    {found.get('message')}")
            return found
        return eventually(f"pod {name} is told {reason}", is_told, timeout)

    def wait_event(self, reason, pod, note=None, timeout=15.0):
        def is_there():
            found = self.events(reason, pod)
            if note is not None and found and all(event["note"] != note for event in found):
                raise Failed(f"\n  expected {note}\n  found    {found[-1]['note']}")
            return next((event for event in found if note is None or event["note"] == note), None)
        return eventually(f"event {reason} for {pod}", is_there, timeout)

    def eventually(self, what, check, timeout=15.0):
        return eventually(what, check, timeout)

    def stays(self, what, check, seconds=2.0):
        """Checks for `seconds`; fails as soon as `check()` is not true."""
        deadline = time.monotonic() + seconds * SCALE
        while time.monotonic() < deadline:
            expect(check(), f"{what}: not any more")
            time.sleep(0.1)

    # The end ----------------------------------------------------------------------------------------------------

    def close(self):
        """Stops what was started and deletes what was created."""
        for scheduler in self.schedulers:
            # Its state is not read any more; a scenario about an orderly shutdown has already done it.
            scheduler.process.kill()
        for action in reversed(self._closing):
            try:
                action()
            except ApiError as error:
                if error.status != 404:
                    raise
        if not self.control_plane.apiserver.running:
            self.control_plane.start_apiserver()
        for kind in NAMESPACE_KINDS:
            self.api.delete_all(kind, self.namespace)
        for kind in CLUSTER_KINDS:
            self.api.delete_all(kind)
        for lease in self.api.list("Lease", "kube-system"):
            if "scheduler" in lease["metadata"]["name"]:
                self.api.delete("Lease", lease["metadata"]["name"], "kube-system")


def condition(pod, kind="PodScheduled"):
    return next((found for found in pod.get("status", {}).get("conditions", ()) if found["type"] == kind), None)


def no_fit(nodes, why, preemption):
    """The message of a pod that fits on no node. Both PostFilter plugins add to it: DynamicResources finds no claim to
    deallocate, DefaultPreemption says why it does not help."""
    return f"0/{nodes} nodes are available: {why}. no new claims to deallocate, preemption: {preemption}"


def expect(truth, message):
    if not truth:
        raise Failed(message)


def expect_equal(found, expected, what):
    if found != expected:
        raise Failed(f"{what}\n  expected {expected}\n  found    {found}")
