"""An HTTP server on a free port of loopback, a thread per connection."""

import http.server


class LoopbackServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # A scheduler opens dozens of connections at once; the default backlog of 5 would drop some for a second.
    request_queue_size = 256

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)

    def handle_error(self, request, client_address):
        """Ignored: these servers expect peers that disconnect in the middle."""
