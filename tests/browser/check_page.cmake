# SPDX-License-Identifier: MIT
# Writes the atlas (atlas) into a folder (out), opens it in a browser (browser) at two widths, and reads its print
# (pdftotext).
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${out})
file(MAKE_DIRECTORY ${out})
execute_process(COMMAND ${atlas} ${out}/atlas.html COMMAND_ERROR_IS_FATAL ANY)
file(READ ${out}/atlas.html page)
file(READ ${CMAKE_CURRENT_LIST_DIR}/measure.js script)
string(FIND "${page}" "<script" scripts)
if(NOT scripts EQUAL -1)
  message(FATAL_ERROR "the atlas has a script")
endif()
string(REPLACE "</body>" "<script>${script}</script></body>" measured "${page}")
file(WRITE ${out}/measured.html "${measured}")
# Windows may not be as narrow as a telephone, a frame may.
file(WRITE ${out}/narrow.html "<!DOCTYPE html><title>x</title>
<iframe src='measured.html' width='390' height='900' style='border:0'></iframe>
<script>onload = () => { document.title = frames[0].document.title }</script>")

set(run ${browser} --headless --no-sandbox --disable-gpu --allow-file-access-from-files --user-data-dir=${out}/profile
        --virtual-time-budget=20000)
set(faults)
foreach(width 1280 390)
  set(opened measured.html)
  if(width EQUAL 390)
    set(opened narrow.html)
  endif()
  execute_process(COMMAND ${run} --window-size=1280,900 --hide-scrollbars --dump-dom file://${out}/${opened}
                  OUTPUT_VARIABLE seen ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "MEASURED ([0-9]+) wide, ([0-9]+) pictures, ([0-9]+) faults,[^\n<]*" said "${seen}")
  message(STATUS "${said}")
  if(NOT CMAKE_MATCH_1 EQUAL width OR NOT CMAKE_MATCH_2 GREATER 50 OR NOT CMAKE_MATCH_3 EQUAL 0)
    string(APPEND faults "\n  at ${width}: ${said}")
  endif()
endforeach()

# What is printed is text: headings, tables, labels of pictures, and what is folded on a screen.
execute_process(COMMAND ${run} --no-pdf-header-footer --print-to-pdf=${out}/atlas.pdf file://${out}/atlas.html
                OUTPUT_QUIET ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${pdftotext} -layout ${out}/atlas.pdf ${out}/atlas.txt COMMAND_ERROR_IS_FATAL ANY)
file(READ ${out}/atlas.txt printed)
foreach(words "Atlas of positional geometry" "Transformer-XL" "Who sees whom" "permute rows" "as declared"
              "key position minus query position" "cosine of the angle" "Speed of each pair" "Edges of the buckets")
  string(FIND "${printed}" "${words}" at)
  if(at EQUAL -1)
    string(APPEND faults "\n  the print has no '${words}'")
  endif()
endforeach()
if(faults)
  message(FATAL_ERROR "the page:${faults}")
endif()
