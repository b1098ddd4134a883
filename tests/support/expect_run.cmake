# SPDX-License-Identifier: MIT
# cmake -DEXIT=code -DOUTPUT=regex -P expect_run.cmake -- program argument...
# Fails unless the program exits with the code and prints what the expression matches.
set(command)
set(begun FALSE)
foreach(n RANGE ${CMAKE_ARGC})
  if(begun AND n LESS CMAKE_ARGC)
    list(APPEND command "${CMAKE_ARGV${n}}")
  elseif("${CMAKE_ARGV${n}}" STREQUAL "--")
    set(begun TRUE)
  endif()
endforeach()
execute_process(COMMAND ${command} RESULT_VARIABLE code OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
if(NOT code STREQUAL EXIT)
  message(FATAL_ERROR "exit code ${code} instead of ${EXIT}:\n${printed}")
endif()
if(NOT printed MATCHES "${OUTPUT}")
  message(FATAL_ERROR "nothing matches '${OUTPUT}' in:\n${printed}")
endif()
