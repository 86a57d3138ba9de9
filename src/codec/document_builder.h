// How the parsers fill a Document: text and containers go into its arena, finished children before their parents.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/value.h"

namespace berth::codec {

class DocumentBuilder {
 public:
  explicit DocumentBuilder(std::string file_name);

  // Takes over the source text, for values that point into it. The address stays for as long as the document lives.
  std::string& AdoptText(std::string text);
  std::string_view CopyText(std::string_view text);
  std::span<const Value> CopyItems(std::span<const Member> unnamed);
  // Marks repeated keys on the way.
  std::span<const Member> CopyMembers(std::span<Member> members);

  Document Finish(Value root) &&;

 private:
  Document document_;
};

}  // namespace berth::codec
