// SPDX-License-Identifier: MIT
#include "support/block_forms.hpp"

#include <posgeo/frequency/geometric.hpp>
#include <posgeo/frequency/yarn.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/transform/rotary.hpp>

#include <limits>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace transform_block_forms_test {

using namespace posgeo;
using namespace posgeo::test;
using transform::pairing;
using transform::rotary;

static_assert(turning_transform<compiled_t<rotary<frequency::geometric>, float>, float>);
static_assert(turning_transform<compiled_t<rotary<frequency::yarn>, double>, double>);
static_assert(!turning_transform<compiled_t<transform::multi_axis_rotary<2>, float>, float>);

constexpr index_t head_dim = 17;
constexpr heads layout{.query = 2, .key_value = 1, .dim = head_dim};

/// Where consecutive positions start: near, far, on both sides of where float leaves the quick sines, and at the edge
/// of what is exact in double.
const std::vector<index_t> starts{
    0, -7, 5, 1000000, -1000003, 1599990, 1599998, 2000000, 1000000000, -(index_t{1} << 40), (index_t{1} << 53) - 60};

frequency::geometric plain(index_t rotary_dim) {
  return frequency::geometric({.base = 10000.0, .rotary_dim = rotary_dim});
}
frequency::yarn scaled() {
  return frequency::yarn({.base = 500.0,
                          .rotary_dim = 14,
                          .factor = 4.0,
                          .original_max_position = 64,
                          .ramp = frequency::yarn_ramp::pair_index});
}

/// What rotate multiplies with: [2 * pairs], cosines, then sines.
template <class T, class Frequency>
std::vector<T> exact_turns(const rotary<Frequency>& policy, index_t p) {
  const std::vector<double>& speeds = policy.speeds();
  std::vector<T> out(2 * speeds.size());
  for (std::size_t pair = 0; pair < speeds.size(); ++pair) {
    const double angle = static_cast<double>(p + policy.settings().offset) * speeds[pair];
    out[pair] = static_cast<T>(policy.attention_factor() * std::cos(angle));
    out[speeds.size() + pair] = static_cast<T>(policy.attention_factor() * std::sin(angle));
  }
  return out;
}

template <class T>
bool within_one_ulp(T a, T b) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  return a == b || a == std::nextafter(b, infinity) || a == std::nextafter(b, -infinity);
}

template <class T, class Frequency>
void check_turns(const rotary<Frequency>& policy) {
  constexpr index_t count = 45;
  const auto term = policy.template compile<T>(call_at({0, 1}), layout);
  const auto width = static_cast<std::size_t>(term.rotary_dim());
  REQUIRE(term.rotary_dim() == policy.rotary_dim());
  for (const index_t first : starts) {
    std::vector<T> turns(static_cast<std::size_t>(count) * width + 1, T{-99});
    term.turns(position{first}, count, std::span<T>(turns));
    REQUIRE(turns.back() == T{-99});
    for (index_t n = 0; n < count; ++n) {
      const auto row = std::span<const T>(turns).subspan(static_cast<std::size_t>(n) * width, width);
      const std::vector<T> exact = exact_turns<T>(policy, first + n);
      for (std::size_t d = 0; d < width; ++d) {
        CAPTURE(first, n, d, row[d], exact[d]);
        if constexpr (std::same_as<T, double>) {
          REQUIRE(row[d] == exact[d]);
        } else {
          REQUIRE(within_one_ulp(row[d], exact[d]));
        }
      }
      std::vector<T> alone(width);  // a position's turns do not depend on where the count started
      term.turns(position{first + n}, 1, std::span<T>(alone));
      REQUIRE(std::equal(alone.begin(), alone.end(), row.begin()));
    }
  }
}

/// turn with a position's turns is what the scalar form does to a query and to a key there.
template <class T, class Frequency>
void check_turn(const rotary<Frequency>& policy) {
  const std::vector<index_t> of_query{3, -8, 1000000};
  const std::vector<index_t> of_key{11, 2, 999999, 0, 40};
  const auto call = call_at(of_query, of_key);
  const auto term = policy.template compile<T>(call, layout);
  const auto check_row = [&](position p, const std::vector<T>& row, const std::vector<T>& expected) {
    std::vector<T> turns(static_cast<std::size_t>(term.rotary_dim()));
    term.turns(p, 1, std::span<T>(turns));
    std::vector<T> turned = row;
    term.turn(std::span<const T>(turns), std::span<T>(turned));
    for (std::size_t d = 0; d < row.size(); ++d) {
      CAPTURE(p.value(), d);
      CHECK(std::abs(turned[d] - expected[d]) <= 32 * std::numeric_limits<T>::epsilon());
    }
    for (std::size_t d = turns.size(); d < row.size(); ++d) CHECK(turned[d] == row[d]);
  };
  for (const query_index i : indices<query_index>(call.queries())) {
    const auto row = random_values<T>(head_dim, 991 + static_cast<unsigned>(i.value()));
    std::vector<T> expected = row;
    term.query(batch_index{0}, head_index{1}, i, std::span<T>(expected));
    check_row(call.at(batch_index{0}, i), row, expected);
  }
  for (const key_index j : indices<key_index>(call.keys())) {
    const auto row = random_values<T>(head_dim, 995 + static_cast<unsigned>(j.value()));
    std::vector<T> expected = row;
    term.key(batch_index{0}, head_index{0}, j, std::span<T>(expected));
    check_row(call.at(batch_index{0}, j), row, expected);
  }
}

template <class T>
void check_all(pairing pairs) {
  for (const index_t offset : {index_t{0}, index_t{-19}}) {
    for (const index_t rotary_dim : {index_t{2}, index_t{10}, index_t{16}}) {
      const rotary<frequency::geometric> policy(plain(rotary_dim), {.pairs = pairs, .offset = offset});
      check_turns<T>(policy);
      check_turn<T>(policy);
    }
    const rotary<frequency::yarn> policy(scaled(), {.pairs = pairs, .offset = offset});
    REQUIRE(policy.attention_factor() > 1.1);
    check_turns<T>(policy);
    check_turn<T>(policy);
  }
}

TEMPLATE_TEST_CASE("a table of turns is what rotary turns by", "[block_forms]", float, double) {
  check_all<TestType>(pairing::adjacent);
  check_all<TestType>(pairing::halves);
}

}  // namespace transform_block_forms_test
