"""Dynamic resource allocation: devices are allocated to claims before their pods are bound, and deallocated."""

import objects
from api import ApiError
from scenario import expect, expect_equal, scenario
from scenarios.preemption import classes, terminating

DRIVER = "gpu.example.com"
FINALIZER = "resource.kubernetes.io/delete-protection"


def by_template(name="one"):
    return [{"name": "gpu", "resourceClaimTemplateName": name}]


def by_name(name):
    return [{"name": "gpu", "resourceClaimName": name}]


def devices(t, **names):
    """A class for the driver, and the devices of each node."""
    t.add(objects.device_class("gpu", DRIVER, extended="example.com/gpu"))
    for node, found in names.items():
        t.add(objects.resource_slice(DRIVER, node, found))

    def delete_claims():
        """Removes the finalizers, because no controller does."""
        for claim in t.api.list("ResourceClaim", t.namespace):
            t.api.patch("ResourceClaim", claim["metadata"]["name"], {"metadata": {"finalizers": None}}, t.namespace)
        t.api.delete_all("ResourceClaim", t.namespace)
        t.api.delete_all("ResourceClaimTemplate", t.namespace)
    t.on_close(delete_claims)


def play_claim_controller(t):
    """Does for this scenario's pods what the resource claim controller and the garbage collector would."""
    def make_claims(pod):
        known = {status["name"] for status in pod["status"].get("resourceClaimStatuses", [])}
        made = []
        for entry in pod["spec"].get("resourceClaims", []):
            if "resourceClaimTemplateName" not in entry or entry["name"] in known:
                continue
            template = t.api.get("ResourceClaimTemplate", entry["resourceClaimTemplateName"], t.namespace)
            name = f"{pod['metadata']['name']}-{entry['name']}"
            claim = objects.resource_claim(name, "", owner={**pod, "apiVersion": "v1", "kind": "Pod"})
            claim["spec"] = template["spec"]["spec"]
            claim["metadata"]["namespace"] = t.namespace
            if not t.api.find("ResourceClaim", name, t.namespace):
                t.api.create(claim)
            made.append({"name": entry["name"], "resourceClaimName": name})
        if made:
            t.api.patch("Pod", pod["metadata"]["name"], {"status": {"resourceClaimStatuses": made}}, t.namespace,
                        sub="status")

    def release(claim, pods):
        name = claim["metadata"]["name"]
        reserved = claim.get("status", {}).get("reservedFor", [])
        left = [user for user in reserved if user["uid"] in pods]
        if len(left) < len(reserved):
            status = {"reservedFor": left or None}
            if not left:
                status["allocation"] = None
            t.api.patch("ResourceClaim", name, {"status": status}, t.namespace, sub="status")
        owners = claim["metadata"].get("ownerReferences", [])
        if owners and all(owner["uid"] not in pods for owner in owners):
            t.api.patch("ResourceClaim", name, {"metadata": {"finalizers": None}}, t.namespace)
            t.api.delete("ResourceClaim", name, t.namespace)

    def work(stop):
        while not stop.wait(0.1):
            try:
                claims = t.api.list("ResourceClaim", t.namespace)
                pods = t.api.list("Pod", t.namespace)
                for pod in pods:
                    if not terminating(pod):
                        make_claims(pod)
                for claim in claims:
                    release(claim, {pod["metadata"]["uid"] for pod in pods})
            except (ApiError, OSError):
                continue  # retried in the next round
    t.background(work)


def allocated(t, claim):
    """(driver, pool, device) of each device that the claim has."""
    found = t.api.get("ResourceClaim", claim, t.namespace)
    results = found.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    return [(result["driver"], result["pool"], result["device"]) for result in results]


def users(t, claim):
    found = t.api.get("ResourceClaim", claim, t.namespace)
    return sorted(user["name"] for user in found.get("status", {}).get("reservedFor", []))


@scenario("each pod with a claim template gets its own devices; when none are left it waits until some are deallocated")
def claims_by_template(t):
    t.node("n1")
    t.node("n2")
    devices(t, n1=["gpu-0", "gpu-1"])
    t.add(objects.claim_template("one", "gpu"))
    play_claim_controller(t)
    t.start_scheduler()
    for name, device in (("a", "gpu-0"), ("b", "gpu-1")):
        t.pod(name, resourceClaims=by_template())
        t.wait_bound(name, on="n1")
        expect_equal(allocated(t, f"{name}-gpu"), [(DRIVER, "n1", device)], f"the device of {name}")
        expect_equal(users(t, f"{name}-gpu"), [name], f"whom the claim of {name} is reserved for")
        metadata = t.api.get("ResourceClaim", f"{name}-gpu", t.namespace)["metadata"]
        expect(FINALIZER in metadata.get("finalizers", []), f"the claim of {name} has no finalizer: {metadata}")
    t.pod("c", resourceClaims=by_template())
    t.wait_pending("c", "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: "
                        "0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
    t.delete_pod("a")
    t.wait_bound("c", on="n1")
    expect_equal(allocated(t, "c-gpu"), [(DRIVER, "n1", "gpu-0")], "the device of c")


@scenario("pods that name the same claim share its devices, and are placed on their node")
def shared_claim(t):
    t.nodes(2)
    t.node("n1")
    devices(t, n1=["gpu-0", "gpu-1"])
    t.add(objects.resource_claim("shared", "gpu"))
    t.start_scheduler()
    for name in ("a", "b", "c"):
        t.pod(name, resourceClaims=by_name("shared"))
        t.wait_bound(name, on="n1")
    expect_equal(allocated(t, "shared"), [(DRIVER, "n1", "gpu-0")], "the devices of the claim")
    expect_equal(users(t, "shared"), ["a", "b", "c"], "whom the claim is reserved for")
    t.pod("lost", resourceClaims=by_name("nowhere"))
    t.stays("no node without the claim", lambda: not t.get_pod("lost")["spec"].get("nodeName"), 1)
    t.add(objects.resource_claim("nowhere", "gpu"))
    t.wait_bound("lost", on="n1")
    expect_equal(allocated(t, "nowhere"), [(DRIVER, "n1", "gpu-1")], "the devices of the claim that came late")


@scenario("an extended resource of a device class is satisfied with devices, through a claim created for the pod")
def extended_resources(t):
    t.node("n1")
    t.node("n2")
    devices(t, n1=["gpu-0", "gpu-1", "gpu-2"])
    t.start_scheduler()
    amount = {"example.com/gpu": "2"}
    container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": amount, "limits": amount}}
    t.pod("a", containers=[container])
    t.wait_bound("a", on="n1")
    status = t.get_pod("a")["status"].get("extendedResourceClaimStatus", {})
    claim = status.get("resourceClaimName", "")
    expect(claim.startswith("a-extended-resources-"), f"the pod's status names the claim {claim!r}")
    expect_equal(allocated(t, claim), [(DRIVER, "n1", "gpu-0"), (DRIVER, "n1", "gpu-1")], "the devices of the pod")
    expect_equal(status["requestMappings"], [{"containerName": "main", "resourceName": "example.com/gpu",
                                              "requestName": "container-0-request-0"}], "the mappings")
    made = t.api.get("ResourceClaim", claim, t.namespace)
    expect_equal(made["metadata"]["annotations"].get("resource.kubernetes.io/extended-resource-claim"), "true",
                 "the claim's annotation")
    expect_equal(made["metadata"]["ownerReferences"][0]["name"], "a", "the claim's owner")
    t.pod("b", containers=[container])
    t.wait_pending("b")


@scenario("a pod with a claim preempts for cpu; the victim's device is deallocated, and the preemptor gets its own")
def preemption_beside_claims(t):
    classes(t, low=10, high=1000)
    t.node("n1", cpu="2")
    devices(t, n1=["gpu-0", "gpu-1"])
    t.add(objects.claim_template("one", "gpu"))
    play_claim_controller(t)
    t.start_scheduler()
    t.pod("victim", {"cpu": "2"}, resourceClaims=by_template(), priorityClassName="e2e-low",
          terminationGracePeriodSeconds=30)
    t.wait_bound("victim", on="n1")
    expect_equal(allocated(t, "victim-gpu"), [(DRIVER, "n1", "gpu-0")], "the victim's device")
    t.pod("preemptor", {"cpu": "2"}, resourceClaims=by_template(), priorityClassName="e2e-high")
    t.eventually("the victim is being deleted", lambda: terminating(t.get_pod("victim")))
    t.eventually("the preemptor is nominated",
                 lambda: t.get_pod("preemptor")["status"].get("nominatedNodeName") == "n1")
    t.delete_pod("victim")
    t.wait_bound("preemptor", on="n1")
    found = allocated(t, "preemptor-gpu")
    expect(len(found) == 1 and found[0][:2] == (DRIVER, "n1"), f"the preemptor has {found}")
    t.eventually("the victim's claim is gone", lambda: not t.api.find("ResourceClaim", "victim-gpu", t.namespace))


@scenario("unused devices on a node where the pod cannot be placed are deallocated, and its claim gets others")
def deallocation(t):
    t.node("n1")
    t.node("n2", labels={"disk": "fast"})
    devices(t, n1=["gpu-0"], n2=["gpu-0"])
    t.add(objects.resource_claim("kept", "gpu"))
    only_n1 = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}
    result = {"request": "devices", "driver": DRIVER, "pool": "n1", "device": "gpu-0"}
    t.api.patch("ResourceClaim", "kept", {"metadata": {"finalizers": [FINALIZER]}}, t.namespace)
    t.api.patch("ResourceClaim", "kept",
                {"status": {"allocation": {"devices": {"results": [result]}, "nodeSelector": only_n1}}}, t.namespace,
                sub="status")
    t.start_scheduler()
    t.pod("user", nodeSelector={"disk": "fast"}, resourceClaims=by_name("kept"))
    t.wait_bound("user", on="n2", timeout=30)
    expect_equal(allocated(t, "kept"), [(DRIVER, "n2", "gpu-0")], "the devices of the claim")
    expect_equal(users(t, "kept"), ["user"], "whom the claim is reserved for")
