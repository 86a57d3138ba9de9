#include "serving/client_certificates.h"

#include <openssl/sha.h>

#include <array>
#include <utility>

#include "base/log.h"
#include "serving/openssl_handles.h"

namespace berth::serving {
namespace {

Result<std::shared_ptr<X509_STORE>> MakeStore(std::string_view pem, const std::string& name) {
  const std::vector<CertificateHandle> certificates = ReadPemCertificates(pem);
  if (certificates.empty()) return Error::InvalidArgument(name + ": expected PEM certificates, found none");
  const std::shared_ptr<X509_STORE> store(X509_STORE_new(), X509_STORE_free);
  for (const CertificateHandle& certificate : certificates) {
    if (X509_STORE_add_cert(store.get(), certificate.get()) != 1) {
      return Error::InvalidArgument(name + ": " + OpensslError());
    }
  }
  return store;
}

CertificateHandle Decode(const std::string& der) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  return CertificateHandle(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
}

std::vector<std::string> NameEntries(X509* certificate, int kind) {
  std::vector<std::string> entries;
  X509_NAME* name = X509_get_subject_name(certificate);
  for (int at = X509_NAME_get_index_by_NID(name, kind, -1); at >= 0; at = X509_NAME_get_index_by_NID(name, kind, at)) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size >= 0) entries.emplace_back(reinterpret_cast<char*>(text), static_cast<size_t>(size));
    OPENSSL_free(text);
  }
  return entries;
}

std::string Sha256(const std::string& bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string out;
  for (const unsigned char byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

}  // namespace

CertificateAuthority::CertificateAuthority(std::string path, const base::Clock& clock)
    : path_(std::move(path)), clock_(clock), stamps_({path_}) {}

Result<std::shared_ptr<CertificateAuthority>> CertificateAuthority::FromPem(std::string_view pem,
                                                                            const base::Clock& clock) {
  Result<std::shared_ptr<X509_STORE>> store = MakeStore(pem, "certificate authority");
  if (!store) return store.error();
  std::shared_ptr<CertificateAuthority> authority(new CertificateAuthority("", clock));
  authority->store_ = *store;
  return authority;
}

Result<std::shared_ptr<CertificateAuthority>> CertificateAuthority::FromFile(const std::string& path,
                                                                             const base::Clock& clock) {
  std::shared_ptr<CertificateAuthority> authority(new CertificateAuthority(path, clock));
  authority->stamps_.Changed();
  Result<std::string> pem = ReadWholeFile(path);
  if (!pem) return pem.error();
  Result<std::shared_ptr<X509_STORE>> store = MakeStore(*pem, path);
  if (!store) return store.error();
  authority->store_ = *store;
  return authority;
}

std::shared_ptr<X509_STORE> CertificateAuthority::CurrentStore() {
  const std::lock_guard lock(mutex_);
  if (path_.empty() || !stamps_.Changed()) return store_;
  Result<std::string> pem = ReadWholeFile(path_);
  Result<std::shared_ptr<X509_STORE>> store = pem ? MakeStore(*pem, path_) : pem.error();
  if (store) {
    store_ = *store;
  } else {
    LOG_ERROR("Cannot read the changed certificate authority; the one before stays in use", {"err", store.error()});
  }
  return store_;
}

Result<CertificateIdentity> CertificateAuthority::Verify(const std::vector<std::string>& chain) {
  const std::shared_ptr<X509_STORE> store = CurrentStore();
  const CertificateHandle own = Decode(chain.front());
  if (!own) return Error::InvalidArgument("the client's certificate cannot be decoded");
  std::vector<CertificateHandle> others;
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> untrusted(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (size_t i = 1; i < chain.size(); ++i) {
    others.push_back(Decode(chain[i]));
    if (others.back()) sk_X509_push(untrusted.get(), others.back().get());
  }

  const StoreContextHandle context(X509_STORE_CTX_new());
  if (!context || X509_STORE_CTX_init(context.get(), store.get(), own.get(), untrusted.get()) != 1) {
    return Error::Internal(OpensslError());
  }
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  // As in Go, any certificate of the bundle is a trust anchor, self-signed or not.
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_CLIENT);
  X509_VERIFY_PARAM_set_time(parameters,
                             std::chrono::floor<std::chrono::seconds>(clock_.Now().time_since_epoch()).count());
  if (X509_verify_cert(context.get()) != 1) {
    const int code = X509_STORE_CTX_get_error(context.get());
    ERR_clear_error();
    return Error::InvalidArgument(std::string("verifying the client's certificate failed: ") +
                                  X509_verify_cert_error_string(code));
  }
  const std::vector<std::string> names = NameEntries(own.get(), NID_commonName);
  return CertificateIdentity{names.empty() ? "" : names.back(), NameEntries(own.get(), NID_organizationName),
                             Sha256(chain.front())};
}

}  // namespace berth::serving
