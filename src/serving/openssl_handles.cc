#include "serving/openssl_handles.h"

#include <openssl/pem.h>

namespace berth::serving {

std::string OpensslError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "unknown error";
  char text[256];
  ERR_error_string_n(code, text, sizeof text);
  return text;
}

std::vector<CertificateHandle> ReadPemCertificates(std::string_view pem) {
  std::vector<CertificateHandle> certificates;
  const BioHandle bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  ERR_clear_error();
  return certificates;
}

}  // namespace berth::serving
