// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/coordinate/window_index.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <cmath>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace learned_relative_test {

using namespace posgeo;
using namespace posgeo::test;
using bias::learned_relative;
using coordinate::cell;
using coordinate::clipped;
using coordinate::grid;
using coordinate::traversal;
using coordinate::window_index;

static_assert(score_bias<learned_relative<float, window_index>, double> &&
              score_bias<learned_relative<double, clipped>>);

constexpr heads two{.query = 2, .key_value = 2, .dim = 3};

table<double> weights_of(index_t rows, index_t columns) { return random_table(rows, columns, 311); }

const grid window({.rows = 2, .columns = 4, .order = traversal::serpentine});

/// Two windows, of which some patches ask and others are asked.
position_call some_patches() {
  const std::vector<index_t> queries{7, 0, 2, 5, 3, 1};
  const std::vector<index_t> keys{4, 1, 6, 7, 0, 2, 5, 3};
  return call::explicit_positions({.entries = 2,
                                   .query = {.positions = queries, .rows = 3, .frame = window.frame()},
                                   .key = {.positions = keys, .rows = 4, .frame = window.frame()}});
}

TEST_CASE("the bias of a window is added to the scaled score", "[learned_relative]") {
  const window_index index(window);
  const auto weights = weights_of(index.classes(), 2);
  const auto call = some_patches();
  const attention model{two, scale::inverse_sqrt_head_dim{}, learned_relative(weights, index), visible::everything{}};
  const auto q = random_tensor<double, 4>({2, 2, 3, 3}, 312);
  const auto k = random_tensor<double, 4>({2, 2, 4, 3}, 313);
  const auto result = attend(eager{}, model.compile<double>(call), {q.view(), k.view(), k.view()}, also::everything);
  for (const batch_index b : indices<batch_index>(2)) {
    for (index_t h = 0; h < 2; ++h) {
      for (const query_index i : indices<query_index>(3)) {
        double mass = 0.0;
        for (const key_index j : indices<key_index>(4)) {
          const auto from = std::get<cell>(window.at(call.at(b, i)));
          const auto to = std::get<cell>(window.at(call.at(b, j)));
          const index_t row = (from.row - to.row + 1) * 7 + from.column - to.column + 3;
          double product = 0.0;
          for (index_t d = 0; d < 3; ++d) product += q(b.value(), h, i.value(), d) * k(b.value(), h, j.value(), d);
          const double expected = product / std::sqrt(3.0) + weights(row, h);
          CHECK(difference(result.scores(b.value(), h, i.value(), j.value()), expected) < 1e-14);
          mass += std::exp(expected);
        }
        CHECK(difference(result.log_sum_exp(b.value(), h, i.value()), std::log(mass)) < 1e-14);
      }
    }
  }
}

TEST_CASE("on one axis the bias reads the class of the offset", "[learned_relative]") {
  const clipped classes(
      {.behind = 3, .ahead = 1, .sign = offset_sign::key_minus_query, .beyond = coordinate::beyond_ends::clipped});
  const auto weights = weights_of(5, 2);
  const learned_relative policy(weights, classes);
  const std::vector<index_t> expected{0, 0, 1, 2, 3, 4, 4};
  for (const index_t start : {index_t{11}, index_t{-400}}) {  // the same wherever both stand
    const auto call = call_at({start}, {start - 50, start - 3, start - 2, start - 1, start, start + 1, start + 9});
    const auto term = policy.compile<double>(call, two);
    for (const key_index j : indices<key_index>(7)) {
      const index_t row = expected[static_cast<std::size_t>(j.value())];
      CHECK(term(batch_index{0}, head_index{1}, query_index{0}, j) == weights(row, 1));
    }
  }
}

TEST_CASE("query and key exchanged read the mirrored class", "[learned_relative]") {
  const window_index index(window);
  const learned_relative policy(weights_of(index.classes(), 2), index);
  const auto term = policy.compile<double>(window.call(1), two);
  for (index_t n = 0; n < 8; ++n) {
    for (index_t m = 0; m < 8; ++m) {
      CHECK(term.table_row(batch_index{0}, query_index{n}, key_index{m}) +
                term.table_row(batch_index{0}, query_index{m}, key_index{n}) ==
            index.classes() - 1);
    }
  }
}

TEST_CASE("learned relative biases refuse tables that do not fit", "[learned_relative]") {
  const window_index index(window);
  for (const index_t rows : {index.classes() - 1, index.classes() + 1}) {
    CHECK(refusal([&] { return learned_relative(weights_of(rows, 2), index); }).code() == errc::table_rows);
  }
  const learned_relative three(weights_of(index.classes(), 3), index);
  CHECK(refusal([&] { return three.compile<float>(window.call(1), two); }).code() == errc::head_count);
  std::vector<double> large(static_cast<std::size_t>(index.classes()));
  large.back() = 1e39;
  const learned_relative overflowing(table<double>(large, index.classes(), 1), index);
  CHECK(refusal([&] { return overflowing.compile<float>(window.call(1), heads{}); }).code() == errc::non_finite);
  CHECK_NOTHROW(overflowing.compile<double>(window.call(1), heads{}));
}

TEST_CASE("classes for the past alone need an attention that hides the future", "[learned_relative]") {
  const clipped past(
      {.behind = 3, .ahead = 0, .sign = offset_sign::key_minus_query, .beyond = coordinate::beyond_ends::refused});
  const auto listed = [&](const auto& see, const clipped& classes) {
    const learned_relative policy(weights_of(classes.classes(), 2), classes);
    return codes(attention{two, scale::inverse_sqrt_head_dim{}, see, policy}.check(call_at({4, 5, 7})));
  };
  CHECK(listed(visible::everything{}, past) == std::vector{errc::future_visible});
  CHECK(listed(visible::causal{}, past).empty());
  CHECK(listed(visible::everything{}, clipped::symmetric(1)).empty());
}

TEST_CASE("learned relative biases refuse rows that their classes do not know", "[learned_relative]") {
  const window_index index(window);
  const learned_relative policy(weights_of(index.classes(), 2), index);
  const grid by_rows({.rows = 2, .columns = 4, .order = traversal::row_major});
  CHECK(refusal([&] { return policy.compile<float>(by_rows.call(1), two); }).code() == errc::frame_mismatch);
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  const learned_relative axis(weights_of(5, 2), clipped::symmetric(2));
  CHECK(refusal([&] { return axis.compile<float>(cross, two); }).code() == errc::frame_mismatch);
  const learned_relative strict(
      weights_of(5, 2),
      clipped(
          {.behind = 2, .ahead = 2, .sign = offset_sign::query_minus_key, .beyond = coordinate::beyond_ends::refused}));
  CHECK(refusal([&] { return strict.compile<float>(call_at({0}, {3}), two); }).code() == errc::offset_out_of_table);
}

}  // namespace learned_relative_test
