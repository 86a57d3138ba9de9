"""What must hold after every scenario, as seen by the API server only."""

from collections import Counter, defaultdict
from fractions import Fraction

from control_plane import SCHEDULER_USER
from process import Failed, eventually

_SUFFIXES = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "k": 10**3, "M": 10**6,
             "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def quantity(text):
    number = str(text).rstrip("numkKMGTi")
    return Fraction(number) * _SUFFIXES[str(text)[len(number):]]


def _add(total, resources):
    for name, amount in resources.items():
        total[name] += quantity(amount)


def requests_of(pod):
    """What a pod requests from its node: its containers with the sidecars, or the largest init step."""
    spec = pod["spec"]
    running, starting, sidecars = Counter(), Counter(), Counter()
    for container in spec.get("initContainers", ()):
        needs = Counter(sidecars)
        _add(needs, container.get("resources", {}).get("requests", {}))
        if container.get("restartPolicy") == "Always":
            sidecars = Counter(needs)
        for name, amount in needs.items():
            starting[name] = max(starting[name], amount)
    for container in spec["containers"]:
        _add(running, container.get("resources", {}).get("requests", {}))
    running.update(sidecars)
    total = Counter({name: max(running[name], starting[name]) for name in {*running, *starting}})
    _add(total, spec.get("overhead", {}))
    total["pods"] = Fraction(1)
    return total


def nodes_not_over(api):
    used = defaultdict(Counter)
    for pod in api.list("Pod"):
        if pod["spec"].get("nodeName") and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            # Extended resources of a device class are not part of the node's allocatable.
            claim = pod["status"].get("extendedResourceClaimStatus", {})
            served = {mapping["resourceName"] for mapping in claim.get("requestMappings", [])}
            requests = requests_of(pod)
            used[pod["spec"]["nodeName"]].update({name: requests[name] for name in requests if name not in served})
    over = []
    for node in api.list("Node"):
        allocatable = node["status"]["allocatable"]
        for resource, amount in used[node["metadata"]["name"]].items():
            room = quantity(allocatable.get(resource, 0))
            if amount > room:
                over.append(f"{node['metadata']['name']}: {resource} {float(amount):g} of {float(room):g}")
    if over:
        raise Failed(f"nodes over their allocatable: {'; '.join(over[:5])}")


def bound_at_most_once(t):
    """One successful binding per pod. Another attempt is an error too, unless faults were injected: if an answer is
    lost, a scheduler tries again, and the API server rejects it."""
    bound, refused = Counter(), []
    for binding in t.audit.bindings(t.mark, t.namespace):
        if binding.status == 201:
            bound[binding.pod] += 1
        elif "already assigned to node" in binding.message:
            refused.append(binding.pod)
    twice = [pod for pod, times in bound.items() if times > 1]
    if twice:
        raise Failed(f"bound twice: {', '.join(twice[:5])}")
    if refused and not t.faults:
        raise Failed(f"tried to bind again what was bound: {', '.join(refused[:5])}")
    if not t.faults:
        unexplained = [name for name, pod in t.pods_by_name().items()
                       if pod["spec"].get("nodeName") and bound[name] == 0 and name not in t.placed]
        if unexplained:
            raise Failed(f"on a node without a binding on record: {', '.join(unexplained[:5])}")


def none_lost(t):
    """Every pod that was not deleted exists, and either is on a node or has a condition that says why not."""
    deleted = {event["objectRef"]["name"] for event in t.audit.requests_of(SCHEDULER_USER, t.mark)
               if event["verb"] == "delete" and event["objectRef"].get("resource") == "pods"
               and event["objectRef"].get("namespace") == t.namespace}
    gone = t.created - t.deleted - deleted - set(t.pods_by_name())
    if gone:
        raise Failed(f"pods that nobody deleted are gone: {', '.join(sorted(gone)[:5])}")
    if not any(scheduler.process.running for scheduler in t.schedulers):
        return

    def all_answered():
        waiting = [name for name, pod in t.pods_by_name().items()
                   if not pod["spec"].get("nodeName") and name not in t.unserved
                   and not any(condition["type"] == "PodScheduled" and condition["status"] == "False"
                               for condition in pod["status"].get("conditions", ()))]
        if waiting:
            raise Failed(f"neither bound nor told why not: {', '.join(waiting[:5])}")
        return True

    eventually("every pod is answered for", all_answered, timeout=20, every=0.5)


def nothing_forbidden(t):
    """The bootstrap roles suffice: the API server never denied the scheduler anything."""
    if t.faults:
        return  # a restarted server denies requests until it has read its roles
    refused = {f"{event['verb']} {event['requestURI']}" for event in t.audit.requests_of(SCHEDULER_USER, t.mark)
               if event.get("responseStatus", {}).get("code") == 403}
    if refused:
        raise Failed(f"the scheduler asked for what its role does not allow: {', '.join(sorted(refused)[:5])}")


def check(t):
    nodes_not_over(t.api)
    bound_at_most_once(t)
    none_lost(t)
    nothing_forbidden(t)
