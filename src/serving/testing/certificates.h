// Certificate authorities and clients for tests.
#pragma once

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/temporary_folder.h"
#include "serving/openssl_handles.h"
#include "serving/self_signed.h"

namespace berth::serving {

inline std::string PemOf(X509* certificate) {
  const BioHandle bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

inline std::string PemOf(EVP_PKEY* key) {
  const BioHandle bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

inline std::string DerOf(const std::string& pem) {
  const std::vector<CertificateHandle> certificates = ReadPemCertificates(pem);
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificates.at(0).get(), &der);
  std::string out(reinterpret_cast<char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return out;
}

// Signs client certificates; with elliptic-curve keys, because they are quick to generate.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name)
      : key_(EVP_EC_gen("P-256")), certificate_(Make(name, {}, key_.get(), true)) {}

  std::string pem() const { return PemOf(certificate_.get()); }

  struct Client {
    std::string name;
    std::vector<std::string> organizations{};
    std::string usage = "clientAuth";
    base::Time from = std::chrono::time_point_cast<base::Duration>(std::chrono::system_clock::now());
  };
  PemPair Sign(const Client& client) const {
    const KeyHandle key(EVP_EC_gen("P-256"));
    const CertificateHandle made = Make(client.name, client.organizations, key.get(), false, client.usage, client.from);
    return {PemOf(made.get()), PemOf(key.get())};
  }

 private:
  CertificateHandle Make(
      const std::string& name, const std::vector<std::string>& organizations, EVP_PKEY* key, bool authority,
      const std::string& usage = "",
      base::Time from = std::chrono::time_point_cast<base::Duration>(std::chrono::system_clock::now())) const {
    CertificateHandle made(X509_new());
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), authority ? 1 : 2);
    time_t start = std::chrono::floor<std::chrono::seconds>(from.time_since_epoch()).count() - 60;
    X509_time_adj_ex(X509_getm_notBefore(made.get()), 0, 0, &start);
    X509_time_adj_ex(X509_getm_notAfter(made.get()), 1, 0, &start);
    X509_NAME* subject = X509_get_subject_name(made.get());
    const auto add = [&](const char* field, const std::string& value) {
      X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.c_str()),
                                 -1, -1, 0);
    };
    add("CN", name);
    for (const std::string& organization : organizations) add("O", organization);
    X509_set_issuer_name(made.get(), authority ? subject : X509_get_subject_name(certificate_.get()));
    X509_set_pubkey(made.get(), key);
    const auto extend = [&](int kind, const char* value) {
      const ExtensionHandle extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
      X509_add_ext(made.get(), extension.get(), -1);
    };
    if (authority) extend(NID_basic_constraints, "critical,CA:TRUE");
    if (!usage.empty()) extend(NID_ext_key_usage, usage.c_str());
    X509_sign(made.get(), key_.get(), EVP_sha256());
    return made;
  }

  KeyHandle key_;
  CertificateHandle certificate_;
};

// Files that servers reload.
class TestFolder {
 public:
  const std::string& path() const { return folder_.path(); }
  std::string Write(const std::string& name, const std::string& text) const {
    // Renamed into place: a concurrent reader sees all of it or nothing, and always another inode.
    const std::string file = path() + "/" + name;
    std::filesystem::rename(folder_.Write(name + ".new", text), file);
    return file;
  }

 private:
  base::testing::TemporaryFolder folder_;
};

}  // namespace berth::serving
