// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>

#include <numeric>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace multi_axis_rotary_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::thw;
using transform::axis_sections;
using transform::multi_axis_rotary;
using transform::pairing;
using place = coordinate::axis_positions<2>;

static_assert(qk_transform<multi_axis_rotary<3>> && qk_transform<multi_axis_rotary<2>, double>);

frequency::geometric ladder(index_t rotary_dim) {
  return frequency::geometric({.base = 300.0, .rotary_dim = rotary_dim});
}

/// One value for each row of a side.
template <class Value>
row_column<Value> column_of(const row_space& space, std::vector<Value> values) {
  return {row_identity::of(space), std::move(values)};
}

/// A policy that turns rows by hand: its columns belong to a call of one row.
template <std::size_t Axes>
multi_axis_rotary<Axes> turning(const axis_sections<Axes>& sections, pairing pairs, index_t rotary_dim) {
  const auto call = call_at({0});
  const auto nowhere = column_of<coordinate::axis_positions<Axes>>(call.key_space(), {{}});
  return {ladder(rotary_dim), sections, pairs, nowhere, nowhere};
}

template <std::size_t Axes>
std::vector<double> turned(const multi_axis_rotary<Axes>& rotary, const coordinate::axis_positions<Axes>& p,
                           std::vector<double> row) {
  rotary.rotate(p, std::span<double>(row));
  return row;
}

/// Speeds with a factor on cosines and sines.
struct louder {
  [[nodiscard]] index_t pairs() const { return 3; }
  [[nodiscard]] double at(index_t pair) const { return 0.4 / static_cast<double>(1 + pair); }
  [[nodiscard]] double attention_factor() const { return 1.25; }
};

double score(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The row with each pair of dimensions turned by hand: `axes[n]` and `rungs[n]` are those of pair n.
std::vector<double> by_hand(std::vector<double> row, const thw& p, const std::vector<std::size_t>& axes, bool halves) {
  const std::size_t count = axes.size();
  for (std::size_t n = 0; n < count; ++n) {
    const double angle =
        static_cast<double>(p[axes[n]]) * std::pow(300.0, -static_cast<double>(n) / static_cast<double>(count));
    double& x = row[halves ? n : 2 * n];
    double& y = row[halves ? n + count : 2 * n + 1];
    const double before = x;
    x = before * std::cos(angle) - y * std::sin(angle);
    y = before * std::sin(angle) + y * std::cos(angle);
  }
  return row;
}

TEST_CASE("sections of one ladder turn by their own axis", "[multi_axis_rotary]") {
  const auto row = random_values<double>(13, 21);
  const thw p{11, -4, 290};
  for (const pairing pairs : {pairing::halves, pairing::adjacent}) {
    const bool halves = pairs == pairing::halves;
    CHECK(largest_difference(turned(turning<3>(axis_sections<3>::blocks({2, 1, 3}), pairs, 12), p, row),
                             by_hand(row, p, {0, 0, 1, 2, 2, 2}, halves)) < 1e-14);
    CHECK(largest_difference(turned(turning<3>(axis_sections<3>::interleaved({3, 2, 1}), pairs, 12), p, row),
                             by_hand(row, p, {0, 1, 2, 0, 1, 0}, halves)) < 1e-14);
  }
}

TEST_CASE("a part of the head for each axis is a rotation of its own", "[multi_axis_rotary]") {
  const auto row = random_values<double>(11, 22);
  for (const pairing pairs : {pairing::halves, pairing::adjacent}) {
    const transform::rotary plain(ladder(4), {.pairs = pairs});
    std::vector<double> expected = row;
    plain.rotate(position{7}, std::span<double>(expected).subspan(0, 4));
    plain.rotate(position{-3}, std::span<double>(expected).subspan(4, 4));
    const auto own = turned(turning<2>(axis_sections<2>::own_parts(), pairs, 4), {7, -3}, row);
    CHECK(own == expected);
    // with neighbours as partners it makes no difference over which dimensions they are counted
    const auto repeated = turned(turning<2>(axis_sections<2>::repeated(), pairs, 4), {7, -3}, row);
    CHECK((repeated == own) == (pairs == pairing::adjacent));
  }
}

TEST_CASE("repeated ladders are paired over the whole head", "[multi_axis_rotary]") {
  const double w = std::pow(300.0, -0.5);
  const auto row = random_values<double>(8, 23);
  const auto out = turned(turning<2>(axis_sections<2>::repeated(), pairing::halves, 4), {5, 9}, row);
  const double angles[] = {5.0, 5.0 * w, 9.0, 9.0 * w};
  for (std::size_t n = 0; n < 4; ++n) {
    CHECK_THAT(out[n], WithinAbs(row[n] * std::cos(angles[n]) - row[n + 4] * std::sin(angles[n]), 1e-14));
    CHECK_THAT(out[n + 4], WithinAbs(row[n] * std::sin(angles[n]) + row[n + 4] * std::cos(angles[n]), 1e-14));
  }
}

TEST_CASE("equal positions on every axis are the plain rotation", "[multi_axis_rotary]") {
  const auto row = random_values<double>(12, 24);
  for (const pairing pairs : {pairing::halves, pairing::adjacent}) {
    const transform::rotary plain(ladder(12), {.pairs = pairs});
    for (const index_t p : {index_t{0}, index_t{-17}, index_t{4000}}) {
      std::vector<double> expected = row;
      plain.rotate(position{p}, std::span<double>(expected));
      for (const auto& sections : {axis_sections<3>::blocks({1, 2, 3}), axis_sections<3>::interleaved({2, 2, 2})}) {
        CHECK(turned(turning<3>(sections, pairs, 12), {p, p, p}, row) == expected);
      }
    }
  }
}

/// A call of two queries and three keys in two entries, each row at a random place.
struct placed_call {
  position_call call = call::explicit_positions(
      {.entries = 2,
       .query = {.positions = query_tokens, .sequences = query_sequences, .active = query_active, .rows = 2},
       .key = {.positions = key_tokens, .sequences = key_sequences, .active = key_active, .rows = 3}});
  std::vector<thw> queries{{40, 3, -2}, {6, 6, 6}, {0, 100, 31}, {-1, 2, 9}};
  std::vector<thw> keys{{1, 2, 3}, {40, -3, 5}, {9, 9, 9}, {7, 70, -7}, {0, 0, 1}, {3, 1, 0}};

  [[nodiscard]] multi_axis_rotary<3> rotary(const thw& by = {0, 0, 0}) const {
    const auto moved = [&by](std::vector<thw> places) {
      for (thw& p : places) {
        for (std::size_t axis = 0; axis < 3; ++axis) p[axis] += by[axis];
      }
      return places;
    };
    return {ladder(12), axis_sections<3>::blocks({2, 3, 1}), pairing::halves,
            column_of(call.query_space(), moved(queries)), column_of(call.key_space(), moved(keys))};
  }

 private:
  static inline const std::vector<index_t> query_tokens{3, 4, 0, 9};
  static inline const std::vector<index_t> query_sequences{0, 0, 1, 1};
  static inline const std::vector<std::uint8_t> query_active{1, 1, 1, 1};
  static inline const std::vector<index_t> key_tokens{0, 1, 2, 8, 7, 0};
  static inline const std::vector<index_t> key_sequences{0, 0, 0, 1, 1, 1};
  static inline const std::vector<std::uint8_t> key_active{1, 1, 1, 1, 1, 0};
};

const heads grouped{.query = 4, .key_value = 2, .dim = 13};

template <class Term>
std::vector<double> scores(const Term& term, const position_call& call) {
  std::vector<double> out;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      for (const key_index j : indices<key_index>(call.keys())) {
        auto q = random_values<double>(13, 25);
        auto k = random_values<double>(13, 26);
        term.query(b, head_index{3}, i, q);
        term.key(b, head_index{2}, j, k);
        out.push_back(call.active(b, j) ? score(q, k) : 0.0);
      }
    }
  }
  return out;
}

TEST_CASE("multi-axis scores depend on the differences along each axis only", "[multi_axis_rotary]") {
  const placed_call rows;
  const auto here = scores(rows.rotary().compile<double>(rows.call, grouped), rows.call);
  const auto there = scores(rows.rotary({1000, -7, 52}).compile<double>(rows.call, grouped), rows.call);
  CHECK(largest_difference(here, there) < 1e-11);

  std::size_t n = 0;
  const auto policy = rows.rotary();
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i / 2 * 3; j < i / 2 * 3 + 3; ++j, ++n) {
      if (j == 5) continue;  // padding
      thw difference{};
      for (std::size_t axis = 0; axis < 3; ++axis) difference[axis] = rows.keys[j][axis] - rows.queries[i][axis];
      const auto turned_key = turned(policy, difference, random_values<double>(13, 26));
      CHECK_THAT(here[n], WithinAbs(score(random_values<double>(13, 25), turned_key), 1e-12));
    }
  }
}

TEST_CASE("the position of padding is never read", "[multi_axis_rotary]") {
  const placed_call rows;
  const auto term = rows.rotary().compile<double>(rows.call, grouped);
  const auto row = random_values<double>(13, 27);
  auto out = row;
  term.key(batch_index{1}, head_index{0}, key_index{2}, out);
  CHECK(out == row);
  auto beyond = rows.keys;
  beyond.back() = {index_t{1} << 60, 0, 0};
  const multi_axis_rotary<3> far(ladder(12), axis_sections<3>::blocks({2, 3, 1}), pairing::halves,
                                 column_of(rows.call.query_space(), rows.queries),
                                 column_of(rows.call.key_space(), beyond));
  CHECK_NOTHROW(far.compile<float>(rows.call, grouped));
}

TEST_CASE("rows and columns of a grid that is not square cannot be exchanged", "[multi_axis_rotary]") {
  const auto rotary = turning<2>(axis_sections<2>::own_parts(), pairing::adjacent, 4);
  const auto q = random_values<double>(8, 28);
  const auto k = random_values<double>(8, 29);
  double largest = 0.0;
  for (index_t cell = 0; cell < 15; ++cell) {
    const place by_width{cell / 5, cell % 5};
    const place exchanged{cell % 5, cell / 5};
    const place by_height{cell / 3, cell % 3};
    const double right = score(turned(rotary, by_width, q), k);
    if (by_width[0] != by_width[1]) CHECK(std::abs(right - score(turned(rotary, exchanged, q), k)) > 1e-3);
    largest = std::max(largest, std::abs(right - score(turned(rotary, by_height, q), k)));
  }
  CHECK(largest > 0.1);
}

TEST_CASE("multi-axis rotary multiplies by the attention factor", "[multi_axis_rotary]") {
  const auto call = call_at({0});
  const auto one = column_of<thw>(call.key_space(), {{3, 5, 8}});
  const louder slow;
  const multi_axis_rotary<3> rotary(slow, axis_sections<3>::blocks({1, 1, 1}), pairing::halves, one, one);
  auto row = random_values<double>(7, 30);
  const double length = std::hypot(row[1], row[4]);
  const double behind = row[6];
  rotary.rotate(thw{3, 5, 8}, std::span<double>(row));
  CHECK_THAT(std::hypot(row[1], row[4]), WithinRel(slow.attention_factor() * length, 1e-14));
  CHECK(row[6] == behind);
}

TEST_CASE("multi-axis rotary refuses the positions of other rows", "[multi_axis_rotary]") {
  const auto call = call_at({4, 5}, {4, 5, 6});
  const auto policy = [](const position_call& queries, const position_call& keys) {
    const auto some = [](const row_space& space) {
      return column_of(space, std::vector<thw>(static_cast<std::size_t>(space.rows()), thw{1, 2, 3}));
    };
    return multi_axis_rotary<3>(ladder(6), axis_sections<3>::blocks({1, 1, 1}), pairing::halves,
                                some(queries.query_space()), some(keys.key_space()));
  };
  const heads layout{.dim = 6};
  const auto refused = [&](const multi_axis_rotary<3>& wrong) {
    return refusal([&] { return wrong.compile<float>(call, layout); }).code();
  };
  CHECK_NOTHROW(policy(call, call).compile<float>(call, layout));
  CHECK(refused(policy(call_at({5, 4}, {4}), call)) == errc::row_identity);
  CHECK(refused(policy(call_at({4}, {4}), call)) == errc::row_identity);
  CHECK(refused(policy(call, call_at({4}, {5, 6, 7}))) == errc::row_identity);
}

TEST_CASE("multi-axis rotary refuses heads, frames, frequencies and positions that do not fit", "[multi_axis_rotary]") {
  const auto call = call_at({0, 1});
  const auto at = [&](const thw& p) {
    const auto places = column_of<thw>(call.key_space(), {{0, 0, 0}, p});
    return multi_axis_rotary<3>(ladder(6), axis_sections<3>::blocks({1, 1, 1}), pairing::halves, places, places);
  };
  const auto refused = [&](const multi_axis_rotary<3>& wrong, index_t head_dim) {
    return refusal([&] { return wrong.compile<float>(call, heads{.dim = head_dim}); }).code();
  };
  CHECK(refused(at({0, 0, 0}), 5) == errc::shape_mismatch);
  CHECK(refused(at({0, 0, (index_t{1} << 53) + 1}), 6) == errc::position_precision);
  CHECK(refused(at({-(index_t{1} << 53) - 1, 0, 0}), 6) == errc::position_precision);
  CHECK(refusal([&] {
          return multi_axis_rotary<3>(ladder(8), axis_sections<3>::blocks({1, 1, 1}), pairing::halves,
                                      column_of<thw>(call.key_space(), {{}, {}}),
                                      column_of<thw>(call.key_space(), {{}, {}}));
        }).code() == errc::frequency_settings);

  struct bounded {
    [[nodiscard]] index_t pairs() const { return count; }
    [[nodiscard]] double at(index_t) const { return speed; }
    [[nodiscard]] index_t head_dim() const { return 6; }
    [[nodiscard]] index_t sequence_length() const { return 10; }
    double speed = 0.5;
    index_t count = 3;
  };
  const auto made = [&](double speed, index_t p) {
    const auto places = column_of<thw>(call.key_space(), {{0, 0, 0}, {0, p, 0}});
    return multi_axis_rotary<3>(bounded{speed}, axis_sections<3>::blocks({1, 1, 1}), pairing::halves, places, places);
  };
  CHECK_NOTHROW(made(0.5, 9).compile<float>(call, heads{.dim = 6}));
  CHECK(refused(made(0.5, 9), 8) == errc::shape_mismatch);
  CHECK(refused(made(0.5, 10), 6) == errc::sequence_length);
  CHECK(refusal([&] { return made(NAN, 9); }).code() == errc::frequency_settings);
  for (const index_t count : {0, -3}) {
    const auto places = column_of<thw>(call.key_space(), {{}, {}});
    CHECK(refusal([&] {
            return multi_axis_rotary<3>(bounded{0.5, count}, axis_sections<3>::repeated(), pairing::halves, places,
                                        places);
          }).code() == errc::frequency_settings);
  }

  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  const multi_axis_rotary<3> across(ladder(6), axis_sections<3>::blocks({1, 1, 1}), pairing::halves,
                                    column_of<thw>(cross.query_space(), {{}, {}}),
                                    column_of<thw>(cross.key_space(), {{}, {}}));
  CHECK(refusal([&] { return across.compile<float>(cross, heads{.dim = 6}); }).code() == errc::frame_mismatch);
}

}  // namespace multi_axis_rotary_test
