# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.25)
# Runs one program of the pages and, where a ```text block stands right behind it, compares what it prints.
execute_process(COMMAND ${programs} ${name} OUTPUT_VARIABLE printed RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${name} ended with ${result}\n${printed}")
endif()
if(EXISTS ${expected})
  file(READ ${expected} page)
  if(NOT "${printed}" STREQUAL "${page}")
    message(FATAL_ERROR "the page says\n${page}\nand the program\n${printed}")
  endif()
endif()
