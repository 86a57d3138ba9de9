"""Several profiles in one scheduler."""

from scenario import condition, expect_equal, scenario

PACKING = {"schedulerName": "packing", "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {
    "type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}}],
    "plugins": {"score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}, {"name": "PodTopologySpread"}]}}}


@scenario("two profiles: one spreads, one packs, each reports under its own name; pods with a third name are ignored")
def two_profiles(t):
    t.nodes(4)
    t.start_scheduler(profiles=[{"schedulerName": "default-scheduler"}, PACKING])
    for index in range(4):
        t.pod(f"packed-{index}", {"cpu": "500m"}, schedulerName="packing")
        t.wait_bound(f"packed-{index}")
    t.unserved.add("foreign")
    t.pod("foreign", schedulerName="third")
    for index in range(3):
        t.pod(f"spread-{index}", {"cpu": "500m"})
        t.wait_bound(f"spread-{index}")
    pods = t.pods_by_name()
    packed = {pods[f"packed-{index}"]["spec"]["nodeName"] for index in range(4)}
    spread = {pods[f"spread-{index}"]["spec"]["nodeName"] for index in range(3)}
    expect_equal(len(packed), 1, "nodes used by the packing profile")
    expect_equal(len(spread - packed), 3, "other nodes used by the default profile")
    for pod, profile in (("packed-0", "packing"), ("spread-0", "default-scheduler")):
        expect_equal(t.wait_event("Scheduled", pod)["reportingController"], profile, f"who reports {pod}")
    expect_equal(condition(pods["foreign"]), None, "the foreign pod's condition")
