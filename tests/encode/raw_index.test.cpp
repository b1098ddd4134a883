// SPDX-License-Identifier: MIT
#include <posgeo/encode/raw_index.hpp>

#include <cmath>
#include <numeric>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/refusal.hpp"

namespace raw_index_test {

using namespace posgeo;
using namespace posgeo::test;
using encode::raw_index;

static_assert(state_encoder<raw_index, float> && state_encoder<raw_index, double>);

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST_CASE("the norm of a raw index grows with the position and the width does not help", "[raw_index]") {
  for (const index_t width : {4, 64, 900}) {
    const raw_index encoder({.width = width, .alpha = -0.5});
    const double content_norm = std::sqrt(static_cast<double>(width));  // of channels of scale 1
    for (const index_t p : {0, 1, 30, 1000000}) {
      const auto row = encoded_row(encoder, p);
      CHECK(row == std::vector<double>(static_cast<std::size_t>(width), -0.5 * static_cast<double>(p)));
      const double norm = std::sqrt(dot(row, row));
      CHECK(difference(norm, 0.5 * static_cast<double>(p) * content_norm) <= 1e-12 * norm);
    }
  }
}

TEST_CASE("a symmetric product cannot tell which of two positions comes first", "[raw_index]") {
  const raw_index encoder({.width = 6, .alpha = 0.25});
  const auto m = encoded_row(encoder, 3);
  const auto n = encoded_row(encoder, 8);
  CHECK(dot(m, n) == dot(n, m));
  CHECK(dot(m, n) != 0.0);
  // nor how far apart they are: 3 and 8 give what 4 and 6 give
  CHECK(dot(m, n) == dot(encoded_row(encoder, 4), encoded_row(encoder, 6)));
}

TEST_CASE("a raw index refuses positions below zero and settings without a number", "[raw_index]") {
  const raw_index encoder({.width = 2, .alpha = 1.0});
  CHECK(refusal([&] { return encoder.compile<float>(call_at({3, -1})); }).code() == errc::position_out_of_table);
  CHECK(refusal([&] { return encoder.compile<float>(call_at({angle_position_limit})); }).code() ==
        errc::position_out_of_table);
  CHECK(refusal([] { return raw_index({.width = 0, .alpha = 1.0}); }).code() == errc::shape_mismatch);
  for (const double bad : {std::nan(""), 1e300}) {
    CHECK(refusal([&] { return raw_index({.width = 2, .alpha = bad}); }).code() == errc::non_finite);
  }
}

}  // namespace raw_index_test
