# Compiler, sanitizer and cache settings shared by every target.

option(BERTH_WERROR "Treat warnings as errors" OFF)
set(BERTH_SANITIZE "" CACHE STRING "Comma-separated sanitizers, for example address,undefined")
option(BERTH_BENCHMARKS "Build the micro-benchmarks" OFF)
option(BERTH_FUZZERS "Build the fuzzers (clang only)" OFF)
option(BERTH_LTO "Optimise across source files when linking" OFF)
option(BERTH_STATIC "Link everything but glibc into the programs" OFF)
set(BERTH_TEST_TIMEOUT 300 CACHE STRING "Seconds after which a test program is taken to hang")

# Fewer, larger compilations: what users and CI build. Development builds ordinary objects, where one change costs one.
option(BERTH_UNITY "Compile several source files as one" OFF)
# For whoever edits a few files in a unity build: patterns below the source folder, for example "src/queue/*.cc".
set(BERTH_ALONE "" CACHE STRING "Files of a unity build that are compiled on their own all the same")
option(BERTH_PRECOMPILE "Parse the standard headers once for the whole build" ON)

# Objects of a layer need not wait for the libraries below it: those matter when linking.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)

find_program(CCACHE ccache)
if(CCACHE)
  # ccache takes a precompiled header into account only when told that this is meant.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# A cross compiler looks for a mold of its own name, which Debian does not have.
find_program(MOLD mold)
if(MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wno-missing-field-initializers)
# Scores are compared with upstream's to the last bit: no fused multiply-add, whatever the target machine.
add_compile_options(-ffp-contract=off)
# Without this, plain char has no sign on ARM.
add_compile_options(-fsigned-char)
# The same commit gives the same program in whatever folder it is built, and messages name files as the tree does.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(BERTH_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)
endif()
# The compiler would collect garbage from 256 MB on, which a large batch reaches several times: 7 to 8 % of its time. So
# it may use 1 GB before that.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()
if(BERTH_WERROR)
  add_compile_options(-Werror)
endif()

if(BERTH_SANITIZE)
  # No recovery: a finding must fail the test, not scroll past.
  add_compile_options(-fsanitize=${BERTH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # Checks of every pointer before it is used are two fifths of what such a build costs. A null pointer is found without
  # them: the address sanitizer reports the fault.
  if(BERTH_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
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

find_package(GTest REQUIRED)
if(BERTH_STATIC)
  include(BerthStatic)
else()
  find_package(fmt REQUIRED)
endif()
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED)
find_library(NGHTTP2 nghttp2 REQUIRED)
find_library(LZ4 lz4 REQUIRED)
find_library(RE2 re2 REQUIRED)
find_package(Threads REQUIRED)
