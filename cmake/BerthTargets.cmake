# A layer is one folder below src/: its sources make a static library `berth_<layer>`, its *_test.cc files one test
# program `berth_<layer>_test`. Sources are globbed so that adding a file never touches a build file.
# With BERTH_BENCHMARKS its *_bench.cc files make `berth_<layer>_bench`; with BERTH_FUZZERS each *_fuzz.cc makes a program.

add_custom_target(berth_benchmarks)
add_custom_target(berth_fuzzers)

# Test tables are read once; optimising them is most of what a test build would cost. What they test is optimised.
set(BERTH_TEST_OPTIONS $<$<CONFIG:Release>:-O0;-g0>)
# What runs once per command or request is compiled with -Og, in a third less time than with -O2.
set(BERTH_COLD_OPTIONS $<$<CONFIG:Release>:-Og>)
if(BERTH_SANITIZE)
  set(BERTH_TEST_OPTIONS -O0)
  set(BERTH_COLD_OPTIONS -Og)
endif()
# In cold layers, a check of an address is a call, not code in place: less to compile. Not in hot ones: with calls and -Og,
# evaluating recorded expressions takes 1.6 times as long.
if(BERTH_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND BERTH_COLD_OPTIONS --param=asan-instrumentation-with-call-threshold=0)
endif()

# Four precompiled headers serve every target: one for what is optimised, one for what runs once per command or request
# (berth_compile_cold), two for tests, which are not optimised. Project headers are in the last one only: whoever changes
# one of those has nearly every test compiled again in any case.
function(berth_precompile_header name header)
  # Written once: a newer file would have everything compiled again whenever a source file is added.
  if(NOT EXISTS ${CMAKE_BINARY_DIR}/${name}.cc)
    file(WRITE ${CMAKE_BINARY_DIR}/${name}.cc "")
  endif()
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/${name}.cc)
  target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${header})
  # Never from ccache: `#pragma once` in it remembers when each header was written, and a header that was written again,
  # with the same content, would be taken for another one.
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "")
endfunction()
if(BERTH_PRECOMPILE)
  berth_precompile_header(berth_precompiled precompiled.h)
  berth_precompile_header(berth_cold_precompiled precompiled.h)
  foreach(name IN ITEMS berth_precompiled berth_cold_precompiled)
    target_link_libraries(${name} PRIVATE fmt::fmt)
  endforeach()
  target_compile_options(berth_cold_precompiled PRIVATE ${BERTH_COLD_OPTIONS})
  foreach(name IN ITEMS test framework_test)
    berth_precompile_header(berth_${name}_precompiled precompiled_${name}.h)
    target_link_libraries(berth_${name}_precompiled PRIVATE fmt::fmt rapidcheck GTest::gmock)
    target_compile_options(berth_${name}_precompiled PRIVATE ${BERTH_TEST_OPTIONS})
  endforeach()
  target_include_directories(berth_framework_test_precompiled PRIVATE ${CMAKE_SOURCE_DIR}/src)
endif()

# How the files of a target are compiled.
function(berth_compile target precompiled batch)
  if(BERTH_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  endif()
  if(BERTH_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    # In a batch, a type of a source file's anonymous namespace looks as if it stood in a header.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    list(TRANSFORM BERTH_ALONE PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE patterns)
    file(GLOB alone ${patterns})
    set_source_files_properties(${alone} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# Little of what runs once per pod or node is in this target.
function(berth_compile_cold target)
  berth_compile(${target} berth_cold_precompiled 40)
  target_compile_options(${target} PRIVATE ${BERTH_COLD_OPTIONS})
endfunction()

# A layer that is COLD is compiled as above.
function(berth_layer name)
  cmake_parse_arguments(ARG "COLD" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(benchmarks ${sources})
  list(FILTER benchmarks INCLUDE REGEX "_bench\\.cc$")
  set(fuzzers ${sources})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")

  if(sources)
    add_library(berth_${name} STATIC ${sources})
    if(ARG_COLD)
      berth_compile_cold(berth_${name})
    else()
      berth_compile(berth_${name} berth_precompiled 40)
      set_property(GLOBAL APPEND PROPERTY BERTH_HOT_LAYERS berth_${name})
    endif()
    set(scope PUBLIC)
  else()
    add_library(berth_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  set_property(GLOBAL APPEND PROPERTY BERTH_LAYERS berth_${name})
  target_include_directories(berth_${name} ${scope} $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
                                                    $<INSTALL_INTERFACE:include> $<INSTALL_INTERFACE:include/berth/detail>)
  target_compile_features(berth_${name} ${scope} cxx_std_20)
  target_link_libraries(berth_${name} ${scope} fmt::fmt ${ARG_DEPENDS})

  if(tests)
    berth_test(berth_${name}_test SOURCES ${tests} DEPENDS berth_${name})
  endif()
  if(BERTH_BENCHMARKS AND benchmarks)
    add_executable(berth_${name}_bench ${benchmarks})
    target_link_libraries(berth_${name}_bench PRIVATE berth_${name} benchmark::benchmark_main)
    add_dependencies(berth_benchmarks berth_${name}_bench)
  endif()
  if(BERTH_FUZZERS)
    foreach(fuzzer IN LISTS fuzzers)
      cmake_path(GET fuzzer STEM program)
      add_executable(${program} ${fuzzer})
      target_link_libraries(${program} PRIVATE berth_${name})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
      add_dependencies(berth_fuzzers ${program})
    endforeach()
  endif()
endfunction()

function(berth_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} rapidcheck GTest::gmock GTest::gtest_main)
  # The builders know the framework, so the tests of what lies below it do without.
  set(precompiled berth_test_precompiled)
  if(NOT name MATCHES "^berth_(base|codec|cel|api|record|config|metrics|http|client|serving)_test$")
    target_link_libraries(${name} PRIVATE $<$<TARGET_EXISTS:berth_testing>:berth_testing>)
    set(precompiled berth_framework_test_precompiled)
  endif()
  berth_compile(${name} ${precompiled} 8)
  target_compile_options(${name} PRIVATE ${BERTH_TEST_OPTIONS})
  target_compile_definitions(${name} PRIVATE BERTH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${BERTH_TEST_TIMEOUT})
endfunction()
