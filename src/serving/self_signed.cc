#include "serving/self_signed.h"

#include <arpa/inet.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <array>
#include <chrono>

#include "http/name_lookup.h"
#include "serving/openssl_handles.h"

namespace berth::serving {
namespace {

constexpr const char* kCurve = "P-256";
constexpr unsigned kRsaBits = 2048;
constexpr long kHour = 3600;
constexpr long kYear = 365 * 24 * kHour;

bool AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionHandle extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  const std::unique_ptr<BIGNUM, OpensslFree<BN_free>> serial(BN_new());
  return serial && BN_rand(serial.get(), 62, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr;
}

// Everything except extensions and signature.
CertificateHandle NewCertificate(const std::string& common_name, EVP_PKEY* key, time_t now) {
  CertificateHandle certificate(X509_new());
  if (!certificate) return nullptr;
  time_t from = now - kHour;
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const auto* text = reinterpret_cast<const unsigned char*>(common_name.c_str());
  const bool made = X509_set_version(certificate.get(), X509_VERSION_3) == 1 && SetSerial(certificate.get()) &&
                    X509_time_adj_ex(X509_getm_notBefore(certificate.get()), 0, 0, &from) != nullptr &&
                    X509_time_adj_ex(X509_getm_notAfter(certificate.get()), 0, kYear, &from) != nullptr &&
                    X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, text, -1, -1, 0) == 1 &&
                    X509_set_pubkey(certificate.get(), key) == 1;
  return made ? std::move(certificate) : nullptr;
}

std::string AlternativeNames(const CertificateSubject& subject) {
  std::string names;
  const auto add = [&](const std::string& name) {
    if (!names.empty()) names += ',';
    names += http::IsAddress(name) ? "IP:" : "DNS:";
    names += name;
  };
  add(subject.host);
  for (const std::string& address : subject.addresses) add(address);
  for (const std::string& name : subject.names) add(name);
  return names;
}

std::string ToString(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

Error Failed() { return Error::Internal("cannot generate a self-signed certificate: " + OpensslError()); }

}  // namespace

Result<PemPair> GenerateSelfSigned(const CertificateSubject& subject, KeyKind kind, base::Time now) {
  const time_t seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::string at = "@" + std::to_string(seconds);
  const KeyHandle authority_key(EVP_EC_gen(kCurve));
  const KeyHandle key(kind == KeyKind::kRsa ? EVP_RSA_gen(kRsaBits) : EVP_EC_gen(kCurve));
  if (!authority_key || !key) return Failed();

  const CertificateHandle authority = NewCertificate(subject.host + "-ca" + at, authority_key.get(), seconds);
  if (!authority || X509_set_issuer_name(authority.get(), X509_get_subject_name(authority.get())) != 1 ||
      !AddExtension(authority.get(), authority.get(), NID_basic_constraints, "critical,CA:TRUE") ||
      !AddExtension(authority.get(), authority.get(), NID_key_usage,
                    "critical,keyEncipherment,digitalSignature,keyCertSign") ||
      !AddExtension(authority.get(), authority.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(authority.get(), authority_key.get(), EVP_sha256()) == 0) {
    return Failed();
  }

  const CertificateHandle server = NewCertificate(subject.host + at, key.get(), seconds);
  if (!server || X509_set_issuer_name(server.get(), X509_get_subject_name(authority.get())) != 1 ||
      !AddExtension(server.get(), authority.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(server.get(), authority.get(), NID_key_usage, "critical,keyEncipherment,digitalSignature") ||
      !AddExtension(server.get(), authority.get(), NID_ext_key_usage, "serverAuth") ||
      !AddExtension(server.get(), authority.get(), NID_authority_key_identifier, "keyid") ||
      !AddExtension(server.get(), authority.get(), NID_subject_alt_name, AlternativeNames(subject)) ||
      X509_sign(server.get(), authority_key.get(), EVP_sha256()) == 0) {
    return Failed();
  }

  const BioHandle certificates(BIO_new(BIO_s_mem()));
  const BioHandle private_key(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(certificates.get(), server.get()) != 1 ||
      PEM_write_bio_X509(certificates.get(), authority.get()) != 1 ||
      PEM_write_bio_PrivateKey_traditional(private_key.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Failed();
  }
  return PemPair{ToString(certificates.get()), ToString(private_key.get())};
}

}  // namespace berth::serving
