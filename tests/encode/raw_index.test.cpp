// SPDX-License-Identifier: MIT
#include <posgeo/encode/raw_index.hpp>

#include <cmath>
#include <string>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace raw_index_test {

using namespace posgeo;
using namespace posgeo::test;
using encode::raw_index;

static_assert(state_encoder<raw_index, float> && state_encoder<raw_index, double>);

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
  const auto weights = random_values<double>(36, 317);
  const auto product = [&](const auto& weight, const std::vector<double>& query, const std::vector<double>& key) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) sum += query[i] * weight(i, j) * key[j];
    }
    return sum;
  };
  // Rows of one direction: even weights that are not symmetric give m n times one number.
  const auto any = [&](std::size_t i, std::size_t j) { return weights[6 * i + j]; };
  CHECK(std::abs(product(any, m, n)) > 0.1);
  CHECK(difference(product(any, m, n), product(any, n, m)) < 1e-12 * std::abs(product(any, m, n)));
  // With a channel that tells which side a row is on, the same weights do tell.
  auto marked = m;
  marked[0] = 1.0;
  auto marked_n = n;
  marked_n[0] = 1.0;
  CHECK(difference(product(any, marked, marked_n), product(any, marked_n, marked)) > 1e-3);
  // nor how far apart they are: 3 and 8 give what 4 and 6 give
  CHECK(dot(m, n) == dot(encoded_row(encoder, 4), encoded_row(encoder, 6)));
}

TEST_CASE("a raw index refuses rows that the type cannot hold", "[raw_index]") {
  const raw_index steep({.width = 2, .alpha = 1e35});
  CHECK_NOTHROW(steep.compile<float>(call_at({0, 3000})));
  const error refused = refusal([&] { return steep.compile<float>(call_at({0, 4000})); });
  CHECK(refused.code() == errc::non_finite);
  CHECK(std::string(refused.what()).find("row 1 in entry 0") != std::string::npos);
  CHECK_NOTHROW(steep.compile<double>(call_at({0, 4000})));
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
