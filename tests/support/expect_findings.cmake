# SPDX-License-Identifier: MIT
# expect_findings(sentence...): the script `checker`, run on the include directory `tree`, finds one thing for each
# sentence and nothing else; without a sentence it passes.
function(expect_findings)
  execute_process(COMMAND ${CMAKE_COMMAND} -D include_dir=${tree} -P ${checker}
                  RESULT_VARIABLE result ERROR_VARIABLE said)
  string(REGEX MATCHALL "posgeo/[a-z_/]+\\.hpp: [^\n]*" findings "${said}")
  list(LENGTH findings count)
  if(NOT count EQUAL ARGC OR (count EQUAL 0 AND NOT result EQUAL 0) OR (count GREATER 0 AND result EQUAL 0))
    message(FATAL_ERROR "expected ${ARGC} findings, got ${count}:\n${said}")
  endif()
  foreach(sentence ${ARGN})
    string(FIND "${said}" "${sentence}" found)
    if(found EQUAL -1)
      message(FATAL_ERROR "not found: ${sentence}\n${said}")
    endif()
  endforeach()
endfunction()
