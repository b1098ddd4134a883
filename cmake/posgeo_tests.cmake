# SPDX-License-Identifier: MIT
include(Catch)
set(POSGEO_TEST_OPTIMISATION -O1 CACHE STRING "The optimisation that the tests are compiled with")

# posgeo_test_program(name): what every program of the tests is built with. The tests are many instantiations that run
# for milliseconds, so what counts is the time to compile them: one unit for each few files, and little optimisation.
function(posgeo_test_program name)
  target_link_libraries(${name} PRIVATE posgeo::posgeo posgeo_warnings)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(${name} PRIVATE ${POSGEO_TEST_OPTIMISATION})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# posgeo_add_tests(folder source...): one executable posgeo_<folder>_tests, each of its cases one CTest test
# "<folder>.<case>".
function(posgeo_add_tests folder)
  set(name posgeo_${folder}_tests)
  add_executable(${name} ${ARGN})
  posgeo_test_program(${name})
  target_link_libraries(${name} PRIVATE Catch2::Catch2WithMain)
  # Catch2 2 passes when a name matches no test; 3 fails then, and does not know the flag.
  set(no_tests)
  if(Catch2_VERSION VERSION_LESS 3)
    set(no_tests EXTRA_ARGS -w NoTests)
  endif()
  catch_discover_tests(${name} TEST_PREFIX "${folder}." ${no_tests} PROPERTIES LABELS ${folder})
endfunction()
