# BERTH_STATIC: every library but glibc becomes part of the programs, so that they start on any distribution whose glibc is
# new enough. glibc itself stays outside: name resolution and plugin libraries (--plugin-dir) need its dynamic loader.
# A library that is here only as a shared object is linked as one; test/dist finds it in the finished program.

set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
# What a build directory found before it was told to link so is looked for again.
foreach(found IN ITEMS JEMALLOC LZ4 NGHTTP2 OPENSSL_CRYPTO_LIBRARY OPENSSL_SSL_LIBRARY RE2 ZLIB_LIBRARY_RELEASE)
  if("$CACHE{${found}}" MATCHES "\\.so$")
    unset(${found} CACHE)
  endif()
endforeach()

# Plugin libraries are linked as their authors link them, so the modules that tests load stay as they are.
add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-static-libstdc++;-static-libgcc>")

# Debian's libfmt-dev has headers and a shared library. The headers hold the whole library, so it is compiled here.
add_library(berth_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cc)
target_compile_features(berth_fmt PRIVATE cxx_std_20)
add_library(fmt::fmt INTERFACE IMPORTED GLOBAL)
target_link_libraries(fmt::fmt INTERFACE berth_fmt)

# By its plain name it would be whatever the linker prefers, which is the shared object.
find_library(BERTH_STATIC_yaml yaml)
if(BERTH_STATIC_yaml)
  add_library(yaml UNKNOWN IMPORTED GLOBAL)
  set_target_properties(yaml PROPERTIES IMPORTED_LOCATION ${BERTH_STATIC_yaml})
endif()
