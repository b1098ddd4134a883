// SPDX-License-Identifier: MIT
#include <posgeo/encode/resized_rows.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;
using encode::resize_sampling;
using encode::resized_rows;

std::vector<double> resized(const std::vector<double>& column, index_t new_rows, resize_sampling sampling) {
  const table<double> rows(column, static_cast<index_t>(column.size()), 1);
  const auto result = resized_rows(rows, new_rows, sampling);
  return {result.values().begin(), result.values().end()};
}

TEST_CASE("half-pixel and corner-aligned sampling of four rows by hand", "[resized_rows]") {
  const std::vector<double> four{0, 10, 20, 30};
  CHECK(largest_difference(resized(four, 6, resize_sampling::half_pixel),
                           std::vector<double>{0, 5, 35.0 / 3, 55.0 / 3, 25, 30}) < 1e-13);
  CHECK(largest_difference(resized(four, 6, resize_sampling::aligned_corners),
                           std::vector<double>{0, 6, 12, 18, 24, 30}) < 1e-13);
  CHECK(resized(four, 2, resize_sampling::half_pixel) == std::vector<double>{5, 25});
  CHECK(resized(four, 2, resize_sampling::aligned_corners) == std::vector<double>{0, 30});
  CHECK(resized(four, 1, resize_sampling::half_pixel) == std::vector<double>{15});
  CHECK(resized(four, 1, resize_sampling::aligned_corners) == std::vector<double>{0});
}

TEST_CASE("a resized table keeps itself at its own size and mirrors with its rows", "[resized_rows]") {
  for (const auto sampling : {resize_sampling::half_pixel, resize_sampling::aligned_corners}) {
    const auto column = random_values<double>(7, 5);
    CHECK(largest_difference(resized(column, 7, sampling), column) < 1e-15);
    for (const index_t size : {2, 5, 13, 61}) {
      const std::vector<double> mirrored(column.rbegin(), column.rend());
      const auto forward = resized(column, size, sampling);
      const auto backward = resized(mirrored, size, sampling);
      CHECK(largest_difference(forward, std::vector<double>(backward.rbegin(), backward.rend())) < 1e-13);
    }
  }
}

TEST_CASE("the new size is exact where a ratio would round down", "[resized_rows]") {
  const auto values = random_values<float>(28, 6);
  const table<float> rows(values, 14, 2);
  CHECK(resized_rows(rows, 61, resize_sampling::half_pixel).rows() == 61);
  CHECK(resized_rows(rows, 61, resize_sampling::half_pixel).columns() == 2);
  CHECK(refusal([&] { return resized_rows(rows, 0, resize_sampling::half_pixel); }).code() == errc::table_rows);
}

}  // namespace
