// A certificate for a server that was given none: signed by an authority generated for it, as Kubernetes components do.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace berth::serving {

struct PemPair {
  std::string certificate;  // the server's, then the authority's
  std::string private_key;
};

struct CertificateSubject {
  std::string host = "localhost";  // name or address
  std::vector<std::string> addresses{};
  std::vector<std::string> names{};
};

// ECDSA keys are quick to generate; an RSA key of 2048 bits takes half a second of CPU time and is for configurations
// that allow only ciphers that need it.
enum class KeyKind { kEcdsa, kRsa };

// Valid from an hour ago for a year.
Result<PemPair> GenerateSelfSigned(const CertificateSubject& subject, KeyKind kind, base::Time now);

}  // namespace berth::serving
