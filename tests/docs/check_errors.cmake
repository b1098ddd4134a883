# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
# docs/errors.md has one heading for each enumerator of errc, in their order, and no other.
file(READ ${root}/include/posgeo/core/error.hpp header)
string(REGEX MATCH "enum class errc {[^}]*}" enumeration "${header}")
string(REGEX MATCHALL "[a-z_0-9]+ = [0-9]+" codes "${enumeration}")
list(TRANSFORM codes REPLACE " = .*" "")
file(STRINGS ${root}/docs/errors.md headings REGEX "^## ")
list(TRANSFORM headings REPLACE "^## " "")
if(NOT codes OR NOT "${codes}" STREQUAL "${headings}")
  message(FATAL_ERROR "errc:           ${codes}\ndocs/errors.md: ${headings}")
endif()
