#include "serving/tls.h"

#include <fcntl.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "serving/openssl_handles.h"
#include "serving/server_names.h"

namespace berth::serving {
namespace {

// Forward secrecy and authenticated encryption, as Go prefers too.
constexpr char kDefaultCiphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr unsigned char kProtocols[] = "\x08http/1.1";

Result<int> MinVersion(const std::string& name) {
  if (name.empty() || name == "VersionTLS12") return TLS1_2_VERSION;
  if (name == "VersionTLS13") return TLS1_3_VERSION;
  if (name == "VersionTLS10" || name == "VersionTLS11") {
    LOG_WARNING("--tls-min-version asks for less than is offered; serving TLS 1.2 and later", {"found", name});
    return TLS1_2_VERSION;
  }
  return Error::InvalidArgument(
      "--tls-min-version: expected VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13, found \"" + name + "\"");
}

// Converts IANA's names, as used in Go, into OpenSSL's list. Suites of TLS 1.3 may be named, but cannot be selected.
Result<std::string> Ciphers(const std::vector<std::string>& names) {
  std::string list;
  for (std::string name : names) {
    if (name.starts_with("TLS_AES_") || name.starts_with("TLS_CHACHA20_")) continue;
    if (name.ends_with("_CHACHA20_POLY1305")) name += "_SHA256";  // Go's older names of these two
    const std::string_view found = OPENSSL_cipher_name(name.c_str());
    if (found == "(NONE)") {
      return Error::InvalidArgument("--tls-cipher-suites: Cipher suite " + name + " not supported or doesn't exist");
    }
    if (!list.empty()) list += ':';
    list += found;
  }
  return list.empty() ? std::string(kDefaultCiphers) : list;
}

// Converts Go's numbers, which are IANA's, into OpenSSL's list, in order of preference. Those that Go knows and this
// OpenSSL does not are skipped and logged.
Result<std::string> Groups(const std::vector<int32_t>& numbers) {
  static const std::map<int32_t, const char*> kNames = {{23, "P-256"},
                                                        {24, "P-384"},
                                                        {25, "P-521"},
                                                        {29, "X25519"},
                                                        {4587, "SecP256r1MLKEM768"},
                                                        {4588, "X25519MLKEM768"},
                                                        {4589, "SecP384r1MLKEM1024"}};
  const std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>> trial(SSL_CTX_new(TLS_server_method()));
  std::set<int32_t> seen;
  std::string list;
  for (const int32_t number : numbers) {
    const std::string flag = "--tls-curve-preferences: curve preference " + std::to_string(number);
    if (number < 1 || number > 65535) return Error::InvalidArgument(flag + " is out of range (must be 1-65535)");
    if (!seen.insert(number).second) {
      return Error::InvalidArgument("--tls-curve-preferences: duplicate curve preference " + std::to_string(number));
    }
    const auto it = kNames.find(number);
    if (it == kNames.end()) return Error::InvalidArgument(flag + " is not supported");
    if (SSL_CTX_set1_groups_list(trial.get(), it->second) != 1) {
      (void)OpensslError();
      LOG_WARNING("--tls-curve-preferences: left out, because this OpenSSL does not have it", {"curve", it->second});
      continue;
    }
    list += (list.empty() ? "" : ":") + std::string(it->second);
  }
  if (list.empty() && !numbers.empty()) {
    return Error::InvalidArgument("--tls-curve-preferences: this OpenSSL has none of them");
  }
  return list;
}

// If suites of TLS 1.2 are named and all of them need RSA, the key must be RSA.
KeyKind KeyKindFor(const TlsOptions& options) {
  bool wants_rsa = false;
  for (const std::string& name : options.cipher_suites) {
    if (name.find("ECDSA") != std::string::npos) return KeyKind::kEcdsa;
    wants_rsa = wants_rsa || name.find("RSA") != std::string::npos;
  }
  return wants_rsa ? KeyKind::kRsa : KeyKind::kEcdsa;
}

int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                   unsigned offered_size, void*) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kProtocols, sizeof kProtocols - 1, offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// A client may present any certificate; the authenticator checks it and answers 401 instead of failing the handshake.
int AcceptAnyCertificate(X509_STORE_CTX*, void*) { return 1; }

Result<void> WriteFile(const std::string& path, const std::string& text, mode_t mode) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return Error::Unavailable(path + ": cannot be written: " + std::strerror(errno));
  const ssize_t written = ::write(fd, text.data(), text.size());
  const bool complete = ::close(fd) == 0 && written == static_cast<ssize_t>(text.size());
  if (!complete) return Error::Unavailable(path + ": cannot be written whole");
  return {};
}

Result<void> MakePairIn(const TlsOptions& options, const std::string& cert_file, const std::string& key_file,
                        base::Time now) {
  Result<PemPair> pair = GenerateSelfSigned(options.self_signed_subject, KeyKindFor(options), now);
  if (!pair) return pair.error();
  std::error_code problem;
  std::filesystem::create_directories(options.cert_dir, problem);
  if (problem) return Error::Unavailable("--cert-dir " + options.cert_dir + ": " + problem.message());
  if (Result<void> written = WriteFile(cert_file, pair->certificate, 0644); !written) return written;
  if (Result<void> written = WriteFile(key_file, pair->private_key, 0600); !written) return written;
  LOG_INFO(0, "Generated self-signed cert", {"cert", cert_file}, {"key", key_file});
  return {};
}

std::vector<std::string> FilesOf(const std::string& cert_file, const std::string& key_file,
                                 const std::vector<NamedPair>& named) {
  std::vector<std::string> files;
  if (!cert_file.empty()) files = {cert_file, key_file};
  for (const NamedPair& pair : named) files.insert(files.end(), {pair.cert_file, pair.private_key_file});
  return files;
}

bool CanRead(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

}  // namespace

TlsContext::TlsContext(Settings settings, std::string cert_file, std::string key_file, std::vector<NamedPair> named)
    : settings_(std::move(settings)),
      cert_file_(std::move(cert_file)),
      key_file_(std::move(key_file)),
      named_(std::move(named)),
      stamps_(FilesOf(cert_file_, key_file_, named_)) {}

Result<TlsContext::Settings> TlsContext::ReadSettings(const TlsOptions& options) {
  Result<int> version = MinVersion(options.min_version);
  if (!version) return version.error();
  Result<std::string> ciphers = Ciphers(options.cipher_suites);
  if (!ciphers) return ciphers.error();
  Result<std::string> groups = Groups(options.curve_preferences);
  if (!groups) return groups.error();
  return Settings{*version, *ciphers, *groups};
}

Result<std::unique_ptr<TlsContext>> TlsContext::Create(const TlsOptions& options, const base::Clock& clock) {
  Result<Settings> settings = ReadSettings(options);
  if (!settings) return settings.error();
  std::string cert_file = options.cert_file;
  std::string key_file = options.private_key_file;
  if (cert_file.empty() != key_file.empty()) {
    return Error::InvalidArgument("--tls-cert-file and --tls-private-key-file belong together; only one was given");
  }
  if (cert_file.empty() && !options.cert_dir.empty()) {
    cert_file = options.cert_dir + "/" + options.pair_name + ".crt";
    key_file = options.cert_dir + "/" + options.pair_name + ".key";
    if (!CanRead(cert_file) || !CanRead(key_file)) {
      if (Result<void> made = MakePairIn(options, cert_file, key_file, clock.Now()); !made) return made.error();
    }
  }

  std::unique_ptr<TlsContext> context(new TlsContext(*settings, cert_file, key_file, options.named_pairs));
  if (cert_file.empty()) {
    Result<PemPair> pair = GenerateSelfSigned(options.self_signed_subject, KeyKindFor(options), clock.Now());
    if (!pair) return pair.error();
    context->in_memory_ = *std::move(pair);
    LOG_INFO(0, "Generated self-signed cert in-memory");
  }
  context->stamps_.Changed();
  if (Result<void> loaded = context->Reload(); !loaded) return loaded.error();
  return context;
}

Result<std::shared_ptr<SSL_CTX>> TlsContext::Build(const PemPair& pair) const {
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  const std::vector<CertificateHandle> chain = ReadPemCertificates(pair.certificate);
  const BioHandle key_text(BIO_new_mem_buf(pair.private_key.data(), static_cast<int>(pair.private_key.size())));
  // Without a callback OpenSSL would ask the terminal for a passphrase.
  const auto no_passphrase = [](char*, int, int, void*) { return -1; };
  const KeyHandle key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, no_passphrase, nullptr));
  if (chain.empty()) return Error::InvalidArgument("expected a PEM certificate, found none");
  if (!key) return Error::InvalidArgument("expected a PEM private key without passphrase, found none");
  if (SSL_CTX_use_certificate(context.get(), chain[0].get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1 || SSL_CTX_check_private_key(context.get()) != 1) {
    return Error::InvalidArgument("certificate and private key do not make a pair: " + OpensslError());
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context.get(), chain[i].get()) != 1) return Error::InvalidArgument(OpensslError());
  }
  SSL_CTX_set_min_proto_version(context.get(), settings_.min_version);
  if (SSL_CTX_set_cipher_list(context.get(), settings_.ciphers.c_str()) != 1) {
    return Error::InvalidArgument("--tls-cipher-suites: none of them can be used: " + OpensslError());
  }
  if (!settings_.groups.empty() && SSL_CTX_set1_groups_list(context.get(), settings_.groups.c_str()) != 1) {
    return Error::InvalidArgument("--tls-curve-preferences: " + OpensslError());
  }
  // A resumed session would lack the client's certificate chain.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context.get(), AcceptAnyCertificate, nullptr);
  SSL_CTX_set_alpn_select_cb(context.get(), ChooseProtocol, nullptr);
  return context;
}

Result<std::shared_ptr<SSL_CTX>> TlsContext::BuildFromFiles(const std::string& cert_file,
                                                            const std::string& key_file) const {
  Result<std::string> certificate = ReadWholeFile(cert_file);
  if (!certificate) return certificate.error();
  Result<std::string> private_key = ReadWholeFile(key_file);
  if (!private_key) return private_key.error();
  Result<std::shared_ptr<SSL_CTX>> built = Build({*certificate, *private_key});
  if (!built) return Error::InvalidArgument(cert_file + ", " + key_file + ": " + built.error().message);
  return built;
}

Result<void> TlsContext::Reload() {
  Result<std::shared_ptr<SSL_CTX>> built =
      cert_file_.empty() ? Build(in_memory_) : BuildFromFiles(cert_file_, key_file_);
  if (!built) return built.error();
  ServerNames names;
  for (const NamedPair& pair : named_) {
    Result<std::shared_ptr<SSL_CTX>> named = BuildFromFiles(pair.cert_file, pair.private_key_file);
    if (!named) return Error::InvalidArgument("--tls-sni-cert-key: " + named.error().message);
    const bool is_explicit = !pair.names.empty();
    names.Add(is_explicit ? pair.names : NamesOf(SSL_CTX_get0_certificate(named->get())), *named, is_explicit);
  }
  ServeByName(built->get(), std::move(names));
  current_ = *built;
  return {};
}

std::shared_ptr<SSL_CTX> TlsContext::Current() {
  const std::lock_guard lock(mutex_);
  if (stamps_.Changed()) {
    if (Result<void> loaded = Reload(); !loaded) {
      LOG_ERROR("Cannot read the changed serving certificate; the one before stays in use", {"err", loaded.error()});
    } else {
      LOG_INFO(0, "Reloaded the serving certificate", {"cert", cert_file_}, {"key", key_file_});
    }
  }
  return current_;
}

}  // namespace berth::serving
