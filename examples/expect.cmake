# SPDX-License-Identifier: MIT
# Runs PROGRAM [ARGUMENT] with INPUT on standard input; its exit code must be EXIT and its words must match SAYS
# and, where OMITS is given, must not match that.
set(input)
if(INPUT)
  set(input INPUT_FILE ${INPUT})
endif()
execute_process(COMMAND ${PROGRAM} ${ARGUMENT} ${input} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
message("${out}")
if(NOT code EQUAL EXIT)
  message(FATAL_ERROR "exit code ${code}, expected ${EXIT}")
endif()
if(NOT out MATCHES "${SAYS}")
  message(FATAL_ERROR "the output does not match '${SAYS}'")
endif()
if(OMITS AND out MATCHES "${OMITS}")
  message(FATAL_ERROR "the output matches '${OMITS}'")
endif()
