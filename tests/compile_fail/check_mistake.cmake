# SPDX-License-Identifier: MIT
# compiler, include_dirs, source, mistake (a flag) and phrase: see posgeo_add_mistake.
cmake_minimum_required(VERSION 3.25)
list(TRANSFORM include_dirs PREPEND -I)
set(compile ${compiler} -std=c++20 -fsyntax-only ${include_dirs})

execute_process(COMMAND ${compile} ${source} RESULT_VARIABLE right ERROR_VARIABLE said)
if(NOT right EQUAL 0)
  message(FATAL_ERROR "the right form does not compile:\n${said}")
endif()
execute_process(COMMAND ${compile} ${mistake} ${source} RESULT_VARIABLE wrong ERROR_VARIABLE said)
if(wrong EQUAL 0)
  message(FATAL_ERROR "the mistake compiles")
endif()
string(FIND "${said}" "${phrase}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "the mistake fails without the words \"${phrase}\":\n${said}")
endif()
