// OpenSSL's objects as unique pointers, and its error queue as text. For .cc files of this layer only.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth::serving {

template <auto Free>
struct OpensslFree {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using BioHandle = std::unique_ptr<BIO, OpensslFree<BIO_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using CertificateHandle = std::unique_ptr<X509, OpensslFree<X509_free>>;
using StoreContextHandle = std::unique_ptr<X509_STORE_CTX, OpensslFree<X509_STORE_CTX_free>>;
using ExtensionHandle = std::unique_ptr<X509_EXTENSION, OpensslFree<X509_EXTENSION_free>>;

// Why the last call failed; clears the queue.
std::string OpensslError();

// Every certificate in a PEM text, possibly none.
std::vector<CertificateHandle> ReadPemCertificates(std::string_view pem);

}  // namespace berth::serving
