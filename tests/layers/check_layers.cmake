# SPDX-License-Identifier: MIT
# A header includes its own folder and folders of lower layers, nothing else of the library. The umbrella is exempt.
# Nothing outside simd/ knows what a lane is made of.
cmake_minimum_required(VERSION 3.25)
set(layers
    "core simd"
    "call"
    "coordinate frequency"
    "encode transform bias content value visible scale"
    "model"
    "attend manifest"
    "contract"
    "contract/convert audit"
    "audit/html json")

set(layer 0)
foreach(folders ${layers})
  string(REPLACE " " ";" folders ${folders})
  foreach(folder ${folders})
    set(layer_of_${folder} ${layer})
  endforeach()
  math(EXPR layer "${layer} + 1")
endforeach()

file(GLOB_RECURSE headers RELATIVE ${include_dir}/posgeo ${include_dir}/posgeo/*.hpp)
list(REMOVE_ITEM headers posgeo.hpp)
if(NOT headers)
  message(FATAL_ERROR "no headers in ${include_dir}/posgeo")
endif()
set(broken)
foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  if(folder AND NOT DEFINED layer_of_${folder})
    string(APPEND broken "\n  posgeo/${header}: its folder has no layer")
    continue()
  endif()
  file(STRINGS ${include_dir}/posgeo/${header} includes REGEX "^[ \t]*#[ \t]*include[ \t]*([<\"]posgeo|\")")
  set(of_lanes "immintrin|arm_neon|_mm(256|512)?_|Eigen::internal|vector_size")
  file(STRINGS ${include_dir}/posgeo/${header} lanes REGEX ${of_lanes})
  if(lanes AND NOT folder STREQUAL "simd")
    string(APPEND broken "\n  posgeo/${header}: only simd may write: ${lanes}")
  endif()
  foreach(line ${includes})
    if(NOT line MATCHES "^#include <posgeo/(.*)>$")
      string(APPEND broken "\n  posgeo/${header}: spells it otherwise than #include <posgeo/...>: ${line}")
      continue()
    endif()
    set(included ${CMAKE_MATCH_1})
    get_filename_component(other ${included} DIRECTORY)
    if(NOT EXISTS ${include_dir}/posgeo/${included})
      string(APPEND broken "\n  posgeo/${header}: includes ${included}, which does not exist")
    elseif(other STREQUAL folder)
      continue()
    elseif(NOT folder OR NOT DEFINED layer_of_${other} OR NOT layer_of_${other} LESS layer_of_${folder})
      string(APPEND broken "\n  posgeo/${header}: may not include ${included}")
    endif()
  endforeach()
endforeach()

if(broken)
  message(FATAL_ERROR "${broken}")
endif()
