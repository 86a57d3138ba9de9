// Schema tables of the structs whose headers hold matching rules (selectors, taints) and so stay free of decoding.
#pragma once

#include "api/node_selector.h"
#include "api/selector.h"
#include "api/taint.h"

namespace berth::codec {
class Message;
}

namespace berth::api {

const codec::Message& Describe(const LabelSelectorRequirement*);
const codec::Message& Describe(const LabelSelector*);
const codec::Message& Describe(const NodeSelectorRequirement*);
const codec::Message& Describe(const NodeSelectorTerm*);
const codec::Message& Describe(const NodeSelector*);
const codec::Message& Describe(const PreferredSchedulingTerm*);
const codec::Message& Describe(const Taint*);
const codec::Message& Describe(const Toleration*);

}  // namespace berth::api
