"""A scheduler extender over HTTP, as in k8s.io/kube-scheduler/extender/v1; functions provide its answers."""

import http.server
import json
import threading

from loopback_server import LoopbackServer


class Extender:
    """Answers filter, prioritize, preempt and bind with functions of the decoded arguments; records every call."""

    def __init__(self, filter=None, prioritize=None, bind=None, preempt=None):
        self.calls = []
        answers = {"/filter": filter, "/prioritize": prioritize, "/bind": bind, "/preempt": preempt}
        calls = self.calls

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                arguments = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                calls.append((self.path.strip("/"), arguments))
                answer = answers.get(self.path)
                body = json.dumps(answer(arguments)).encode() if answer else b"no such verb"
                self.send_response(200 if answer else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = LoopbackServer(Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def called(self, verb):
        return [arguments for name, arguments in self.calls if name == verb]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def node_names(arguments):
    """The names of the nodes in a call, whichever way they were passed."""
    if arguments.get("NodeNames") is not None:
        return arguments["NodeNames"]
    return [node["metadata"]["name"] for node in (arguments.get("Nodes") or {}).get("items") or []]


def keep(arguments, wanted, why="not wanted"):
    """A filter's answer: the nodes for which wanted(name) is true, in the form of the request."""
    kept = [name for name in node_names(arguments) if wanted(name)]
    failed = {name: why for name in node_names(arguments) if not wanted(name)}
    if arguments.get("NodeNames") is not None:
        return {"NodeNames": kept, "FailedNodes": failed}
    items = [node for node in arguments["Nodes"]["items"] if node["metadata"]["name"] in kept]
    return {"Nodes": {**arguments["Nodes"], "items": items}, "FailedNodes": failed}
