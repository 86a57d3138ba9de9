"""Scale."""

from collections import Counter

from scenario import expect, scenario


@scenario("a large backlog (--nodes, --pods) is scheduled evenly, and every pod is bound exactly once")
def large_backlog(t):
    node_count, pod_count = t.options.nodes, t.options.pods
    t.nodes(node_count)
    names = t.pods(pod_count, {"cpu": "100m", "memory": "64Mi"})
    t.start_scheduler()
    t.wait_bound_count(pod_count, timeout=60 + pod_count / 20)
    pods = t.wait_all_bound(names)
    busiest = Counter(pod["spec"]["nodeName"] for pod in pods.values()).most_common(1)[0]
    fair = -(-pod_count // node_count)
    # Upstream samples nodes, so it is not exactly even; but no node may be close to full.
    expect(busiest[1] <= fair + 5, f"{busiest[0]} has {busiest[1]} pods where {fair} would be even")
