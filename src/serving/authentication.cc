#include "serving/authentication.h"

#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/log.h"

namespace berth::serving {
namespace {

constexpr size_t kTokenCapacity = 4096;
constexpr size_t kHashKeyBytes = 32;
constexpr char kAnonymous[] = "system:anonymous";
constexpr char kUnauthenticatedGroup[] = "system:unauthenticated";
constexpr char kAuthenticatedGroup[] = "system:authenticated";
constexpr char kCredentialId[] = "authentication.kubernetes.io/credential-id";

std::string RandomKey() {
  std::string key(kHashKeyBytes, '\0');
  const bool random = RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), kHashKeyBytes) == 1;
  CHECK_WHY(random, "the random source of the operating system failed");
  return key;
}

// "Bearer TOKEN", or "" for anything else.
std::string BearerToken(const HttpRequest& request) {
  std::string_view header = request.Header("authorization");
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  const size_t space = header.find(' ');
  if (space == std::string_view::npos || base::LowerCase(header.substr(0, space)) != "bearer") return "";
  header.remove_prefix(space + 1);
  return std::string(header.substr(0, header.find(' ')));
}

std::string FirstHeader(const HttpRequest& request, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const std::string_view value = request.Header(base::LowerCase(name)); !value.empty()) return std::string(value);
  }
  return "";
}

User UserOfHeaders(const HttpRequest& request, const RequestHeaderOptions& options, std::string name) {
  User user{.name = std::move(name), .uid = FirstHeader(request, options.uid_headers)};
  for (const std::string& wanted : options.group_headers) {
    for (const auto& [header, value] : request.headers) {
      if (header == base::LowerCase(wanted) && !value.empty()) user.groups.push_back(value);
    }
  }
  for (const std::string& wanted : options.extra_prefixes) {
    const std::string prefix = base::LowerCase(wanted);
    for (const auto& [header, value] : request.headers) {
      if (!header.starts_with(prefix)) continue;
      HttpRequest decoded;  // keys come %-encoded, as a path would
      const std::string key = header.substr(prefix.size());
      user.extra[ParseTarget("/" + key, decoded) ? decoded.path.substr(1) : key].push_back(value);
    }
  }
  return user;
}

User WithAuthenticatedGroup(User user) {
  const auto in = [&](std::string_view group) { return std::ranges::find(user.groups, group) != user.groups.end(); };
  if (user.name != kAnonymous && !in(kAuthenticatedGroup) && !in(kUnauthenticatedGroup)) {
    user.groups.emplace_back(kAuthenticatedGroup);
  }
  return user;
}

}  // namespace

Authenticator::Authenticator(const AuthenticationOptions& options, Reviewer* reviewer, const base::Clock& clock,
                             const base::Clock& monotonic)
    : options_(options),
      reviewer_(reviewer),
      clock_(clock),
      token_hash_key_(RandomKey()),
      tokens_(monotonic, kTokenCapacity) {}

Result<std::unique_ptr<Authenticator>> Authenticator::Create(const AuthenticationOptions& options, Reviewer* reviewer,
                                                             const base::Clock& clock, const base::Clock& monotonic) {
  std::unique_ptr<Authenticator> authenticator(new Authenticator(options, reviewer, clock, monotonic));
  if (Result<void> used = authenticator->Use({}); !used) return used.error();
  return authenticator;
}

Result<void> Authenticator::Use(const ClusterAuthentication& cluster) {
  auto trust = std::make_shared<Trust>();
  trust->request_header = options_.request_header;
  const auto load = [&](const std::string& file, const std::string& pem,
                        std::shared_ptr<CertificateAuthority>& into) -> Result<void> {
    if (file.empty() && pem.empty()) return {};
    auto authority =
        file.empty() ? CertificateAuthority::FromPem(pem, clock_) : CertificateAuthority::FromFile(file, clock_);
    if (!authority) return authority.error();
    into = *authority;
    return {};
  };
  if (Result<void> loaded = load(options_.client_ca_file, cluster.client_ca, trust->client_ca); !loaded) return loaded;
  const std::string& proxy_file = options_.request_header.client_ca_file;
  if (Result<void> loaded = load(proxy_file, cluster.request_header_ca, trust->request_header_ca); !loaded) {
    return loaded;
  }
  if (proxy_file.empty() && trust->request_header_ca) trust->request_header = cluster.request_header;
  const std::lock_guard lock(mutex_);
  trust_ = std::move(trust);
  return {};
}

std::shared_ptr<const Authenticator::Trust> Authenticator::trust() {
  const std::lock_guard lock(mutex_);
  return trust_;
}

std::optional<Result<User>> Authenticator::ByRequestHeader(const Trust& trust, const HttpRequest& request) {
  if (!trust.request_header_ca || request.client_certificates.empty()) return std::nullopt;
  Result<CertificateIdentity> proxy = trust.request_header_ca->Verify(request.client_certificates);
  if (!proxy) return proxy.error();
  const std::vector<std::string>& allowed = trust.request_header.allowed_names;
  if (!allowed.empty() && std::ranges::find(allowed, proxy->common_name) == allowed.end()) {
    return Error::InvalidArgument("x509: subject with cn=" + proxy->common_name + " is not in the allowed list");
  }
  std::string name = FirstHeader(request, trust.request_header.username_headers);
  if (name.empty()) return std::nullopt;
  return UserOfHeaders(request, trust.request_header, std::move(name));
}

std::optional<Result<User>> Authenticator::ByCertificate(const Trust& trust, const HttpRequest& request) {
  if (!trust.client_ca || request.client_certificates.empty()) return std::nullopt;
  Result<CertificateIdentity> identity = trust.client_ca->Verify(request.client_certificates);
  if (!identity) return identity.error();
  if (identity->common_name.empty()) return std::nullopt;
  return User{.name = identity->common_name,
              .groups = identity->organizations,
              .extra = {{kCredentialId, {"X509SHA256=" + identity->sha256}}}};
}

std::string Authenticator::TokenKey(const std::string& token) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  HMAC(EVP_sha256(), token_hash_key_.data(), static_cast<int>(token_hash_key_.size()),
       reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data(), &size);
  return std::string(reinterpret_cast<char*>(digest.data()), size);
}

Authenticator::Token Authenticator::TokenOf(const HttpRequest& request) const {
  if (!reviewer_) return {};
  if (std::string bearer = BearerToken(request); !bearer.empty()) return {std::move(bearer), ""};
  if (!request.path.starts_with(kDebugPrefix)) return {};
  return {std::string(request.Header(kProxiedTokenHeader)), std::string(kProxiedTokenAudience)};
}

std::optional<Result<std::optional<User>>> Authenticator::UserOfToken(const Token& token, bool may_review) {
  const std::string key = TokenKey(token.audience + "\n" + token.text);
  // Looked up once: the entry may expire a moment later, and the caller may not be allowed to block.
  if (std::optional<std::optional<User>> known = tokens_.Get(key))
    return Result<std::optional<User>>(*std::move(known));
  if (!may_review) return std::nullopt;
  Result<std::optional<User>> reviewed = reviewer_->ReviewToken(token.text, token.audience);
  // An error says nothing about the token: not cached.
  if (reviewed) tokens_.Put(key, *reviewed, options_.token_cache_ttl);
  return reviewed;
}

std::optional<Result<User>> Authenticator::Decide(const HttpRequest& request, bool may_review) {
  const std::shared_ptr<const Trust> trusted = trust();
  std::optional<Error> wrong;
  for (std::optional<Result<User>> found : {ByRequestHeader(*trusted, request), ByCertificate(*trusted, request)}) {
    if (!found) continue;
    if (found->ok()) return WithAuthenticatedGroup(std::move(**found));
    wrong = found->error();
  }
  const Token token = TokenOf(request);
  if (!token.text.empty()) {
    std::optional<Result<std::optional<User>>> reviewed = UserOfToken(token, may_review);
    if (!reviewed) return std::nullopt;
    if (reviewed->ok() && **reviewed) return WithAuthenticatedGroup(***std::move(reviewed));
    wrong = reviewed->ok() ? Error::InvalidArgument("invalid bearer token") : reviewed->error();
  }
  if (wrong) {
    LOG_ERROR("Unable to authenticate the request", {"err", *wrong});
    return *wrong;
  }
  return User{.name = kAnonymous, .groups = {kUnauthenticatedGroup}};
}

std::optional<Result<User>> Authenticator::TryAuthenticate(const HttpRequest& request) {
  return Decide(request, /*may_review=*/false);
}

Result<User> Authenticator::Authenticate(const HttpRequest& request) { return *Decide(request, /*may_review=*/true); }

}  // namespace berth::serving
