"""Reads kube-apiserver's audit log as it grows: the server's own record of who bound what, and when."""

import calendar
import json
import time

_START = b'{"kind":"Event"'


class Binding:
    """`received` and `at`: when the request arrived, and when it was answered."""

    def __init__(self, namespace, pod, status, message, at, received=0.0):
        self.namespace, self.pod, self.status, self.message = namespace, pod, status, message
        self.at, self.received = at, received

    @classmethod
    def of(cls, event):
        return cls(event["objectRef"]["namespace"], event["objectRef"]["name"], event["responseStatus"]["code"],
                   event["responseStatus"].get("message", ""), seconds_since_epoch(event["stageTimestamp"]),
                   seconds_since_epoch(event["requestReceivedTimestamp"]))


def seconds_since_epoch(stamp):
    """For a microtime such as 2026-01-02T03:04:05.678901Z."""
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + (float("0." + fraction) if fraction else 0.0)


class AuditLog:
    def __init__(self, path):
        self.path = path
        self._position = 0
        self._rest = b""
        self.events = []

    def read(self):
        """Reads what was written since the last call; returns all events so far."""
        try:
            with open(self.path, "rb") as log:
                log.seek(self._position)
                data = log.read()
        except FileNotFoundError:
            return self.events
        self._position += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            # A killed server may leave an incomplete line, and the next one continues right after it.
            try:
                self.events.append(json.loads(line[max(0, line.rfind(_START)):]))
            except ValueError:
                pass
        return self.events

    def mark(self):
        """The current position in the log: pass it as `since`."""
        return len(self.read())

    def bindings(self, since=0, namespace=None):
        """Every attempt to bind a pod."""
        return [Binding.of(event) for event in self.read()[since:]
                if event.get("objectRef", {}).get("subresource") == "binding" and event["verb"] == "create"
                and event["stage"] == "ResponseComplete"
                and (namespace is None or event["objectRef"]["namespace"] == namespace)]

    def creations(self, since=0, namespace=None):
        """Created pods by name: when the request arrived and when it was answered."""
        return {event["objectRef"]["name"]: (seconds_since_epoch(event["requestReceivedTimestamp"]),
                                             seconds_since_epoch(event["stageTimestamp"]))
                for event in self.read()[since:]
                if event.get("objectRef", {}).get("resource") == "pods" and "subresource" not in event["objectRef"]
                and event["verb"] == "create" and event["responseStatus"]["code"] == 201
                and (namespace is None or event["objectRef"]["namespace"] == namespace)}

    def requests_of(self, user, since=0):
        return [event for event in self.read()[since:] if event["user"]["username"] == user]
