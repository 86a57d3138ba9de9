"""A proxy between a scheduler and kube-apiserver that injects faults: answers 429 or 5xx, cuts connections, goes away.

The scheduler speaks plain HTTP to it; it speaks to the API server with the scheduler's certificate. The real server
cannot be told to answer a particular request with 429, and a loaded one does so only occasionally.
"""

import http.client
import http.server
import ssl
import threading
import time
import urllib.parse

from loopback_server import LoopbackServer

_NOT_FORWARDED = {"host", "connection", "keep-alive", "transfer-encoding", "content-length", "te", "upgrade"}


class FaultProxy:
    """`fault(method, path)` returns None to let a request through, or a (status, headers) to answer it with."""

    def __init__(self, control_plane, fault=None):
        self.fault = fault or (lambda method, path: None)
        self.refused = []      # (time, method, path, status) of every request answered by the proxy itself
        self.passed = []       # (time, method, path, status) of every request the API server answered
        self.expired = 0       # watches the API server ended with 410 Gone
        self._open = True
        self._sockets = set()
        self._lock = threading.Lock()
        self._server_address = urllib.parse.urlsplit(control_plane.url)
        self._tls = ssl.create_default_context(cafile=str(control_plane.ca.certificate))
        pair = control_plane.scheduler_user
        self._tls.load_cert_chain(str(pair.certificate), str(pair.key))
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 120
            # Headers and body are sent in one segment; otherwise each answer waits for a delayed acknowledgement.
            wbufsize = 65536
            disable_nagle_algorithm = True

            def setup(self):
                super().setup()
                self.upstream = None
                with proxy._lock:
                    proxy._sockets.add(self.connection)

            def finish(self):
                with proxy._lock:
                    proxy._sockets.discard(self.connection)
                if self.upstream:
                    self.upstream.close()
                try:
                    super().finish()
                except OSError:
                    pass

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except (OSError, http.client.HTTPException):
                    self.close_connection = True

            def serve(self):
                proxy._serve(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

            def log_message(self, *_):
                pass

        self._server = LoopbackServer(Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def cut(self):
        """Ends every connection and accepts no new ones: the network is down until heal()."""
        self._open = False
        self.cut_connections()

    def heal(self):
        self._open = True

    def cut_connections(self):
        """Ends every connection; new ones are accepted."""
        with self._lock:
            sockets = list(self._sockets)
        for sock in sockets:
            try:
                sock.shutdown(2)
            except OSError:
                pass

    def close(self):
        self.cut()
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, handler):
        body = self._read_body(handler)
        if not self._open:
            raise ConnectionResetError
        verdict = self.fault(handler.command, handler.path)
        if verdict:
            status, headers = verdict
            self.refused.append((time.monotonic(), handler.command, handler.path, status))
            self._answer(handler, status, {**headers, "Content-Length": "0"})
            return
        if handler.upstream is None:
            handler.upstream = http.client.HTTPSConnection(self._server_address.hostname, self._server_address.port,
                                                           context=self._tls, timeout=600)
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in _NOT_FORWARDED}
        handler.upstream.request(handler.command, handler.path, body, headers)
        response = handler.upstream.getresponse()
        self.passed.append((time.monotonic(), handler.command, handler.path, response.status))
        if response.status == 410:
            self.expired += 1
        self._relay(handler, response)

    @staticmethod
    def _read_body(handler):
        if handler.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(handler.rfile.readline().split(b";")[0], 16):
                parts.append(handler.rfile.read(size))
                handler.rfile.readline()
            handler.rfile.readline()
            return b"".join(parts)
        length = int(handler.headers.get("Content-Length") or 0)
        return handler.rfile.read(length) if length else None

    @staticmethod
    def _answer(handler, status, headers):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.flush()

    def _relay(self, handler, response):
        """Forwards the answer as it arrives: a watch never ends by itself."""
        headers = {name: value for name, value in response.getheaders() if name.lower() not in _NOT_FORWARDED}
        length = response.getheader("Content-Length")
        headers["Content-Length" if length else "Transfer-Encoding"] = length or "chunked"
        self._answer(handler, response.status, headers)
        if length:
            handler.wfile.write(response.read())
        else:
            while data := response.read1(65536):
                if b"too old resource version" in data:
                    self.expired += 1
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                handler.wfile.flush()
            handler.wfile.write(b"0\r\n\r\n")
        handler.wfile.flush()
