// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/coordinate/grid_selection.hpp>
#include <posgeo/encode/degree.hpp>
#include <posgeo/encode/grid_full.hpp>
#include <posgeo/encode/grid_separable.hpp>
#include <posgeo/encode/interpolated_grid.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/resized_rows.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/encode/time2vec.hpp>

#include <cmath>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

// Gradients of state encoders: against central differences, and counted by hand.
namespace encode_backward_test {

using namespace posgeo;
using namespace posgeo::test;
using encode::add_positions_backward;
using encode::gradient_for;
using encode::padded_rows;
using learned = std::vector<std::vector<double>>;

constexpr index_t width = 4;

std::vector<double> some(index_t count, unsigned seed) {
  return random_values<double>(static_cast<std::size_t>(count), seed);
}
table<double> rows_of(const std::vector<double>& numbers, index_t columns = width) {
  return {numbers, static_cast<index_t>(numbers.size()) / columns, columns};
}

/// Compares the gradients of sum(d_states * states) with differences; make(numbers) builds the encoder from its tables
/// in the order of the gradient's.
template <class Make>
void check_against_differences(const Make& make, learned numbers, const position_call& call, unsigned seed) {
  const auto d_states = random_tensor<double, 3>({call.batch(), call.queries(), width}, seed);
  const auto encoder = make(std::as_const(numbers));
  auto gradient = gradient_for<double>(encoder, call);
  add_positions_backward<double>(encoder, call, d_states.view(), gradient);
  std::size_t n = 0;
  for (const table_gradient<double>& one : gradient.tables()) {
    if (one.rows() == 0) continue;
    std::vector<double>& table = numbers.at(n++);
    REQUIRE(std::cmp_equal(table.size(), one.values().size()));
    CHECK_FALSE(all_equal(one.values(), 0.0));
    for (std::size_t at = 0; at < table.size(); ++at) {
      const double was = table[at];
      const auto loss = [&](double x) {
        table[at] = x;
        const auto states = encoded(make(std::as_const(numbers)), call);
        return dot(states.values(), d_states.values());
      };
      constexpr double step = 1e-4;
      const double slope = (loss(was + step) - loss(was - step)) / (2.0 * step);
      table[at] = was;
      CAPTURE(one.name(), at);
      CHECK(std::abs(one.values()[at] - slope) <= 1e-6 * std::max(1.0, std::abs(slope)));
    }
  }
  CHECK(n == numbers.size());
}

TEST_CASE("learned absolute rows get what their positions get", "[backward]") {
  const std::array<index_t, 2> lengths{3, 5};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 5,
                                        .side = call::padding_side::left,
                                        .positions = call::padded_positions::compressed(2, 4)});
  for (const auto& padding : {padded_rows::by_position(), padded_rows::untouched(), padded_rows::table_row(1)}) {
    check_against_differences(
        [&](const learned& n) {
          return encode::learned_absolute<double>(rows_of(n[0]), {.row_offset = 1, .padding = padding});
        },
        {some(11 * width, 601)}, call, 602);
  }
}

TEST_CASE("a position that stands in several rows sums their gradients", "[backward]") {
  const std::array<index_t, 5> ids{3, 1, 3, 0, 3};
  const call::explicit_side side{.positions = ids, .rows = 5};
  const auto call = call::explicit_positions({.query = side, .key = side, .reuse = position_reuse::intended});
  const encode::learned_absolute<double> encoder(rows_of(some(6 * width, 603)), {.row_offset = 0});
  const auto d_states = random_tensor<double, 3>({1, 5, width}, 604);
  auto gradient = gradient_for<double>(encoder, call);
  add_positions_backward<double>(encoder, call, d_states.view(), gradient);
  const auto& rows = gradient.at("table");
  for (index_t c = 0; c < width; ++c) {
    CHECK(rows(3, c) == d_states(0, 0, c) + d_states(0, 2, c) + d_states(0, 4, c));
    CHECK(rows(1, c) == d_states(0, 1, c));
    CHECK(rows(2, c) == 0.0);
  }
  CHECK(rows.touched_rows() == std::vector<index_t>{0, 1, 3});
  CHECK(rows.extents() == std::vector<index_t>{6, width});
}

TEST_CASE("grid tables get what their cells get", "[backward]") {
  const coordinate::grid grid({.rows = 2, .columns = 3, .order = coordinate::traversal::serpentine, .class_rows = 1});
  const auto call = grid.call(2);
  check_against_differences(
      [&](const learned& n) {
        return encode::grid_full<double>(rows_of(n[0]), grid).at(grid.cells_of(call.query_space()));
      },
      {some(7 * width, 605)}, call, 606);
  check_against_differences(
      [&](const learned& n) {
        return encode::grid_separable<double>(rows_of(n[0]), rows_of(n[1])).at(grid.cells_of(call.query_space()));
      },
      {some(2 * width, 607), some(3 * width, 608)}, call, 609);
}

TEST_CASE("time2vec learns frequencies phases and the row of missing times", "[backward]") {
  using namespace encode;
  const coordinate::clock_name clock("unix utc");
  const auto call = call_at({4, 1, 9, 2});
  const coordinate::time_column times{{row_identity::of(call.query_space()), {100000, std::nullopt, 103000, 98500}},
                                      coordinate::time_unit::seconds,
                                      clock};
  for (const periodic function : {periodic::sine, periodic::cosine}) {
    for (const linear_term linear : {linear_term::first, linear_term::last}) {
      const time2vec_settings settings{.time = coordinate::elapsed_time({.clock = clock,
                                                                         .stamp_unit = coordinate::time_unit::seconds,
                                                                         .origin = 99000,
                                                                         .unit = coordinate::time_unit::hours}),
                                       .function = function,
                                       .linear = linear,
                                       .missing = missing_time::learned_row};
      check_against_differences(
          [&](const learned& n) {
            return time2vec<double>(settings,
                                    {.omega = rows_of(n[0]), .phi = rows_of(n[1]), .missing_row = rows_of(n[2])})
                .at(times);
          },
          {some(width, 610), some(width, 611), some(width, 612)}, call, 613);
    }
  }
}

TEST_CASE("degree tables get what nodes of their degree get", "[backward]") {
  dice roll(614);
  const coordinate::graph_rows graphs({random_graph(roll, 5, 0.5)}, coordinate::graph_token::at(-1));
  const auto call = call_at({4, -1, 0, 2, 1});
  for (const auto count : {encode::degree_count::by_direction, encode::degree_count::outgoing_for_both}) {
    check_against_differences(
        [&](const learned& n) {
          return encode::degree<double>({.in = rows_of(n[0]), .out = rows_of(n[1])}, graphs,
                                        {.row_offset = 1, .count = count, .beyond = encode::high_degree::last_row});
        },
        {some(4 * width, 615), some(4 * width, 616)}, call, 617);
  }
}

TEST_CASE("the gradient of a resized table goes to the rows it was made of", "[backward]") {
  using encode::resize_sampling;
  for (const auto sampling : {resize_sampling::half_pixel, resize_sampling::aligned_corners}) {
    for (const index_t rows : {3, 8}) {
      const auto old = random_table(5, width, 618);
      const auto d = random_table(rows, width, 619);
      table_gradient<double> d_new("table", d);
      for (index_t r = 0; r < rows; ++r) d_new.add_row(r, d.row(r), 1.0);
      const auto d_old = encode::resized_rows_backward(d_new, 5, sampling);
      // Linear: <d_new, resized(old)> = <d_old, old> for every old.
      CHECK(std::abs(dot(encode::resized_rows(old, rows, sampling).values(), d.values()) -
                     dot(old.values(), d_old.values())) < 1e-12);
    }
  }
}

TEST_CASE("the gradient of an interpolated grid goes to the cells it was made of", "[backward]") {
  for (const auto kernel : {encode::grid_kernel::bilinear, encode::grid_kernel::bicubic}) {
    const encode::interpolated_grid_settings settings{.from = {.rows = 3, .columns = 4},
                                                      .to = {.rows = 5, .columns = 2},
                                                      .class_rows = 1,
                                                      .kernel = kernel,
                                                      .rule = encode::size_rule::exact_size};
    const auto old = random_table(13, width, 620);
    const auto d = random_table(11, width, 621);
    table_gradient<double> d_new("table", d);
    for (index_t r = 0; r < 11; ++r) d_new.add_row(r, d.row(r), 1.0);
    const auto d_old = encode::interpolated_grid_backward(d_new, settings);
    CHECK(std::abs(dot(encode::interpolated_grid(old, settings).values(), d.values()) -
                   dot(old.values(), d_old.values())) < 1e-12);
    const table_gradient<double> other("table", old);
    CHECK(refusal([&] { (void)encode::interpolated_grid_backward(other, settings); }).code() == errc::table_rows);
  }
  CHECK(refusal([] {
          (void)encode::resized_rows_backward(table_gradient<double>("t", random_table(2, 2, 622)), 0,
                                              encode::resize_sampling::half_pixel);
        }).code() == errc::table_rows);
}

TEST_CASE("an encoder without learned numbers learns nothing", "[backward]") {
  const encode::sinusoidal encoder(
      {.width = width, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper});
  const auto call = call_at({0, 1});
  auto gradient = gradient_for<double>(encoder, call);
  static_assert(std::same_as<decltype(gradient), nothing_learned>);
  const auto d_states = random_tensor<double, 3>({1, 2, width}, 623);
  CHECK_NOTHROW(add_positions_backward<double>(encoder, call, d_states.view(), gradient));
}

TEST_CASE("gradients of states of another shape or of other tables are refused", "[backward]") {
  const auto call = call_at({0, 1});
  const encode::learned_absolute<double> encoder(rows_of(some(3 * width, 624)), {.row_offset = 0});
  auto gradient = gradient_for<double>(encoder, call);
  const auto narrow = random_tensor<double, 3>({1, 2, width - 1}, 625);
  const auto fitting = random_tensor<double, 3>({1, 2, width}, 626);
  CHECK(refusal([&] { add_positions_backward<double>(encoder, call, narrow.view(), gradient); }).code() ==
        errc::shape_mismatch);
  const encode::learned_absolute<double> longer(rows_of(some(5 * width, 627)), {.row_offset = 0});
  CHECK(refusal([&] { add_positions_backward<double>(longer, call, fitting.view(), gradient); }).code() ==
        errc::shape_mismatch);
  CHECK(all_equal(gradient[0].values(), 0.0));
}

}  // namespace encode_backward_test
