# SPDX-License-Identifier: MIT
# What every file of this project is compiled with; users get none of it.
add_library(posgeo_warnings INTERFACE)
target_compile_options(posgeo_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# GCC 12 takes the undefined lanes of its own AVX intrinsics for uninitialised variables.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(posgeo_warnings INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized)
endif()
