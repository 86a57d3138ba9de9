// A complete HTTP/2 server on one connection of an HttpServer: every request goes to the same handler as over HTTP/1,
// on its own thread, and flow control is respected.
#pragma once

#include "http/testing/http_server.h"

namespace berth::http {

void ServeHttp2Session(ServedConnection& connection, const HttpServer::Handler& handler);

}  // namespace berth::http
