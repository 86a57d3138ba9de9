#include "http/transport.h"

#include <future>
#include <memory>

namespace berth::http {

std::string_view ResponseHead::Find(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

CallId Transport::Send(Request request, std::function<void(Result<Response>)> done) {
  const auto response = std::make_shared<Response>();
  return Start(std::move(request), {
                                       .on_head = [response](const ResponseHead& head) { response->head = head; },
                                       .on_data = [response](std::string_view bytes) { response->body += bytes; },
                                       .on_done =
                                           [response, done = std::move(done)](Result<void> ended) {
                                             if (!ended) return done(ended.error());
                                             done(std::move(*response));
                                           },
                                   });
}

Result<Response> Transport::SendAndWait(Request request) {
  // Shared: the waiting caller may be gone before set_value has returned.
  const auto promise = std::make_shared<std::promise<Result<Response>>>();
  std::future<Result<Response>> answer = promise->get_future();
  Send(std::move(request), [promise](Result<Response> response) { promise->set_value(std::move(response)); });
  return answer.get();
}

}  // namespace berth::http
