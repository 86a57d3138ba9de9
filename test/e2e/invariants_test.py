#!/usr/bin/env python3
"""The invariants must be able to fail: each is given a state that violates it. Needs no cluster."""

import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import invariants  # noqa: E402
import objects  # noqa: E402
from audit import Binding  # noqa: E402
from process import Failed  # noqa: E402


class Cluster:
    def __init__(self, nodes=(), pods=()):
        self._items = {"Node": list(nodes), "Pod": list(pods)}

    def list(self, kind):
        return self._items[kind]


def pod(name, cpu, node=None, phase="Running", conditions=()):
    made = objects.pod(name, {"cpu": cpu}, **({"nodeName": node} if node else {}))
    return {**made, "status": {"phase": phase, "conditions": list(conditions)}}


def stage(pods=(), bindings=(), requests=(), faults=False, running=False, **sets):
    by_name = {made["metadata"]["name"]: made for made in pods}
    audit = types.SimpleNamespace(bindings=lambda since, namespace: list(bindings),
                                  requests_of=lambda user, since: list(requests))
    process = types.SimpleNamespace(running=running)
    empty = {"created": set(by_name), "deleted": set(), "placed": set(), "unserved": set()}
    return types.SimpleNamespace(audit=audit, mark=0, namespace="ns", faults=faults, pods_by_name=lambda: by_name,
                                 schedulers=[types.SimpleNamespace(process=process)], **{**empty, **sets})


class Invariants(unittest.TestCase):
    def test_a_node_over_its_cpu(self):
        nodes = [objects.node("n1", cpu="1")]
        invariants.nodes_not_over(Cluster(nodes, [pod("a", "500m", "n1"), pod("b", "500m", "n1")]))
        with self.assertRaisesRegex(Failed, "n1: cpu 1.5 of 1"):
            invariants.nodes_not_over(Cluster(nodes, [pod("a", "1", "n1"), pod("b", "500m", "n1")]))

    def test_a_node_over_its_number_of_pods(self):
        with self.assertRaisesRegex(Failed, "pods 2 of 1"):
            two = [pod("a", "0", "n1"), pod("b", "0", "n1")]
            invariants.nodes_not_over(Cluster([objects.node("n1", pods="1")], two))

    def test_finished_pods_take_no_room(self):
        finished = [pod("a", "1", "n1", phase="Succeeded"), pod("b", "1", "n1")]
        invariants.nodes_not_over(Cluster([objects.node("n1", cpu="1")], finished))

    def test_start_up_and_sidecars_count(self):
        made = pod("a", "1")
        made["spec"]["initContainers"] = [
            {"name": "sidecar", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
            {"name": "init", "resources": {"requests": {"cpu": "2"}}}]
        self.assertEqual(float(invariants.requests_of(made)["cpu"]), 2.5)

    def test_a_pod_bound_twice(self):
        once = Binding("ns", "a", 201, "", 0.0)
        invariants.bound_at_most_once(stage([pod("a", "1", "n1")], [once]))
        with self.assertRaisesRegex(Failed, "bound twice: a"):
            invariants.bound_at_most_once(stage([pod("a", "1", "n1")], [once, once]))

    def test_a_second_attempt_is_tolerated_only_with_faults(self):
        bindings = [Binding("ns", "a", 201, "", 0.0),
                    Binding("ns", "a", 409, 'pod a is already assigned to node "n1"', 0.0)]
        invariants.bound_at_most_once(stage([pod("a", "1", "n1")], bindings, faults=True))
        with self.assertRaisesRegex(Failed, "tried to bind again"):
            invariants.bound_at_most_once(stage([pod("a", "1", "n1")], bindings))

    def test_a_pod_on_a_node_without_a_binding(self):
        invariants.bound_at_most_once(stage([pod("a", "1", "n1")], placed={"a"}))
        with self.assertRaisesRegex(Failed, "without a binding on record: a"):
            invariants.bound_at_most_once(stage([pod("a", "1", "n1")]))

    def test_a_pod_that_is_gone(self):
        invariants.none_lost(stage(created={"a"}, deleted={"a"}))
        with self.assertRaisesRegex(Failed, "are gone: a"):
            invariants.none_lost(stage(created={"a"}))

    def test_a_forbidden_request(self):
        refused = {"verb": "list", "requestURI": "/api/v1/secrets", "responseStatus": {"code": 403}}
        with self.assertRaisesRegex(Failed, "list /api/v1/secrets"):
            invariants.nothing_forbidden(stage(requests=[refused]))


if __name__ == "__main__":
    unittest.main()
