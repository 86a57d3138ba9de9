// A scheduler Policy from a ConfigMap of a running cluster, read once when the scheduler starts.
#pragma once

#include <string>

#include "base/result.h"
#include "config/load.h"
#include "http/transport.h"

namespace berth::cmd {

// The text at key policy.cfg of the ConfigMap that `source` names. Error messages are kube-scheduler's up to v1.22.
Result<std::string> ReadPolicyConfigMap(http::Transport& transport, const config::PolicySource& source);

}  // namespace berth::cmd
