"""Plugins that watch custom resources: those of examples/plugin-libraries/freeze, as users would run it."""

import json
import pathlib
import subprocess

from control_plane import SCHEDULER_USER
from scenario import expect, scenario

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "plugin-libraries" / "freeze"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def build_library(folder):
    library = folder / "freeze.so"
    subprocess.run(["c++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'sdk'}", "-o", str(library),
                    str(EXAMPLE / "freeze.cc")], check=True)
    return library


def define(t):
    t.api.call("POST", DEFINITIONS, {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "freezes.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
                 "names": {"plural": "freezes", "singular": "freeze", "kind": "Freeze"},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                     "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    t.on_close(lambda: t.api.call("DELETE", f"{DEFINITIONS}/freezes.example.com"))


def allow(t):
    """The scheduler may read them."""
    rule = {"apiGroups": ["example.com"], "resources": ["freezes"], "verbs": ["get", "list", "watch"]}
    t.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                  "metadata": {"name": "e2e-freezes"}, "rules": [rule]})
    t.on_close(lambda: t.api.delete("ClusterRole", "e2e-freezes"))
    t.api.create({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                  "metadata": {"name": "e2e-freezes"},
                  "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "e2e-freezes"},
                  "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": SCHEDULER_USER}]})
    t.on_close(lambda: t.api.delete("ClusterRoleBinding", "e2e-freezes"))


def scheduler(t):
    return t.scheduler(pluginLibraries=[{"path": str(build_library(t.folder))}], profiles=[
        {"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"enabled": [{"name": "Freeze"}]}}}])


@scenario("a library plugin watches a custom resource: its objects keep pods pending, its events requeue them",
          only="berth")
def custom_resource_wakes_pods(t):
    define(t)
    allow(t)
    freezes = f"/apis/example.com/v1/namespaces/{t.namespace}/freezes"
    freeze = {"apiVersion": "example.com/v1", "kind": "Freeze", "metadata": {"name": "end-of-year"}, "spec": {}}
    # A new kind is served shortly after it is defined.
    t.eventually("freezes are served", lambda: t.api.raw("GET", freezes)[0] == 200, 20)
    t.api.call("POST", freezes, freeze)
    t.node("n1")
    scheduler(t).start()
    t.pod("held", {"cpu": "1"})
    event = t.wait_event("NamespaceFrozen", "held", "namespace is frozen by freeze end-of-year")
    expect(event["reportingController"] == "default-scheduler", f"reported by {json.dumps(event)}")
    t.stays("the pod is held", lambda: not t.get_pod("held")["spec"].get("nodeName"))
    t.api.call("DELETE", f"{freezes}/end-of-year")
    t.wait_bound("held", on="n1")

    # One that is created while the scheduler runs keeps the next pod pending.
    t.api.call("POST", freezes, {**freeze, "metadata": {"name": "again"}})
    t.pod("next", {"cpu": "1"})
    t.wait_event("NamespaceFrozen", "next", "namespace is frozen by freeze again")
    t.api.call("DELETE", f"{freezes}/again")
    t.wait_bound("next", on="n1")


# A request is denied on purpose.
@scenario("/readyz names a custom resource that may not be read; one that does not exist has no objects",
          faults=True, only="berth")
def custom_resource_out_of_reach(t):
    t.node("n1")
    t.pod("free", {"cpu": "1"})
    blind = scheduler(t).start(wait_for="/livez")

    def is_named():
        status, text = blind.get("/readyz/sched-handler-sync", as_admin=True)
        return status == 500 and "freezes.v1.example.com" in text and "forbidden" in text
    t.eventually("/readyz names what is missing", is_named, 30)
    expect(not t.get_pod("free")["spec"].get("nodeName"), "a pod was scheduled past a plugin that knows nothing yet")
    allow(t)
    t.wait_bound("free", on="n1", timeout=60)
