#include "http/kubeconfig_format.h"

namespace berth::http {

using codec::Field;
using codec::Message;
using codec::MessageOf;

const Message& Describe(const FileExtension*) {
  static const Message message =
      MessageOf<FileExtension>("NamedExtension", {
                                                     Field("name", 0, &FileExtension::name),
                                                     Field("extension", 0, &FileExtension::extension),
                                                 });
  return message;
}

const Message& Describe(const FileCluster*) {
  static const Message message = MessageOf<FileCluster>(
      "Cluster", {
                     Field("server", 0, &FileCluster::server),
                     Field("tls-server-name", 0, &FileCluster::tls_server_name),
                     Field("insecure-skip-tls-verify", 0, &FileCluster::insecure_skip_tls_verify),
                     Field("certificate-authority", 0, &FileCluster::certificate_authority),
                     Field("certificate-authority-data", 0, &FileCluster::certificate_authority_data),
                     Field("proxy-url", 0, &FileCluster::proxy_url),
                     Field("disable-compression", 0, &FileCluster::disable_compression),
                     Field("extensions", 0, &FileCluster::extensions),
                 });
  return message;
}

const Message& Describe(const FileEnvVar*) {
  static const Message message = MessageOf<FileEnvVar>("ExecEnvVar", {
                                                                         Field("name", 0, &FileEnvVar::name),
                                                                         Field("value", 0, &FileEnvVar::value),
                                                                     });
  return message;
}

const Message& Describe(const FileExec*) {
  static const Message message =
      MessageOf<FileExec>("ExecConfig", {
                                            Field("command", 0, &FileExec::command),
                                            Field("args", 0, &FileExec::args),
                                            Field("env", 0, &FileExec::env),
                                            Field("apiVersion", 0, &FileExec::api_version),
                                            Field("installHint", 0, &FileExec::install_hint),
                                            Field("provideClusterInfo", 0, &FileExec::provide_cluster_info),
                                            Field("interactiveMode", 0, &FileExec::interactive_mode),
                                        });
  return message;
}

const Message& Describe(const FileUser*) {
  static const Message message =
      MessageOf<FileUser>("AuthInfo", {
                                          Field("client-certificate", 0, &FileUser::client_certificate),
                                          Field("client-certificate-data", 0, &FileUser::client_certificate_data),
                                          Field("client-key", 0, &FileUser::client_key),
                                          Field("client-key-data", 0, &FileUser::client_key_data),
                                          Field("token", 0, &FileUser::token),
                                          Field("tokenFile", 0, &FileUser::token_file),
                                          Field("as", 0, &FileUser::as),
                                          Field("as-uid", 0, &FileUser::as_uid),
                                          Field("as-groups", 0, &FileUser::as_groups),
                                          Field("as-user-extra", 0, &FileUser::as_user_extra),
                                          Field("username", 0, &FileUser::username),
                                          Field("password", 0, &FileUser::password),
                                          Field("auth-provider", 0, &FileUser::auth_provider),
                                          Field("exec", 0, &FileUser::exec),
                                      });
  return message;
}

const Message& Describe(const FileContext*) {
  static const Message message =
      MessageOf<FileContext>("Context", {
                                            Field("cluster", 0, &FileContext::cluster),
                                            Field("user", 0, &FileContext::user),
                                            Field("namespace", 0, &FileContext::default_namespace),
                                        });
  return message;
}

const Message& Describe(const FileNamedCluster*) {
  static const Message message =
      MessageOf<FileNamedCluster>("NamedCluster", {
                                                      Field("name", 0, &FileNamedCluster::name),
                                                      Field("cluster", 0, &FileNamedCluster::entry),
                                                  });
  return message;
}

const Message& Describe(const FileNamedUser*) {
  static const Message message = MessageOf<FileNamedUser>("NamedAuthInfo", {
                                                                               Field("name", 0, &FileNamedUser::name),
                                                                               Field("user", 0, &FileNamedUser::entry),
                                                                           });
  return message;
}

const Message& Describe(const FileNamedContext*) {
  static const Message message =
      MessageOf<FileNamedContext>("NamedContext", {
                                                      Field("name", 0, &FileNamedContext::name),
                                                      Field("context", 0, &FileNamedContext::entry),
                                                  });
  return message;
}

const Message& Describe(const FileKubeconfig*) {
  static const Message message =
      MessageOf<FileKubeconfig>("Config", {
                                              Field("kind", 0, &FileKubeconfig::kind),
                                              Field("apiVersion", 0, &FileKubeconfig::api_version),
                                              Field("clusters", 0, &FileKubeconfig::clusters),
                                              Field("users", 0, &FileKubeconfig::users),
                                              Field("contexts", 0, &FileKubeconfig::contexts),
                                              Field("current-context", 0, &FileKubeconfig::current_context),
                                          });
  return message;
}

}  // namespace berth::http
