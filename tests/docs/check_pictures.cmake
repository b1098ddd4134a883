# SPDX-License-Identifier: MIT
# Draws every picture into a folder of its own (draw, drawn) and compares the files with those that are kept.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${drawn})
execute_process(COMMAND ${draw} --pictures ${drawn} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB new RELATIVE ${drawn} ${drawn}/*)
file(GLOB old RELATIVE ${kept} ${kept}/*)
if(NOT new)
  message(FATAL_ERROR "nothing was drawn")
endif()

set(different)
set(names ${new} ${old})
list(REMOVE_DUPLICATES names)
foreach(name ${names})
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${drawn}/${name} ${kept}/${name} RESULT_VARIABLE differs
                  ERROR_QUIET)
  if(differs)
    string(APPEND different "\n  ${name}")
  endif()
endforeach()
if(different)
  message(FATAL_ERROR
          "docs/pictures is not what posgeo_atlas draws (cmake --workflow --preset pictures):${different}")
endif()
