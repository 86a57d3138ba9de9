// The parts of credentials.h that need OpenSSL.
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

#include "http/credentials.h"
#include "http/pem.h"

namespace berth::http {
namespace {

using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

CertificatePtr FirstCertificate(const std::string& pem) {
  const BioPtr bio = OpenPem(pem);
  CertificatePtr certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free);
  ERR_clear_error();
  return certificate;
}

}  // namespace

Result<void> CheckKeyPair(const std::string& certificate, const std::string& key) {
  const auto failed = [](std::string_view why) {
    return Error::InvalidArgument(fmt::format("failed parsing client key/certificate: {}", why));
  };
  const CertificatePtr leaf = FirstCertificate(certificate);
  if (!leaf) return failed("expected a certificate in PEM, found none");
  const BioPtr bio = OpenPem(key);
  const KeyPtr private_key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &NoPassphrase, nullptr), &EVP_PKEY_free);
  ERR_clear_error();
  if (!private_key) return failed("expected a private key in PEM and not encrypted, found none");
  const bool match = X509_check_private_key(leaf.get(), private_key.get()) == 1;
  ERR_clear_error();
  if (!match) return failed("private key does not match public key");
  return {};
}

Result<void> CheckAuthorities(const std::string& pem) {
  if (FirstCertificate(pem)) return {};
  return Error::InvalidArgument("unable to load root certificates: expected a certificate in PEM, found none");
}

}  // namespace berth::http
