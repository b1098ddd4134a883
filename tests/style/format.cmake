# SPDX-License-Identifier: MIT
file(GLOB_RECURSE files ${source}/include/*.hpp ${source}/tests/*.hpp ${source}/tests/*.cpp ${source}/examples/*.hpp
     ${source}/examples/*.cpp ${source}/bench/*.hpp ${source}/bench/*.cpp)
execute_process(COMMAND ${clang_format} --dry-run -Werror ${files} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "some files are not in the format of .clang-format")
endif()
