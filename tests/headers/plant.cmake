# SPDX-License-Identifier: MIT
# Plants a tree that breaks each rule once and expects the checker to name all of them, and nothing on a clean tree.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../support/expect_findings.cmake)

set(top "// SPDX-License-Identifier: MIT\n#pragma once\n")
file(REMOVE_RECURSE ${tree})
file(WRITE ${tree}/posgeo/core/good.hpp "${top}\nstruct a {}; // ; [ ]\n")
file(WRITE ${tree}/posgeo/posgeo.hpp "${top}\n#include <posgeo/core/good.hpp>\n")
expect_findings()

string(REPEAT "\n" 399 long)
file(WRITE ${tree}/posgeo/core/forgotten.hpp "${top}")
file(WRITE ${tree}/posgeo/core/long.hpp "${top}${long}")
file(WRITE ${tree}/posgeo/core/no_license.hpp "#pragma once\n")
file(WRITE ${tree}/posgeo/core/no_pragma.hpp "// SPDX-License-Identifier: MIT\n")
file(APPEND ${tree}/posgeo/posgeo.hpp
     "#include <posgeo/core/long.hpp>\n#include <posgeo/core/no_license.hpp>\n#include <posgeo/core/no_pragma.hpp>\n"
     "#include <vector>\n")
expect_findings("core/long.hpp: 401 lines, at most 400"
                "core/no_license.hpp: does not start with"
                "core/no_pragma.hpp: does not start with"
                "posgeo.hpp: lacks posgeo/core/forgotten.hpp"
                "posgeo.hpp: includes vector")
