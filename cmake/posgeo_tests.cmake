# SPDX-License-Identifier: MIT
include(Catch)
include(posgeo_isas)
set(POSGEO_TEST_OPTIMISATION -O0 CACHE STRING "The optimisation that the tests are compiled with")
option(POSGEO_TEST_ISAS "Compile the tests of lanes for other instruction sets as well" ON)

# Debian's compiled main function of Catch2 2 lies where every architecture finds it.
if(CMAKE_CROSSCOMPILING AND Catch2_VERSION VERSION_LESS 3)
  set(main ${CMAKE_CURRENT_BINARY_DIR}/catch_main.cpp)
  file(CONFIGURE OUTPUT ${main} CONTENT "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
  add_library(posgeo_catch_main STATIC ${main})
  target_link_libraries(posgeo_catch_main PUBLIC Catch2::Catch2)
else()
  add_library(posgeo_catch_main INTERFACE)
  target_link_libraries(posgeo_catch_main INTERFACE Catch2::Catch2WithMain)
endif()

# What most programs of the tests include, compiled once: the libraries' headers cost more than the tests do.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/posgeo_precompiled.cpp CONTENT "")
add_library(posgeo_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/posgeo_precompiled.cpp)
target_link_libraries(posgeo_precompiled PRIVATE posgeo::posgeo posgeo_warnings posgeo_catch_main)
target_include_directories(posgeo_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_compile_options(posgeo_precompiled PRIVATE ${POSGEO_TEST_OPTIMISATION})
target_precompile_headers(posgeo_precompiled PRIVATE <Eigen/Core> <unsupported/Eigen/CXX11/Tensor> <fmt/format.h>
                          ${PROJECT_SOURCE_DIR}/tests/support/catch.hpp)

# posgeo_test_program(name): what every program of the tests is built with. The tests are many instantiations that run
# for milliseconds, so what counts is the time to compile them: one unit for each few files, and no optimisation.
function(posgeo_test_program name)
  target_link_libraries(${name} PRIVATE posgeo::posgeo posgeo_warnings)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(${name} PRIVATE ${POSGEO_TEST_OPTIMISATION})
  target_precompile_headers(${name} REUSE_FROM posgeo_precompiled)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# posgeo_catch_program(name folder prefix source...): an executable, each of its cases one CTest test "<prefix>.<case>".
function(posgeo_catch_program name folder prefix)
  add_executable(${name} ${ARGN})
  posgeo_test_program(${name})
  target_link_libraries(${name} PRIVATE posgeo_catch_main)
  # Catch2 2 passes when a name matches no test; 3 fails then, and does not know the flag.
  set(no_tests)
  if(Catch2_VERSION VERSION_LESS 3)
    set(no_tests EXTRA_ARGS -w NoTests)
  endif()
  catch_discover_tests(${name} TEST_PREFIX "${prefix}." ${no_tests} PROPERTIES LABELS ${folder})
endfunction()

# posgeo_own_options(name option...): options of one program, which then can't use what was compiled with others.
function(posgeo_own_options name)
  target_compile_options(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endfunction()

# posgeo_skipped_test(name folder reason): a test that CTest shows as skipped.
function(posgeo_skipped_test name folder reason)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
  set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: " LABELS ${folder})
endfunction()

# posgeo_add_tests(folder source... [ISAS isa...]): the executable posgeo_<folder>_tests, its tests "<folder>.<case>".
# For each isa one more, posgeo_<folder>_tests_<isa>, of the same sources; its tests are "<folder>@<isa>.<case>", or one
# skipped test where this machine or compiler cannot.
function(posgeo_add_tests folder)
  cmake_parse_arguments(PARSE_ARGV 1 tests "" "" ISAS)
  set(name posgeo_${folder}_tests)
  posgeo_catch_program(${name} ${folder} ${folder} ${tests_UNPARSED_ARGUMENTS})
  if(NOT POSGEO_TEST_ISAS)
    return()
  endif()
  foreach(isa ${tests_ISAS})
    posgeo_runs_isa(${isa} runs)
    if(runs)
      posgeo_catch_program(${name}_${isa} ${folder} ${folder}@${isa} ${tests_UNPARSED_ARGUMENTS})
      posgeo_own_options(${name}_${isa} ${posgeo_flags_${isa}})
    else()
      posgeo_skipped_test(${folder}@${isa} ${folder} "this machine or compiler has no ${isa}")
    endif()
  endforeach()
endfunction()
