// The input of verbs that work on an in-memory cluster: files, a running cluster, nodes that are only described, and
// what-ifs on top.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster_source.h"
#include "flags.h"
#include "input/input.h"

namespace berth::cmd {

struct InputFlags {
  std::vector<std::string> files;
  bool from_cluster = false;
  ClusterFlags cluster;
  std::vector<std::string> nodes;     // descriptions, input/node_template.h
  std::vector<std::string> replicas;  // input/what_if.h
  std::vector<std::string> without_nodes;
  std::vector<std::string> cordons;
  std::vector<std::string> drains;
  bool strict = false;
  bool replace = false;
  std::string validate;  // empty: depends on whether a person or a server wrote it
  std::string max_input;
  std::string name_space;

  void AddTo(FlagSet& flags);
  // Checks that the flags are consistent.
  Result<void> Check() const;
  // " without node a, with b drained": the what-ifs, for people; "" if there are none.
  std::string WhatIfText() const;
  // Prints warnings on standard error. `keep_custom`: there may be plugins that read custom resources.
  Result<input::ClusterInput> Read(bool keep_custom = false) const;
  // The flags other than files, parsed.
  Result<input::InputChanges> Changes() const;
};

// On standard error, one line each.
void PrintNotes(const std::vector<std::string>& notes);
void PrintWarnings(const std::vector<std::string>& warnings);

}  // namespace berth::cmd
