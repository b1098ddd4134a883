# SPDX-License-Identifier: MIT
# Plants a tree that breaks the include rule in each way and expects the checker to name every one.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../support/expect_findings.cmake)

function(plant header)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include <posgeo/\\1>\n" OUTPUT_VARIABLE includes)
  string(JOIN "" text "#include <vector>\n" ${includes})
  file(WRITE ${tree}/posgeo/${header} "${text}")
endfunction()

file(REMOVE_RECURSE ${tree})
plant(version.hpp)
plant(core/index.hpp)
plant(core/error.hpp core/index.hpp)
plant(simd/pack.hpp)
file(APPEND ${tree}/posgeo/simd/pack.hpp "__m512 zero = _mm512_setzero_ps();\n")
plant(call/call.hpp core/error.hpp)
plant(bias/concept.hpp call/call.hpp core/index.hpp)
plant(visible/concept.hpp call/call.hpp)
plant(model/model.hpp bias/concept.hpp visible/concept.hpp core/error.hpp)
plant(attend/attend.hpp model/model.hpp bias/concept.hpp)
plant(posgeo.hpp attend/attend.hpp version.hpp)
expect_findings()

plant(core/upward.hpp call/call.hpp)
plant(bias/sideways.hpp visible/concept.hpp)
plant(model/skipping_up.hpp attend/attend.hpp core/index.hpp)
plant(call/through_the_roof.hpp posgeo.hpp)
plant(loose.hpp core/index.hpp)
plant(stray/lost.hpp core/index.hpp)
plant(core/missing.hpp core/nowhere.hpp)
plant(simd/sideways.hpp core/index.hpp)
file(WRITE ${tree}/posgeo/bias/lanes.hpp "__m512 zero = _mm512_setzero_ps();\n")
file(WRITE ${tree}/posgeo/core/quoted.hpp "#include \"index.hpp\"\n")
expect_findings("core/upward.hpp: may not include call/call.hpp"
                "bias/sideways.hpp: may not include visible/concept.hpp"
                "model/skipping_up.hpp: may not include attend/attend.hpp"
                "call/through_the_roof.hpp: may not include posgeo.hpp"
                "loose.hpp: may not include core/index.hpp"
                "stray/lost.hpp: its folder has no layer"
                "core/missing.hpp: includes core/nowhere.hpp, which does not exist"
                "simd/sideways.hpp: may not include core/index.hpp"
                "bias/lanes.hpp: only simd may write"
                "core/quoted.hpp: spells it otherwise")
