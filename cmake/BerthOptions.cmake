# Compiler, sanitizer and cache settings shared by every target.

option(BERTH_WERROR "Treat warnings as errors" OFF)
set(BERTH_SANITIZE "" CACHE STRING "Comma-separated sanitizers, for example address,undefined")
option(BERTH_BENCHMARKS "Build the micro-benchmarks" OFF)
option(BERTH_FUZZERS "Build the fuzzers (clang only)" OFF)
option(BERTH_LTO "Optimise across source files when linking" OFF)
set(BERTH_TEST_TIMEOUT 300 CACHE STRING "Seconds after which a test program is taken to hang")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wno-missing-field-initializers)
if(BERTH_WERROR)
  add_compile_options(-Werror)
endif()

if(BERTH_SANITIZE)
  # No recovery: a finding must fail the test, not scroll past.
  add_compile_options(-fsanitize=${BERTH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BERTH_SANITIZE})
endif()

if(BERTH_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

if(BERTH_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "The fuzzers need clang: cmake --preset fuzz")
endif()
if(BERTH_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

find_package(fmt REQUIRED)
find_package(GTest REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
find_library(NGHTTP2 nghttp2 REQUIRED)
find_library(RE2 re2 REQUIRED)
find_package(Threads REQUIRED)
