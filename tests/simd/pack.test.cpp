// SPDX-License-Identifier: MIT
#include <posgeo/simd/pack.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "simd/lane_values.hpp"
#include "support/catch.hpp"
#include "support/page_end.hpp"
#include "support/random.hpp"

namespace pack_test {

using posgeo::test::lane_array;
using posgeo::test::lanes_of;
using posgeo::test::same_bits;
namespace simd = posgeo::simd;

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr bool multiplies_and_adds_at_once = true;
#else
constexpr bool multiplies_and_adds_at_once = false;
#endif

/// Numbers of every size, and now and then one that is special.
template <class T>
std::vector<T> wild_numbers(std::size_t count, unsigned seed) {
  using limits = std::numeric_limits<T>;
  constexpr T special[] = {T{0}, T{-0.0}, limits::infinity(), -limits::infinity(), limits::denorm_min(), limits::max()};
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> exponent(-60, 60);
  std::uniform_int_distribution<std::size_t> pick(0, 31);
  std::vector<T> out(count);
  for (T& x : out) {
    const std::size_t which = pick(engine);
    const double sign = which % 2 == 0 ? 1 : -1;
    x = which < std::size(special) ? special[which] : static_cast<T>(sign * std::exp2(exponent(engine)));
  }
  return out;
}

template <class T>
lane_array<T> some_lanes(const std::vector<T>& from, std::size_t first) {
  lane_array<T> out;
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
  return out;
}

template <class T>
std::uint32_t bits_where(const lane_array<T>& a, const lane_array<T>& b, bool (*holds)(T, T)) {
  std::uint32_t bits = 0;
  for (std::size_t l = 0; l < a.size(); ++l) bits |= holds(a[l], b[l]) ? std::uint32_t{1} << l : 0;
  return bits;
}

TEMPLATE_TEST_CASE("a pack has the lanes of its instruction set", "[simd]", float, double) {
  const std::string_view name = simd::isa_name;
  std::size_t bytes = 16;
  if (name == "scalar") bytes = sizeof(TestType);
  if (name == "avx" || name == "avx2") bytes = 32;
  if (name == "avx512f" || name == "avx512" || name == "avx512_bf16") bytes = 64;
  CHECK(simd::pack<TestType>::lanes == static_cast<std::int64_t>(bytes / sizeof(TestType)));
  CHECK(sizeof(simd::pack<TestType>) == bytes);
}

TEMPLATE_TEST_CASE("packs are read and written at any address", "[simd]", float, double) {
  const auto numbers = wild_numbers<TestType>(3 * lane_array<TestType>{}.size(), 11);
  for (std::size_t first = 0; first < lane_array<TestType>{}.size(); ++first) {
    CHECK(same_bits(lanes_of(simd::load(numbers.data() + first)), some_lanes(numbers, first)));
    CHECK(same_bits(lanes_of(simd::load<TestType>(numbers.data() + first)), some_lanes(numbers, first)));
  }
  const auto counted = lanes_of(simd::ramp<TestType>());
  for (std::size_t l = 0; l < counted.size(); ++l) {
    CHECK(counted[l] == static_cast<TestType>(l));
    CHECK(lanes_of(simd::broadcast<TestType>(TestType{-2.625}))[l] == TestType{-2.625});
    CHECK(same_bits(lanes_of(simd::zero<TestType>())[l], TestType{0}));
  }
}

TEMPLATE_TEST_CASE("the first lanes touch no memory behind them", "[simd]", float, double) {
  constexpr std::int64_t lanes = simd::pack<TestType>::lanes;
  const auto numbers = wild_numbers<TestType>(static_cast<std::size_t>(lanes), 12);
  posgeo::test::page_end<TestType> end(static_cast<std::size_t>(lanes));
  for (std::int64_t n = 0; n <= lanes; ++n) {
    TestType* const start = end.last(static_cast<std::size_t>(n));
    std::copy_n(numbers.begin(), n, start);
    const auto read = lanes_of(simd::load_first(start, n));
    for (std::int64_t l = 0; l < lanes; ++l) {
      const auto at = static_cast<std::size_t>(l);
      CHECK(same_bits(read[at], l < n ? numbers[at] : TestType{0}));
    }
    std::fill_n(start, n, TestType{7});
    simd::store_first(start, simd::load(numbers.data()), n);
    for (std::int64_t l = 0; l < n; ++l) CHECK(same_bits(start[l], numbers[static_cast<std::size_t>(l)]));

    lane_array<TestType> kept;
    kept.fill(TestType{7});
    simd::store_first(kept.data(), simd::load(numbers.data()), n);
    for (std::size_t l = static_cast<std::size_t>(n); l < kept.size(); ++l) CHECK(kept[l] == TestType{7});
  }
}

TEMPLATE_TEST_CASE("lanes compute what numbers do", "[simd]", float, double) {
  constexpr std::size_t lanes = lane_array<TestType>{}.size();
  constexpr std::size_t packs = 64;
  const auto x = wild_numbers<TestType>(packs * lanes, 13);
  const auto y = wild_numbers<TestType>(packs * lanes, 14);
  const auto z = posgeo::test::random_values<TestType>(packs * lanes, 15);
  const auto agree = [](TestType got, TestType expected) {
    return std::isnan(expected) ? std::isnan(got) : same_bits(got, expected);
  };
  for (std::size_t first = 0; first < x.size(); first += lanes) {
    const auto a = simd::load(x.data() + first);
    const auto b = simd::load(y.data() + first);
    const auto c = simd::load(z.data() + first);
    const auto sums = lanes_of(a + b);
    const auto differences = lanes_of(a - b);
    const auto products = lanes_of(a * b);
    const auto quotients = lanes_of(a / c);
    const auto joined = lanes_of(simd::fma(a, b, c));
    const auto smaller = lanes_of(simd::min(a, b));
    const auto larger = lanes_of(simd::max(a, b));
    const auto sizes = lanes_of(simd::abs(a));
    const auto signs = lanes_of(simd::with_sign_of(a, b));
    for (std::size_t l = 0; l < lanes; ++l) {
      const TestType p = x[first + l];
      const TestType q = y[first + l];
      const TestType r = z[first + l];
      const volatile TestType product = p * q;  // rounded: nothing may be joined with the sum
      CAPTURE(p, q, r);
      CHECK(agree(sums[l], p + q));
      CHECK(agree(differences[l], p - q));
      CHECK(agree(products[l], product));
      CHECK(agree(quotients[l], p / r));
      CHECK(agree(joined[l], multiplies_and_adds_at_once ? std::fma(p, q, r) : product + r));
      CHECK(smaller[l] == std::min(p, q));
      CHECK(larger[l] == std::max(p, q));
      CHECK(same_bits(sizes[l], std::abs(p)));
      CHECK(same_bits(signs[l], std::copysign(p, q)));
    }
  }
}

TEMPLATE_TEST_CASE("comparisons hold lane by lane and never of a NaN", "[simd]", float, double) {
  constexpr std::size_t lanes = lane_array<TestType>{}.size();
  auto x = wild_numbers<TestType>(64 * lanes, 16);
  auto y = wild_numbers<TestType>(64 * lanes, 17);
  for (std::size_t n = 0; n < x.size(); n += 3) y[n] = x[n];
  for (std::size_t n = 1; n < x.size(); n += 7) x[n] = std::numeric_limits<TestType>::quiet_NaN();
  for (std::size_t n = 2; n < x.size(); n += 11) y[n] = std::numeric_limits<TestType>::quiet_NaN();
  for (std::size_t first = 0; first < x.size(); first += lanes) {
    const auto a = some_lanes(x, first);
    const auto b = some_lanes(y, first);
    const auto below = simd::below(simd::load(a.data()), simd::load(b.data()));
    const auto at_most = simd::at_most(simd::load(a.data()), simd::load(b.data()));
    CHECK(simd::bits(below) == bits_where<TestType>(a, b, [](TestType p, TestType q) { return p < q; }));
    CHECK(simd::bits(at_most) == bits_where<TestType>(a, b, [](TestType p, TestType q) { return p <= q; }));
  }
}

TEMPLATE_TEST_CASE("a mask is its bits", "[simd]", float, double) {
  constexpr std::int64_t lanes = simd::pack<TestType>::lanes;
  const auto every = static_cast<std::uint32_t>((std::uint64_t{1} << lanes) - 1);
  for (std::int64_t n = 0; n <= lanes; ++n) {
    CHECK(simd::bits(simd::first_lanes<TestType>(n)) == (std::uint64_t{1} << n) - 1);
  }
  lane_array<TestType> a;
  lane_array<TestType> b;
  a.fill(std::numeric_limits<TestType>::quiet_NaN());
  b.fill(TestType{-0.0});
  std::mt19937 engine(18);
  for (int round = 0; round < 300; ++round) {
    const auto p = static_cast<std::uint32_t>(engine());  // the bits beyond the lanes are to be ignored
    const auto q = static_cast<std::uint32_t>(engine());
    const auto m = simd::from_bits<TestType>(p);
    CHECK(simd::bits(m) == (p & every));
    CHECK(simd::bits(m & simd::from_bits<TestType>(q)) == (p & q & every));
    CHECK(simd::bits(m | simd::from_bits<TestType>(q)) == ((p | q) & every));
    CHECK(simd::bits(~m) == (~p & every));
    CHECK(simd::any(m) == ((p & every) != 0));
    CHECK(simd::all(m) == ((p & every) == every));
    const auto chosen = lanes_of(simd::select(m, simd::load(a.data()), simd::load(b.data())));
    const auto cleared = lanes_of(simd::zero_where(m, simd::load(a.data())));
    for (std::size_t l = 0; l < chosen.size(); ++l) {
      const bool holds = (p >> l & 1U) != 0;
      CHECK(same_bits(chosen[l], holds ? a[l] : b[l]));
      CHECK(same_bits(cleared[l], holds ? TestType{0} : a[l]));
    }
  }
  CHECK(simd::all(simd::from_bits<TestType>(every)));
  CHECK_FALSE(simd::any(simd::from_bits<TestType>(0)));
}

TEMPLATE_TEST_CASE("all lanes are joined as a tree", "[simd]", float, double) {
  constexpr std::size_t lanes = lane_array<TestType>{}.size();
  const auto numbers = posgeo::test::random_values<TestType>(100 * lanes, 19);
  for (std::size_t first = 0; first < numbers.size(); first += lanes) {
    auto sums = some_lanes(numbers, first);
    const auto pack = simd::load(sums.data());
    const TestType largest = *std::max_element(sums.begin(), sums.end());
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) sums[l] += sums[l + half];
    }
    CHECK(same_bits(simd::sum(pack), sums[0]));
    CHECK(same_bits(simd::largest(pack), largest));
  }
  const TestType nothing = -std::numeric_limits<TestType>::infinity();
  CHECK(simd::largest(simd::broadcast<TestType>(nothing)) == nothing);
}

TEMPLATE_TEST_CASE("a gather reads what its indices name", "[simd]", float, double) {
  constexpr std::size_t lanes = lane_array<TestType>{}.size();
  const auto numbers = posgeo::test::random_values<TestType>(257, 20);
  const TestType* const middle = numbers.data() + 128;
  std::mt19937 engine(21);
  std::uniform_int_distribution<std::int32_t> anywhere(-128, 128);
  for (int round = 0; round < 50; ++round) {
    std::array<std::int32_t, lanes> indices;
    for (std::int32_t& index : indices) index = anywhere(engine);
    const auto read = lanes_of(simd::gather(middle, indices.data()));
    for (std::size_t l = 0; l < lanes; ++l) CHECK(read[l] == middle[indices[l]]);
  }
}

TEMPLATE_TEST_CASE("a permutation names lanes, some twice and some never", "[simd]", float, double) {
  constexpr std::size_t lanes = lane_array<TestType>{}.size();
  std::mt19937 engine(22);
  std::uniform_int_distribution<std::int32_t> lane(0, static_cast<std::int32_t>(lanes) - 1);
  for (unsigned round = 0; round < 50; ++round) {
    const auto numbers = posgeo::test::random_values<TestType>(lanes, 23 + round);
    std::array<std::int32_t, lanes> which;
    for (std::int32_t& one : which) one = lane(engine);
    const auto permuted = lanes_of(simd::permute(simd::load(numbers.data()), which.data()));
    for (std::size_t l = 0; l < lanes; ++l) CHECK(permuted[l] == numbers[static_cast<std::size_t>(which[l])]);
  }
}

}  // namespace pack_test
