// What extenders of every file format have in common, converted to the form the scheduler uses.
#pragma once

#include "base/clock.h"
#include "config/types.h"

namespace berth::config {

// `File` has the field names of KubeSchedulerConfiguration's extenders; only the time-out is written differently.
template <class File>
Extender ExtenderFrom(const File& file, base::Duration http_timeout) {
  Extender out{
      .url_prefix = file.url_prefix,
      .filter_verb = file.filter_verb,
      .preempt_verb = file.preempt_verb,
      .prioritize_verb = file.prioritize_verb,
      .weight = file.weight,
      .bind_verb = file.bind_verb,
      .enable_https = file.enable_https,
      .tls_config = {},
      .http_timeout = http_timeout,
      .node_cache_capable = file.node_cache_capable,
      .managed_resources = file.managed_resources,
      .ignorable = file.ignorable,
  };
  if (const auto& tls = file.tls_config) {
    out.tls_config = {tls->insecure, tls->server_name,     tls->cert_file,      tls->key_file,
                      tls->ca_file,  tls->cert_data.bytes, tls->key_data.bytes, tls->ca_data.bytes};
  }
  return out;
}

}  // namespace berth::config
