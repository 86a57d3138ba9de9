#include "http/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/check.h"

namespace berth::http {
namespace {

// As Debian and everybody else calls it, whatever TLS library it is built with.
constexpr char kName[] = "libcurl.so.4";

[[noreturn]] void GiveUp() {
  const char* why = dlerror();
  fmt::print(stderr,
             "berth: {} is needed for plain HTTP, proxies and servers without HTTP/2, and cannot be loaded: {}\n",
             kName, why != nullptr ? why : "unknown error");
  std::fflush(stderr);
  std::_Exit(EXIT_FAILURE);  // other threads run, and nothing here is theirs to clean up
}

class Loader {
 public:
  Loader() : library_(dlopen(kName, RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) GiveUp();
  }

  template <class Function>
  void Find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (function == nullptr) GiveUp();
  }

 private:
  void* const library_;  // stays for as long as the program runs
};

CurlLibrary Load() {
  const Loader loader;
  CurlLibrary curl{};
  loader.Find("curl_easy_cleanup", curl.easy_cleanup);
  loader.Find("curl_easy_getinfo", curl.easy_getinfo);
  loader.Find("curl_easy_init", curl.easy_init);
  loader.Find("curl_easy_pause", curl.easy_pause);
  loader.Find("curl_easy_reset", curl.easy_reset);
  loader.Find("curl_easy_setopt", curl.easy_setopt);
  loader.Find("curl_easy_strerror", curl.easy_strerror);
  loader.Find("curl_multi_add_handle", curl.multi_add_handle);
  loader.Find("curl_multi_cleanup", curl.multi_cleanup);
  loader.Find("curl_multi_info_read", curl.multi_info_read);
  loader.Find("curl_multi_init", curl.multi_init);
  loader.Find("curl_multi_perform", curl.multi_perform);
  loader.Find("curl_multi_poll", curl.multi_poll);
  loader.Find("curl_multi_remove_handle", curl.multi_remove_handle);
  loader.Find("curl_multi_setopt", curl.multi_setopt);
  loader.Find("curl_multi_strerror", curl.multi_strerror);
  loader.Find("curl_slist_append", curl.slist_append);
  loader.Find("curl_slist_free_all", curl.slist_free_all);
  decltype(&::curl_global_init) initialize = nullptr;
  loader.Find("curl_global_init", initialize);
  CHECK(initialize(CURL_GLOBAL_DEFAULT) == CURLE_OK);
  return curl;
}

}  // namespace

const CurlLibrary& Curl() {
  static const CurlLibrary library = Load();
  return library;
}

}  // namespace berth::http
