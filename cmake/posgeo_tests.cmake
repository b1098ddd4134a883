# SPDX-License-Identifier: MIT
include(Catch)

# posgeo_add_tests(folder source...): one executable posgeo_<folder>_tests, each of its cases one CTest test
# "<folder>.<case>".
function(posgeo_add_tests folder)
  set(name posgeo_${folder}_tests)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE posgeo::posgeo posgeo_warnings Catch2::Catch2WithMain)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # Catch2 2 passes when a name matches no test; 3 fails then, and does not know the flag.
  set(no_tests)
  if(Catch2_VERSION VERSION_LESS 3)
    set(no_tests EXTRA_ARGS -w NoTests)
  endif()
  catch_discover_tests(${name} TEST_PREFIX "${folder}." ${no_tests} PROPERTIES LABELS ${folder})
endfunction()
