// SPDX-License-Identifier: MIT
#include <posgeo/core/table.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::random_values;
using posgeo::test::refusal;

TEST_CASE("a table keeps its own row-major copy of the values", "[table]") {
  auto values = random_values<float>(15, 2);
  const auto before = values;
  const table<float> kept(values, 5, 3);
  for (float& value : values) value = 0.0F;
  REQUIRE(kept.rows() == 5);
  REQUIRE(kept.columns() == 3);
  for (index_t r = 0; r < 5; ++r) {
    REQUIRE(kept.row(r).size() == 3);
    for (index_t c = 0; c < 3; ++c) {
      REQUIRE(kept(r, c) == before[static_cast<std::size_t>(r * 3 + c)]);
      REQUIRE(&kept.row(r)[static_cast<std::size_t>(c)] == &kept(r, c));
    }
  }
  const auto copy = kept;
  CHECK(&copy(4, 2) == &kept(4, 2));
}

TEST_CASE("a table refuses values that do not fill it", "[table]") {
  const auto refused = [](std::size_t count, index_t rows, index_t columns) {
    return refusal([&] { return table<double>(random_values<double>(count, 4), rows, columns); }).code();
  };
  CHECK_NOTHROW(table<double>(random_values<double>(6, 4), 2, 3));
  CHECK(refused(5, 2, 3) == errc::shape_mismatch);
  CHECK(refused(7, 2, 3) == errc::shape_mismatch);
  CHECK(refused(6, 3, 3) == errc::shape_mismatch);
  CHECK(refused(0, 0, 3) == errc::shape_mismatch);
  CHECK(refused(0, 3, 0) == errc::shape_mismatch);
  CHECK(refused(6, -2, -3) == errc::shape_mismatch);
  CHECK(refused(0, index_t{1} << 62, 4) == errc::shape_mismatch);  // 2^64 values, which is 0 in 64 bits
}

TEST_CASE("a table refuses a value that is not finite, wherever it stands", "[table]") {
  using limits = std::numeric_limits<double>;
  for (const double bad : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) {
    for (const std::size_t where : {0U, 3U, 5U}) {
      auto values = random_values<double>(6, 8);
      values[where] = bad;
      CHECK(refusal([&] { return table<double>(values, 2, 3); }).code() == errc::non_finite);
    }
  }
}

}  // namespace
