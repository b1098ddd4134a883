// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/encode/of_rows.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/refusal.hpp"

namespace of_rows_test {

using namespace posgeo;
using namespace posgeo::test;

/// Adds the value and its square; refuses negative ones.
struct powers {
  [[nodiscard]] index_t width() const noexcept { return 2; }
  template <class T>
  void check(const row_column<double>& column, violations& found) const {
    encode::for_each_value(column, [&](index_t, index_t, double value) {
      found.expect(value >= 0.0, errc::non_finite, "powers", "value", "at least 0", value);
    });
  }
  template <class T>
  void add(double value, std::span<T> row) const noexcept {
    row[0] += static_cast<T>(value);
    row[1] += static_cast<T>(value * value);
  }
};
using encoder_of_powers = encode::of_rows<powers, double>;
static_assert(state_encoder<encoder_of_powers, float> && state_encoder<encoder_of_powers, double>);

encoder_of_powers of(const position_call& call, const std::vector<double>& values) {
  return {powers{}, {row_identity::of(call.query_space()), values}};
}

TEST_CASE("each row receives its own value", "[of_rows]") {
  const auto call = call_at({9, 4, 6});
  const auto states = encoded(of(call, {1.5, 0.25, 3.0}), call);
  const std::vector<double> expected{1.5, 2.25, 0.25, 0.0625, 3.0, 9.0};
  CHECK(std::equal(expected.begin(), expected.end(), states.values().begin(), states.values().end()));
}

TEST_CASE("rows that moved without their values are refused by name", "[of_rows]") {
  const auto encoder = of(call_at({9, 4, 6}), {1.5, 0.25, 3.0});
  const auto refused = [&](const position_call& call) { return refusal([&] { return encoder.compile<float>(call); }); };
  const error moved = refused(call_at({9, 6, 4}));
  CHECK(moved.code() == errc::row_identity);
  CHECK(std::string(moved.what()).find("row 1 of entry 0") != std::string::npos);
  CHECK(refused(call_at({9, 4})).code() == errc::row_identity);
  CHECK(refused(call_at({9, 4, 7})).code() == errc::row_identity);
  const std::vector<index_t> positions{9, 4, 6};
  const call::explicit_side side{.positions = positions, .rows = 3, .frame = coordinate_frame("elsewhere")};
  CHECK(refused(call::explicit_positions({.query = side, .key = side})).code() == errc::row_identity);
  CHECK_NOTHROW(encoder.compile<float>(call_at({9, 4, 6}, {100})));  // keys are not encoded
}

TEST_CASE("the value of padding is neither checked nor added", "[of_rows]") {
  const std::vector<index_t> lengths{1, 3};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 3,
                                        .side = call::padding_side::left,
                                        .positions = call::padded_positions::contiguous(5)});
  const auto states = encoded(of(call, {-1.0, -1.0, 2.0, 3.0, 4.0, 5.0}), call);
  for (index_t row = 0; row < 2; ++row) CHECK(states(0, row, 0) == 0.0);
  CHECK(states(0, 2, 1) == 4.0);
  CHECK(states(1, 0, 0) == 3.0);
}

TEST_CASE("what the encoder refuses of a value is refused", "[of_rows]") {
  const auto call = call_at({0, 1});
  CHECK(refusal([&] { return of(call, {1.0, -1.0}).compile<float>(call); }).code() == errc::non_finite);
}

}  // namespace of_rows_test
