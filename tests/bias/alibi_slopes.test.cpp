// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi_slopes.hpp>

#include <algorithm>
#include <limits>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace alibi_slopes_test {

using namespace posgeo;
using namespace posgeo::test;
using bias::alibi_slopes;

std::vector<double> values(const alibi_slopes& slopes) {
  std::vector<double> out;
  for (const head_index h : indices<head_index>(slopes.size())) out.push_back(slopes[h]);
  return out;
}

/// The authors' rule as they state it: halve the exponents' step for each doubling, and borrow from twice the size.
std::vector<double> by_recursion(index_t heads) {
  index_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> out;
  for (index_t h = 1; h <= power; ++h)
    out.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(power)));
  if (heads == power) return out;
  const auto finer = by_recursion(2 * power);
  for (std::size_t n = 0; out.size() < static_cast<std::size_t>(heads); n += 2) out.push_back(finer[n]);
  return out;
}

TEST_CASE("reference slopes follow the recursive rule for every head count", "[alibi_slopes]") {
  for (index_t heads = 1; heads <= 130; ++heads) {
    CAPTURE(heads);
    const auto slopes = values(alibi_slopes::reference(heads));
    const auto expected = by_recursion(heads);
    REQUIRE(slopes.size() == expected.size());
    for (std::size_t h = 0; h < slopes.size(); ++h) REQUIRE_THAT(slopes[h], WithinRel(expected[h], 1e-13));
  }
}

TEST_CASE("eight heads have the powers of one half", "[alibi_slopes]") {
  CHECK(values(alibi_slopes::reference(8)) ==
        std::vector<double>{1 / 2., 1 / 4., 1 / 8., 1 / 16., 1 / 32., 1 / 64., 1 / 128., 1 / 256.});
  CHECK(alibi_slopes::reference(8).generator() == "reference");
}

TEST_CASE("twelve reference slopes are not monotone and not geometric", "[alibi_slopes]") {
  const auto reference = values(alibi_slopes::reference(12));
  CHECK_FALSE(std::is_sorted(reference.rbegin(), reference.rend()));
  CHECK_THAT(reference[8], WithinRel(std::exp2(-0.5), 1e-14));
  const auto geometric = values(alibi_slopes::geometric(12));
  CHECK(std::is_sorted(geometric.rbegin(), geometric.rend()));
  for (std::size_t h = 0; h < 12; ++h) {
    CHECK_THAT(geometric[h], WithinRel(std::exp2(-2.0 * static_cast<double>(h + 1) / 3.0), 1e-14));
    CHECK(std::abs(geometric[h] / reference[h] - 1) > 0.05);
  }
  const auto of_sixteen = values(alibi_slopes::geometric(16));
  const auto as_released = values(alibi_slopes::reference(16));
  for (std::size_t h = 0; h < 16; ++h) CHECK_THAT(of_sixteen[h], WithinRel(as_released[h], 1e-14));
}

TEST_CASE("the slices of a partition are the whole", "[alibi_slopes]") {
  const auto whole = alibi_slopes::reference(12);
  std::vector<double> joined;
  index_t first = 0;
  for (const index_t count : {5, 1, 6}) {
    const auto part = whole.slice(first, count);
    CHECK(part.size() == count);
    CHECK(part.generator() == "reference");
    const auto owned = values(part);
    joined.insert(joined.end(), owned.begin(), owned.end());
    first += count;
  }
  CHECK(joined == values(whole));
  CHECK(values(whole.slice(6, 6)) != values(alibi_slopes::reference(6)));
}

TEST_CASE("slopes refuse no heads and slices outside and what is no number", "[alibi_slopes]") {
  for (const index_t heads : {index_t{0}, index_t{-3}}) {
    CHECK(refusal([&] { return alibi_slopes::reference(heads); }).code() == errc::head_count);
    CHECK(refusal([&] { return alibi_slopes::geometric(heads); }).code() == errc::head_count);
  }
  CHECK(refusal([] { return alibi_slopes::custom({}); }).code() == errc::head_count);
  CHECK(refusal([] { return alibi_slopes::custom({0.5, std::nan("")}); }).code() == errc::non_finite);
  CHECK(refusal([] { return alibi_slopes::custom({-HUGE_VAL}); }).code() == errc::non_finite);
  CHECK(values(alibi_slopes::custom({0.25, -3.0, 0.0})) == std::vector<double>{0.25, -3.0, 0.0});
  const auto slopes = alibi_slopes::reference(6);
  constexpr index_t huge = std::numeric_limits<index_t>::max();
  for (const auto& [first, count] : {std::pair<index_t, index_t>{-1, 2}, {0, 0}, {0, 7}, {6, 1}, {7, -1}, {2, huge}}) {
    CHECK(refusal([&, f = first, c = count] { return slopes.slice(f, c); }).code() == errc::head_count);
  }
}

}  // namespace alibi_slopes_test
