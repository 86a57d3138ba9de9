// PEM text as OpenSSL reads it.
#pragma once

#include <openssl/bio.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace berth::http {

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using CertificatePtr = std::unique_ptr<X509, decltype(&X509_free)>;

// Without this OpenSSL would ask the terminal for the passphrase of a key that is encrypted.
inline int NoPassphrase(char*, int, int, void*) { return -1; }

// Borrows the text.
inline BioPtr OpenPem(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
}

}  // namespace berth::http
