// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/frequency/proportional.hpp>
#include <posgeo/transform/rotary.hpp>

#include <array>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;
using transform::pairing;

static_assert(qk_transform<transform::rotary<frequency::geometric>>);

transform::rotary<frequency::geometric> make(pairing pairs, index_t rotary_dim, index_t offset = 0) {
  return {frequency::geometric({.base = 300.0, .rotary_dim = rotary_dim}), {.pairs = pairs, .offset = offset}};
}

template <class Rotary, class T>
std::vector<T> turned(const Rotary& rotary, index_t p, std::vector<T> row) {
  rotary.rotate(position{p}, std::span<T>(row));
  return row;
}

TEST_CASE("rotary turns a hand-sized row", "[rotary]") {
  const std::vector<double> row{2.0, 3.0, 5.0, 7.0, 11.0};
  const double w = std::pow(300.0, -0.5);  // the second of two speeds
  const auto x = [](double a, double b, double angle) { return a * std::cos(angle) - b * std::sin(angle); };
  const auto y = [](double a, double b, double angle) { return a * std::sin(angle) + b * std::cos(angle); };
  const std::vector<double> adjacent{x(2, 3, 6), y(2, 3, 6), x(5, 7, 6 * w), y(5, 7, 6 * w), 11.0};
  const std::vector<double> halves{x(2, 5, 6), x(3, 7, 6 * w), y(2, 5, 6), y(3, 7, 6 * w), 11.0};
  CHECK(largest_difference(turned(make(pairing::adjacent, 4), 6, row), adjacent) < 1e-14);
  CHECK(largest_difference(turned(make(pairing::halves, 4), 6, row), halves) < 1e-14);
}

TEST_CASE("a permutation of the dimensions maps one pairing to the other", "[rotary]") {
  constexpr std::size_t half = 5;
  const auto row = random_values<double>(2 * half, 3);
  std::vector<double> regrouped(2 * half);
  for (std::size_t pair = 0; pair < half; ++pair) {
    regrouped[pair] = row[2 * pair];
    regrouped[pair + half] = row[2 * pair + 1];
  }
  const auto adjacent = turned(make(pairing::adjacent, 2 * half), -23, row);
  const auto halves = turned(make(pairing::halves, 2 * half), -23, regrouped);
  for (std::size_t pair = 0; pair < half; ++pair) {
    CHECK(adjacent[2 * pair] == halves[pair]);
    CHECK(adjacent[2 * pair + 1] == halves[pair + half]);
  }
  CHECK(largest_difference(adjacent, turned(make(pairing::halves, 2 * half), -23, row)) > 0.1);
}

TEST_CASE("dimensions behind the rotated ones pass through", "[rotary]") {
  for (const pairing pairs : {pairing::adjacent, pairing::halves}) {
    const auto row = random_values<float>(11, 4);
    const auto out = turned(make(pairs, 6), 9, row);
    CHECK(std::equal(out.begin() + 6, out.end(), row.begin() + 6));
    for (std::size_t d = 0; d < 6; ++d) CHECK(out[d] != row[d]);
  }
}

TEST_CASE("rotations keep the norm of each pair and compose and undo each other", "[rotary]") {
  for (const pairing pairs : {pairing::adjacent, pairing::halves}) {
    const auto rotary = make(pairs, 8);
    const auto row = random_values<double>(8, 5);
    const auto out = turned(rotary, 51, row);
    for (std::size_t pair = 0; pair < 4; ++pair) {
      const std::size_t x = pairs == pairing::adjacent ? 2 * pair : pair;
      const std::size_t y = pairs == pairing::adjacent ? 2 * pair + 1 : pair + 4;
      CHECK_THAT(std::hypot(out[x], out[y]), WithinAbs(std::hypot(row[x], row[y]), 1e-14));
    }
    CHECK(largest_difference(turned(rotary, 17, out), turned(rotary, 68, row)) < 1e-13);
    CHECK(largest_difference(turned(rotary, -51, out), row) < 1e-14);
    CHECK(largest_difference(turned(rotary, -51, row), out) > 0.1);
    CHECK(turned(rotary, 0, row) == row);
  }
}

TEST_CASE("an offset moves every position", "[rotary]") {
  const auto row = random_values<double>(6, 6);
  CHECK(turned(make(pairing::halves, 6, 40), -3, row) == turned(make(pairing::halves, 6), 37, row));
}

TEST_CASE("compiled rotary makes scores depend on the displacement only", "[rotary]") {
  const std::vector<index_t> queries{-4, 100, 31, 1 << 20};
  const std::vector<index_t> keys{7, 0, -90};
  const heads layout{.query = 2, .key_value = 1, .dim = 7};
  for (const pairing pairs : {pairing::adjacent, pairing::halves}) {
    const auto rotary = make(pairs, 6);
    const auto call = call_at(queries, keys);
    const auto term = rotary.compile<double>(call, layout);
    const auto q = random_values<double>(7, 7);
    const auto k = random_values<double>(7, 8);
    for (const query_index i : indices<query_index>(4)) {
      for (const key_index j : indices<key_index>(3)) {
        std::vector<double> query = q;
        std::vector<double> key = k;
        term.query(batch_index{0}, head_index{1}, i, query);
        term.key(batch_index{0}, head_index{0}, j, key);
        const index_t displacement = call.offset(batch_index{0}, i, j).value();
        CHECK_THAT(dot(query, key), WithinAbs(dot(q, turned(rotary, displacement, k)), 2e-9));
        CHECK(std::abs(dot(query, key) - dot(turned(rotary, displacement, q), k)) > 1e-3);
      }
    }
  }
}

TEST_CASE("the base changes every speed but the first", "[rotary]") {
  const transform::rotary slow(frequency::geometric({.base = 1e6, .rotary_dim = 8}), {.pairs = pairing::adjacent});
  const auto row = random_values<double>(8, 9);
  const auto a = turned(make(pairing::adjacent, 8), 3, row);
  const auto b = turned(slow, 3, row);
  for (std::size_t d = 0; d < 8; ++d) CHECK((a[d] == b[d]) == (d < 2));
}

TEST_CASE("neighbouring positions beyond single precision stay distinct", "[rotary]") {
  const auto rotary = make(pairing::adjacent, 2);
  for (const index_t p : {index_t{1} << 24, index_t{1} << 31, -(index_t{1} << 40)}) {
    const auto here = turned(rotary, p, std::vector<float>{1.0f, 0.0f});
    const auto next = turned(rotary, p + 1, std::vector<float>{1.0f, 0.0f});
    // one step of speed 1 is one radian, wherever it is taken
    CHECK_THAT(static_cast<double>(here[0] * next[0] + here[1] * next[1]), WithinAbs(std::cos(1.0), 1e-6));
    CHECK_THAT(static_cast<double>(here[0] * next[1] - here[1] * next[0]), WithinAbs(std::sin(1.0), 1e-6));
  }
}

TEST_CASE("single precision rounds sine and cosine once", "[rotary]") {
  const auto rotary = make(pairing::halves, 10);
  for (const index_t p : {index_t{1}, index_t{4097}, (index_t{1} << 24) + 1, index_t{1} << 31}) {
    std::vector<float> row(10, 0.0f);
    std::vector<double> wide(10, 0.0);
    for (std::size_t pair = 0; pair < 5; ++pair) wide[pair] = row[pair] = 1.0f;
    row = turned(rotary, p, row);
    wide = turned(rotary, p, wide);
    for (std::size_t d = 0; d < 10; ++d) CHECK(row[d] == static_cast<float>(wide[d]));
  }
}

TEST_CASE("proportional frequencies are not a partial rotation", "[rotary]") {
  const transform::rotary proportional(frequency::proportional({.base = 300.0, .rotary_dim = 4, .head_dim = 10}),
                                       {.pairs = pairing::halves});
  const auto row = random_values<double>(10, 10);
  const auto a = turned(proportional, 5, row);
  const auto b = turned(make(pairing::halves, 4), 5, row);
  const auto moved = [&row](const std::vector<double>& out) {
    std::vector<std::size_t> dims;
    for (std::size_t d = 0; d < out.size(); ++d) {
      if (out[d] != row[d]) dims.push_back(d);
    }
    return dims;
  };
  CHECK(moved(a) == std::vector<std::size_t>{0, 1, 5, 6});  // partners half a head apart
  CHECK(moved(b) == std::vector<std::size_t>{0, 1, 2, 3});
  const double w = std::pow(300.0, -2.0 / 10.0);
  CHECK_THAT(a[1], WithinAbs(row[1] * std::cos(5 * w) - row[6] * std::sin(5 * w), 1e-14));
}

TEST_CASE("rotary refuses calls and heads that it does not fit", "[rotary]") {
  const auto call = call_at({0, 1});
  const auto refused = [](const auto& rotary, const position_call& at, index_t head_dim) {
    const heads layout{.query = 1, .key_value = 1, .dim = head_dim};
    return refusal([&] { return rotary.template compile<float>(at, layout); }).code();
  };
  CHECK_NOTHROW(make(pairing::halves, 6).compile<float>(call, {.query = 1, .key_value = 1, .dim = 6}));
  CHECK(refused(make(pairing::halves, 6), call, 5) == errc::shape_mismatch);

  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  CHECK(refused(make(pairing::halves, 6), cross, 6) == errc::frame_mismatch);

  constexpr index_t beyond = (index_t{1} << 53) + 1;
  CHECK(refused(make(pairing::halves, 6), call_at({beyond}, {0}), 6) == errc::position_precision);
  CHECK(refused(make(pairing::halves, 6), call_at({0}, {-beyond}), 6) == errc::position_precision);
  CHECK(refused(make(pairing::halves, 6, beyond), call, 6) == errc::position_precision);
  CHECK(refusal([] { return make(pairing::halves, 6, position_limit + 1); }).code() == errc::position_overflow);
}

TEST_CASE("rotary refuses frequencies that are no numbers or made for another head width", "[rotary]") {
  struct broken {
    [[nodiscard]] index_t pairs() const { return 2; }
    [[nodiscard]] double at(index_t pair) const { return pair == 0 ? 1.0 : std::nan(""); }
  };
  CHECK(refusal([] { return transform::rotary(broken{}, {.pairs = transform::pairing::halves}); }).code() ==
        errc::frequency_settings);
  CHECK(refusal([] { return frequency::geometric({.base = 5e-324, .rotary_dim = 128}); }).code() ==
        errc::frequency_settings);
  struct still {
    [[nodiscard]] index_t pairs() const { return count; }
    [[nodiscard]] double at(index_t) const { return 1.0; }
    index_t count;
  };
  for (const index_t count : {0, -3}) {
    CHECK(refusal([&] { return transform::rotary(still{count}, {.pairs = transform::pairing::halves}); }).code() ==
          errc::frequency_settings);
  }
  const transform::rotary eight(frequency::proportional({.base = 1e4, .rotary_dim = 4, .head_dim = 8}),
                                {.pairs = transform::pairing::halves});
  const auto call = posgeo::test::call_at({0, 1});
  CHECK(refusal([&] { return eight.compile<float>(call, heads{.dim = 16}); }).code() == errc::shape_mismatch);
  CHECK_NOTHROW(eight.compile<float>(call, heads{.dim = 8}));
}

}  // namespace
