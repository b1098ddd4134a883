// SPDX-License-Identifier: MIT
#include <cmath>

#include "simd/units/report.hpp"
#include "support/catch.hpp"

namespace units_test {

void check(const posgeo::test::lane_report& unit, const char* isa, long lanes) {
  CHECK(unit.isa == isa);
  CHECK(unit.lanes == lanes);
  for (int n = 0; n < 40; ++n) CHECK(unit.powers[static_cast<std::size_t>(n)] == std::exp2(static_cast<float>(-n)));
  CHECK(unit.tree_sum == static_cast<float>(lanes * (lanes + 1) / 2));
  CHECK(unit.tree_sum_of_doubles == static_cast<double>(lanes / 2 * (lanes / 2 + 1) / 2));
}

TEST_CASE("units for different instruction sets keep to their own lanes", "[simd]") {
  check(posgeo::test::sse2_unit(), "sse2", 4);
  check(posgeo::test::avx2_unit(), "avx2", 8);
#if defined(POSGEO_TEST_AVX512_UNIT)
  check(posgeo::test::avx512_unit(), "avx512", 16);
#endif
}

}  // namespace units_test
