// SPDX-License-Identifier: MIT
#include <posgeo/transform/axis_sections.hpp>

#ifdef POSGEO_SHOULD_FAIL
const posgeo::transform::axis_sections<2> sections{{4, 4}};
#else
const auto sections = posgeo::transform::axis_sections<2>::blocks({4, 4});
#endif
