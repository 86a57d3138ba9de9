#include "serving/server_names.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "http/name_lookup.h"
#include "serving/openssl_handles.h"

namespace berth::serving {
namespace {

// A DNS-1123 subdomain, optionally with a wildcard before it.
bool IsDomain(std::string_view name) {
  if (name == "*") return true;
  if (name.starts_with("*.")) name.remove_prefix(2);
  const auto is_outer = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  char before = '.';
  for (const char c : name) {
    if (c == '.' ? !is_outer(before) : !is_outer(c) && (c != '-' || before == '.')) return false;
    before = c;
  }
  return !name.empty() && name.size() <= 253 && is_outer(before);
}

template <class T>
void FreeExtra(void*, void* held, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<T*>(held);
}

int NamesIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeExtra<ServerNames>);
  return index;
}

int AddressIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeExtra<std::string>);
  return index;
}

int OnServerName(SSL* connection, int*, void* names) {
  const char* asked = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  const auto* local = static_cast<const std::string*>(SSL_get_ex_data(connection, AddressIndex()));
  const std::string_view name = asked ? std::string_view(asked) : local ? std::string_view(*local) : std::string_view();
  SSL_CTX* found = static_cast<const ServerNames*>(names)->Find(name);
  if (found) SSL_set_SSL_CTX(connection, found);
  return found ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

void ServerNames::Add(const std::vector<std::string>& names, std::shared_ptr<SSL_CTX> context, bool is_explicit) {
  for (const std::string& name : names) {
    const auto [it, fresh] = contexts_.try_emplace(base::LowerCase(name), Entry{context, is_explicit});
    if (!fresh && is_explicit && !it->second.is_explicit) it->second = {context, true};
  }
}

SSL_CTX* ServerNames::Find(std::string_view asked) const {
  std::string name = base::LowerCase(asked);
  while (name.ends_with('.')) name.pop_back();
  if (name.empty()) return nullptr;
  auto it = contexts_.find(name);
  if (it == contexts_.end()) it = contexts_.find("*" + name.substr(std::min(name.find('.'), name.size())));
  return it == contexts_.end() ? nullptr : it->second.context.get();
}

std::vector<std::string> NamesOf(X509* certificate) {
  std::vector<std::string> names;
  char common_name[256] = {};
  if (X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, common_name, sizeof common_name) >
          0 &&
      IsDomain(common_name) && !http::IsAddress(common_name)) {
    names.emplace_back(common_name);
  }
  auto* alternatives =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; alternatives && i < sk_GENERAL_NAME_num(alternatives); ++i) {
    const GENERAL_NAME* alternative = sk_GENERAL_NAME_value(alternatives, i);
    if (alternative->type != GEN_DNS) continue;  // SNI never contains an address
    const ASN1_IA5STRING* text = alternative->d.dNSName;
    names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                       static_cast<size_t>(ASN1_STRING_length(text)));
  }
  GENERAL_NAMES_free(alternatives);
  return names;
}

void ServeByName(SSL_CTX* context, ServerNames names) {
  if (names.empty()) return;
  auto held = std::make_unique<ServerNames>(std::move(names));
  if (SSL_CTX_set_ex_data(context, NamesIndex(), held.get()) != 1) return;
  SSL_CTX_set_tlsext_servername_callback(context, OnServerName);
  SSL_CTX_set_tlsext_servername_arg(context, held.release());
}

void SetLocalAddress(SSL* connection, std::string address) {
  auto held = std::make_unique<std::string>(std::move(address));
  if (SSL_set_ex_data(connection, AddressIndex(), held.get()) == 1) (void)held.release();
}

}  // namespace berth::serving
