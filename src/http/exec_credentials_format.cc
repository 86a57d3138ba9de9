#include "http/exec_credentials_format.h"

#include "codec/json.h"
#include "codec/json_writer.h"

namespace berth::http {

using codec::Field;
using codec::Message;
using codec::MessageOf;

const Message& Describe(const ExecCluster*) {
  static const Message message = MessageOf<ExecCluster>(
      "Cluster", {
                     Field("server", 0, &ExecCluster::server).Always(),
                     Field("tls-server-name", 0, &ExecCluster::tls_server_name),
                     Field("insecure-skip-tls-verify", 0, &ExecCluster::insecure_skip_tls_verify),
                     Field("certificate-authority-data", 0, &ExecCluster::certificate_authority_data),
                     Field("proxy-url", 0, &ExecCluster::proxy_url),
                     Field("disable-compression", 0, &ExecCluster::disable_compression),
                     Field("config", 0, &ExecCluster::config).Always(),
                 });
  return message;
}

const Message& Describe(const ExecSpec*) {
  static const Message message =
      MessageOf<ExecSpec>("ExecCredentialSpec", {
                                                    Field("cluster", 0, &ExecSpec::cluster),
                                                    Field("interactive", 0, &ExecSpec::interactive).Always(),
                                                });
  return message;
}

const Message& Describe(const ExecStatus*) {
  static const Message message = MessageOf<ExecStatus>(
      "ExecCredentialStatus", {
                                  Field("expirationTimestamp", 0, &ExecStatus::expiration_timestamp),
                                  Field("token", 0, &ExecStatus::token),
                                  Field("clientCertificateData", 0, &ExecStatus::client_certificate_data),
                                  Field("clientKeyData", 0, &ExecStatus::client_key_data),
                              });
  return message;
}

const Message& Describe(const ExecCredential*) {
  static const Message message =
      MessageOf<ExecCredential>("ExecCredential", {
                                                      Field("kind", 0, &ExecCredential::kind),
                                                      Field("apiVersion", 0, &ExecCredential::api_version),
                                                      Field("spec", 0, &ExecCredential::spec).Always(),
                                                      Field("status", 0, &ExecCredential::status),
                                                  });
  return message;
}

std::string ExecInfo(const ExecConfig& config, const ClusterEntry& cluster, bool interactive) {
  ExecCredential info{
      .kind = "ExecCredential", .api_version = config.api_version, .spec = {.interactive = interactive}};
  codec::Document extension;
  if (config.provide_cluster_info) {
    info.spec.cluster = {.server = cluster.server,
                         .tls_server_name = cluster.tls_server_name,
                         .insecure_skip_tls_verify = cluster.insecure_skip_tls_verify,
                         .certificate_authority_data = {cluster.certificate_authority_data},
                         .proxy_url = cluster.proxy_url,
                         .disable_compression = cluster.disable_compression};
    if (!config.cluster_extension.empty()) {
      // Written by ToExecConfig, so it parses.
      Result<codec::Document> parsed = codec::ParseJson(config.cluster_extension, "the cluster's extension");
      if (parsed) extension = std::move(*parsed);
      info.spec.cluster->config.value = extension.root();
    }
  }
  return codec::EncodeJson(info);
}

}  // namespace berth::http
