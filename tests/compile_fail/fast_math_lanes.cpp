// SPDX-License-Identifier: MIT
#include <posgeo/simd/isa.hpp>
