// SPDX-License-Identifier: MIT
#include <posgeo/encode/binary_index.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/refusal.hpp"

namespace binary_index_test {

using namespace posgeo;
using namespace posgeo::test;
using encode::binary_index;
using encode::bit_order;

static_assert(state_encoder<binary_index, float> && state_encoder<binary_index, double>);

const binary_index four({.bits = 4, .order = bit_order::most_significant_first});

double step(const binary_index& encoder, index_t from, index_t to) {
  const auto a = encoded_row(encoder, from);
  const auto b = encoded_row(encoder, to);
  double sum = 0.0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
  return std::sqrt(sum);
}

TEST_CASE("the columns hold the binary digits in the named order", "[binary_index]") {
  CHECK(encoded_row(four, 13) == std::vector<double>{1, 1, 0, 1});
  const binary_index reversed({.bits = 4, .order = bit_order::least_significant_first});
  CHECK(encoded_row(reversed, 13) == std::vector<double>{1, 0, 1, 1});
}

TEST_CASE("a carry flips every digit while the step before flips one", "[binary_index]") {
  CHECK(step(four, 7, 8) == 2.0);
  CHECK(step(four, 6, 7) == 1.0);
  CHECK(step(four, 0, 8) == 1.0);  // nearer than its neighbour
}

TEST_CASE("every position below the capacity has a code of its own and none beyond", "[binary_index]") {
  std::set<std::vector<double>> codes;
  for (index_t p = 0; p < 16; ++p) codes.insert(encoded_row(four, p));
  CHECK(codes.size() == 16);
  for (const index_t p : {-1, 16}) {
    CHECK(refusal([&] { return four.compile<float>(call_at({p})); }).code() == errc::position_out_of_table);
  }
  for (const index_t bits : {0, 63}) {
    CHECK(refusal([&] { return binary_index({.bits = bits, .order = bit_order::most_significant_first}); }).code() ==
          errc::shape_mismatch);
  }
}

}  // namespace binary_index_test
