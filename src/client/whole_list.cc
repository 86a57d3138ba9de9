#include "client/whole_list.h"

#include <utility>

namespace berth::client {

std::shared_ptr<WholeList> WholeList::Start(ApiClient& client, base::Loop& loop, const ListRequest& request,
                                            std::function<void(Arrival)> on_arrival) {
  std::shared_ptr<WholeList> list(new WholeList(request, std::move(on_arrival)));
  list->call_ = WatchCall::Start(client.transport(), loop, MakeListRequest(client, request, {}),
                                 [weak = std::weak_ptr<WholeList>(list)](WatchCall::Arrival bytes) {
                                   if (const std::shared_ptr<WholeList> self = weak.lock())
                                     self->Take(std::move(bytes));
                                 });
  return list;
}

void WholeList::Cancel() {
  on_arrival_ = nullptr;
  if (call_ != nullptr) std::exchange(call_, nullptr)->Cancel();
}

void WholeList::Take(WatchCall::Arrival bytes) {
  if (!on_arrival_) return;
  if (bytes.head) {
    response_.head = *std::move(bytes.head);
    const bool is_protobuf = response_.head.Find("content-type").starts_with(kProtobufType);
    if (IsSuccess(response_.head.status) && is_protobuf) decoder_.emplace(request_.kind);
  }
  api::DecodedObjects page;
  const Result<void> decoded = Decode(bytes, page);
  if (!page.resource_version.empty()) resource_version_ = page.resource_version;
  Arrival arrival;
  for (api::LocatedObject& found : page.objects) arrival.objects.push_back(std::move(found.object));
  if (!decoded || bytes.ended) {
    arrival.outcome.emplace();
    arrival.outcome->answer = Conclude(decoded, bytes.ended.value_or(Result<void>()));
    arrival.outcome->resource_version = resource_version_;
  }
  // A copy: the callee may cancel this list.
  const auto on_arrival = on_arrival_;
  if (arrival.outcome) Cancel();
  on_arrival(std::move(arrival));
}

Result<void> WholeList::Decode(const WatchCall::Arrival& bytes, api::DecodedObjects& decoded) {
  if (!decoder_) {
    response_.body += bytes.data;
    const bool is_whole = bytes.ended && *bytes.ended && IsSuccess(response_.head.status);
    if (!is_whole) return {};
    Result<api::DecodedObjects> page = DecodeListPage(response_, request_);
    if (!page) return page.error();
    decoded = *std::move(page);
    return {};
  }
  if (Result<void> appended = decoder_->Append(bytes.data, decoded); !appended) return appended;
  return bytes.ended && *bytes.ended ? decoder_->Finish() : Result<void>();
}

ApiAnswer WholeList::Conclude(const Result<void>& decoded, const Result<void>& ended) const {
  ApiAnswer answer;
  if (!decoded || !ended) {
    const Error& error = decoded ? ended.error() : decoded.error();
    answer.status = NoAnswer(error);
    answer.error = error.code;
    return answer;
  }
  answer.status = ReadStatus("GET", response_.head, decoder_ ? std::string_view() : response_.body);
  return answer;
}

}  // namespace berth::client
