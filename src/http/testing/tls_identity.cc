#include "http/testing/tls_identity.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <memory>

#include "base/check.h"

namespace berth::http {
namespace {

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;
using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

constexpr long kDay = 24 * 60 * 60;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  CHECK(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Self-signed if there is no issuer.
TlsIdentity Make(const std::string& name, const std::string& alternative_names, const TlsIdentity* issuer) {
  static std::atomic<long> serial{1};
  const KeyPtr key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const CertificatePtr certificate(X509_new(), &X509_free);
  X509* made = certificate.get();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(made), kDay);
  X509_set_pubkey(made, key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);

  CertificatePtr issuer_certificate(nullptr, &X509_free);
  KeyPtr issuer_key(nullptr, &EVP_PKEY_free);
  if (issuer != nullptr) {
    const BioPtr pem(BIO_new_mem_buf(issuer->certificate.data(), static_cast<int>(issuer->certificate.size())),
                     &BIO_free);
    issuer_certificate.reset(PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr));
    const BioPtr key_pem(BIO_new_mem_buf(issuer->key.data(), static_cast<int>(issuer->key.size())), &BIO_free);
    issuer_key.reset(PEM_read_bio_PrivateKey(key_pem.get(), nullptr, nullptr, nullptr));
  }
  X509* signer = issuer == nullptr ? made : issuer_certificate.get();
  X509_set_issuer_name(made, X509_get_subject_name(signer));
  AddExtension(made, signer, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!alternative_names.empty()) AddExtension(made, signer, NID_subject_alt_name, alternative_names);
  CHECK(X509_sign(made, issuer == nullptr ? key.get() : issuer_key.get(), EVP_sha256()) > 0);

  const BioPtr certificate_text(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_X509(certificate_text.get(), made);
  const BioPtr key_text(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {TextOf(certificate_text.get()), TextOf(key_text.get())};
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name) : identity_(Make(name, "", nullptr)) {}

TlsIdentity TestAuthority::Issue(const std::string& common_name, const std::string& alternative_names) const {
  return Make(common_name, alternative_names, &identity_);
}

}  // namespace berth::http
