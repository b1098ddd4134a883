// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/encode/learned_absolute.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;
using encode::learned_absolute;
using encode::padded_rows;

static_assert(state_encoder<learned_absolute<float>, float> && state_encoder<learned_absolute<float>, double>);

constexpr index_t table_rows = 9;
constexpr index_t width = 5;

table<double> learned_rows() { return random_table(table_rows, width, 71); }

/// The table row that each storage row of the call reads; -1 for none.
std::vector<index_t> rows_read(const learned_absolute<double>& encoder, const position_call& call) {
  const auto term = encoder.compile<double>(call);
  std::vector<index_t> out;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) out.push_back(term.table_row(b, i));
  }
  return out;
}

TEST_CASE("learned positions add their table row", "[learned_absolute]") {
  const table<double> weights = learned_rows();
  const learned_absolute encoder(weights, {.row_offset = 2});
  CHECK(encoder.capacity() == table_rows - 2);
  CHECK(encoder.width() == width);
  const auto call = call_at({6, 0, 3});
  auto states = random_tensor<double, 3>({1, 3, width}, 72);
  const auto before = states;
  encode::add_positions(encoder, call, states.view());
  for (index_t row = 0; row < 3; ++row) {
    const index_t from = call.at(batch_index{0}, query_index{row}).value() + 2;
    for (index_t c = 0; c < width; ++c) CHECK(states(0, row, c) == before(0, row, c) + weights(from, c));
  }
}

TEST_CASE("two rows may share a position", "[learned_absolute]") {
  const std::vector<index_t> positions{4, 1, 4};
  const call::explicit_side side{.positions = positions, .rows = 3};
  const auto call = call::explicit_positions({.query = side, .key = side, .reuse = position_reuse::intended});
  CHECK(rows_read(learned_absolute(learned_rows(), {.row_offset = 0}), call) == std::vector<index_t>{4, 1, 4});
}

TEST_CASE("a position without a row is refused with its place and the capacity", "[learned_absolute]") {
  const learned_absolute encoder(learned_rows(), {.row_offset = 2});
  const auto refused = [&](index_t p) { return refusal([&] { return encoder.compile<float>(call_at({0, p})); }); };
  const error beyond = refused(7);
  CHECK(beyond.code() == errc::position_out_of_table);
  const std::string message = beyond.what();
  for (const char* part : {"row 1 in entry 0", "0..6", "got 7"}) CHECK(message.find(part) != std::string::npos);
  CHECK(refused(-1).code() == errc::position_out_of_table);  // the offset does not make room below 0
  CHECK_NOTHROW(encoder.compile<float>(call_at({0, 6})));
}

TEST_CASE("padded rows read by position or one own row or nothing", "[learned_absolute]") {
  const std::vector<index_t> lengths{1, 3};
  const auto padded_at = [&](index_t padded) {
    return call::padded_batch({.lengths = lengths,
                               .rows = 3,
                               .side = call::padding_side::right,
                               .positions = call::padded_positions::fixed(5, padded)});
  };
  const learned_absolute by_position(learned_rows(), {.row_offset = 0});
  const learned_absolute untouched(learned_rows(), {.row_offset = 0, .padding = padded_rows::untouched()});
  const learned_absolute own_row(learned_rows(), {.row_offset = 0, .padding = padded_rows::table_row(0)});
  CHECK(rows_read(by_position, padded_at(8)) == std::vector<index_t>{5, 8, 8, 5, 6, 7});
  CHECK(rows_read(untouched, padded_at(8)) == std::vector<index_t>{5, -1, -1, 5, 6, 7});
  CHECK(rows_read(own_row, padded_at(8)) == std::vector<index_t>{5, 0, 0, 5, 6, 7});

  SECTION("a masked row that is not read needs no row") {
    CHECK(refusal([&] { return by_position.compile<float>(padded_at(999)); }).code() == errc::position_out_of_table);
    CHECK(rows_read(untouched, padded_at(999)) == std::vector<index_t>{5, -1, -1, 5, 6, 7});
    CHECK(rows_read(own_row, padded_at(-1)) == std::vector<index_t>{5, 0, 0, 5, 6, 7});
  }
  SECTION("an untouched row stays as it was") {
    auto states = random_tensor<double, 3>({2, 3, width}, 73);
    const auto before = states;
    encode::add_positions(untouched, padded_at(8), states.view());
    for (index_t row = 0; row < 3; ++row) {
      const double moved = largest_difference(states.view().row(0, row), before.view().row(0, row));
      CHECK((moved == 0.0) == (row > 0));
    }
  }
}

TEST_CASE("two ways to number as RoBERTa does read the same rows", "[learned_absolute]") {
  constexpr index_t padding_row = 1;
  const std::vector<std::uint8_t> mask{0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0};
  const auto numbered = [&](call::padded_positions positions) {
    return call::padded_batch({.active = mask, .entries = 3, .rows = 4, .positions = positions});
  };
  const auto in_positions = numbered(call::padded_positions::compressed(padding_row + 1, padding_row));
  const auto in_offset = numbered(call::padded_positions::compressed(0, 0));
  const std::vector<index_t> expected{1, 2, 3, 4, 2, 3, 1, 1, 2, 1, 3, 1};
  CHECK(rows_read(learned_absolute(learned_rows(), {.row_offset = 0}), in_positions) == expected);
  const learned_absolute offset(learned_rows(),
                                {.row_offset = padding_row + 1, .padding = padded_rows::table_row(padding_row)});
  CHECK(rows_read(offset, in_offset) == expected);
}

TEST_CASE("learned positions refuse an offset or padding row outside the table", "[learned_absolute]") {
  const auto refused = [](const encode::learned_absolute_settings& settings) {
    return refusal([&] { return learned_absolute(learned_rows(), settings); }).code();
  };
  CHECK(refused({.row_offset = table_rows}) == errc::table_rows);
  CHECK(refused({.row_offset = -1}) == errc::table_rows);
  CHECK(refused({.row_offset = 0, .padding = padded_rows::table_row(table_rows)}) == errc::table_rows);
  CHECK(refused({.row_offset = 0, .padding = padded_rows::table_row(-1)}) == errc::table_rows);
  CHECK(learned_absolute(learned_rows(), {.row_offset = table_rows - 1}).capacity() == 1);
}

}  // namespace
