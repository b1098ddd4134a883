// SPDX-License-Identifier: MIT
#include <posgeo/encode/normalized_index.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/refusal.hpp"

namespace normalized_index_test {

using namespace posgeo;
using namespace posgeo::test;
using encode::normalized_index;

static_assert(state_encoder<normalized_index, float> && state_encoder<normalized_index, double>);

normalized_index of_length(index_t length) { return normalized_index({.width = 3, .length = length}); }

TEST_CASE("the same position is another row under another length", "[normalized_index]") {
  CHECK(encoded_row(of_length(5), 2) == std::vector<double>(3, 0.4));
  CHECK(encoded_row(of_length(10), 2) == std::vector<double>(3, 0.2));
  // and two positions share a row
  CHECK(encoded_row(of_length(5), 2) == encoded_row(of_length(10), 4));
}

TEST_CASE("a step is one over the length", "[normalized_index]") {
  for (const index_t length : {7, 4096}) {
    const auto encoder = of_length(length);
    for (const index_t p : {index_t{0}, length - 2}) {
      CHECK(difference(encoded_row(encoder, p + 1)[0] - encoded_row(encoder, p)[0], 1.0 / static_cast<double>(length)) <
            1e-15);
    }
  }
}

TEST_CASE("the length is the declared one whatever the rows of the call", "[normalized_index]") {
  const auto encoder = of_length(10);
  const auto short_call = encoded(encoder, call_at({2, 3}));
  const auto long_call = encoded(encoder, call_at({2, 3, 9, 0, 5}));
  CHECK(largest_difference(short_call.view().row(0, 0), long_call.view().row(0, 0)) == 0.0);
}

TEST_CASE("a normalized index refuses positions outside of its length and lengths of nothing", "[normalized_index]") {
  const auto encoder = of_length(5);
  for (const index_t p : {-1, 5}) {
    CHECK(refusal([&] { return encoder.compile<float>(call_at({p})); }).code() == errc::position_out_of_table);
  }
  CHECK_NOTHROW(encoder.compile<float>(call_at({4, 0})));
  for (const index_t length : {index_t{0}, index_t{-5}, index_t{1} << 54}) {
    CHECK(refusal([&] { return of_length(length); }).code() == errc::row_count);
  }
  CHECK(refusal([] { return normalized_index({.width = 0, .length = 5}); }).code() == errc::shape_mismatch);
}

}  // namespace normalized_index_test
