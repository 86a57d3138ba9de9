// Reading a plugin's arguments (pluginConfig[].args) into a struct, by a table of its fields:
//
//   struct ZoneLabelArgs {
//     std::string label = "topology.kubernetes.io/zone";  // the default where the file says nothing
//     std::vector<std::string> zones;
//   };
//   const berth::codec::Message& Describe(const ZoneLabelArgs*) {
//     static const auto message = berth::codec::MessageOf<ZoneLabelArgs>("ZoneLabelArgs", {
//         berth::codec::Field("label", 0, &ZoneLabelArgs::label),
//         berth::codec::Field("zones", 0, &ZoneLabelArgs::zones),
//     });
//     return message;
//   }
//
//   Result<ZoneLabelArgs> args = berth::ReadArgs<ZoneLabelArgs>(given);
//
// codec/schema.h lists the types a member may have; structs with tables of their own nest.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "codec/schema.h"
#include "config/plugin_args.h"

namespace berth {

using config::PluginArgs;

// Returns every problem, one per line, with the path of the field: "args.zones[1]: expected a string, found number 5".
// A field that the table does not have is a problem; apiVersion and kind, which arguments may contain, are not.
template <codec::Described T>
Result<T> ReadArgs(const PluginArgs& given) {
  const auto* raw = std::get_if<config::RawArgs>(&given);
  if (raw == nullptr || raw->json.empty()) {
    if (raw != nullptr || std::holds_alternative<std::monostate>(given)) return T{};
    return Error::InvalidArgument("the arguments are those of one of berth's own plugins");
  }
  const Result<codec::Document> document = codec::ParseJson(raw->json, "args");
  if (!document) return document.error();
  T args{};
  std::vector<codec::Diagnostic> problems;
  codec::Decode(document->root(), args, {.strict = true}, problems, "args");
  std::string text;
  for (const codec::Diagnostic& problem : problems) {
    if (problem.path == "args.apiVersion" || problem.path == "args.kind") continue;
    text += (text.empty() ? "" : "\n") + problem.ToString();
  }
  if (!text.empty()) return Error::InvalidArgument(std::move(text));
  return args;
}

}  // namespace berth
