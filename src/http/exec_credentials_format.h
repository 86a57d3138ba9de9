// ExecCredential of client.authentication.k8s.io/v1 and v1beta1: the input of a plugin and its output.
#pragma once

#include <optional>
#include <string>

#include "api/scalars.h"
#include "codec/schema.h"
#include "http/kubeconfig.h"
#include "http/kubeconfig_format.h"

namespace berth::http {

struct ExecCluster {
  std::string server, tls_server_name;
  bool insecure_skip_tls_verify = false;
  codec::FileBytes certificate_authority_data;
  std::string proxy_url;
  bool disable_compression = false;
  codec::FileRaw config;
};

struct ExecSpec {
  std::optional<ExecCluster> cluster;
  bool interactive = false;
};

struct ExecStatus {
  std::optional<api::Time> expiration_timestamp;
  std::string token;
  std::string client_certificate_data, client_key_data;
};

struct ExecCredential {
  std::string kind, api_version;
  ExecSpec spec;
  std::optional<ExecStatus> status;
};

const codec::Message& Describe(const ExecCluster*);
const codec::Message& Describe(const ExecSpec*);
const codec::Message& Describe(const ExecStatus*);
const codec::Message& Describe(const ExecCredential*);

// The value of KUBERNETES_EXEC_INFO.
std::string ExecInfo(const ExecConfig& config, const ClusterEntry& cluster, bool interactive);

}  // namespace berth::http
