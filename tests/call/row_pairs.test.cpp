// SPDX-License-Identifier: MIT
#include <posgeo/call/row_pairs.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace row_pairs_test {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("pairs are read by entry then row then the other row", "[row_pairs]") {
  const row_identity rows(2, 3, {{0, 4}, {0, 1}, {0, 9}, {1, 0}, {1, 7}, {1, 2}});
  const auto values = random_values<double>(18, 311);
  const row_pairs<double> pairs(rows, values);
  for (index_t b = 0; b < 2; ++b) {
    for (index_t i = 0; i < 3; ++i) {
      for (index_t j = 0; j < 3; ++j) CHECK(pairs.at(b, i, j) == values[static_cast<std::size_t>(9 * b + 3 * i + j)]);
    }
  }
}

TEST_CASE("pairs refuse rows in another order and another number of values", "[row_pairs]") {
  const row_pairs<int> pairs(row_identity::of(call_at({6, 2}).key_space()), {3, 1, 4, 1});
  const auto found_for = [&](const position_call& call) {
    violations found;
    pairs.expect_of(call.key_space(), "distances", found);
    return codes(found);
  };
  CHECK(found_for(call_at({6, 2})).empty());
  CHECK(found_for(call_at({2, 6})) == std::vector{errc::row_identity});
  CHECK(refusal([&] { return row_pairs<int>(pairs.rows(), {3, 1}); }).code() == errc::row_count);
}

}  // namespace row_pairs_test
