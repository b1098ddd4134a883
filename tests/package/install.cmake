# SPDX-License-Identifier: MIT
# Installs the build tree and checks that every header, and nothing else, has arrived.
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(GLOB_RECURSE in_tree RELATIVE ${source}/include ${source}/include/*)
file(GLOB_RECURSE installed RELATIVE ${prefix}/include ${prefix}/include/*)
if(NOT in_tree STREQUAL installed)
  message(FATAL_ERROR "installed headers differ from the tree:\n${in_tree}\n${installed}")
endif()
