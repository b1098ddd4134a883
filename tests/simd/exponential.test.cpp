// SPDX-License-Identifier: MIT
#include <posgeo/simd/exponential.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "simd/lane_values.hpp"
#include "support/catch.hpp"

namespace exponential_test {

using posgeo::test::lanes_of;
using posgeo::test::same_bits;
namespace simd = posgeo::simd;

template <class T>
using wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// The bounds that the headers state.
template <class T>
struct stated;
template <>
struct stated<float> {
  static constexpr double exp2 = 2.1e-7;
  static constexpr double exp = 1.3e-7;
  static constexpr double tanh = 2.6e-7;
  static constexpr float smallest_exponent = -126;
  static constexpr float largest_exponent = 127;
};
template <>
struct stated<double> {
  static constexpr double exp2 = 2.2e-16;
  static constexpr double exp = 2.5e-16;
  static constexpr double tanh = 5.5e-16;
  static constexpr double smallest_exponent = -1022;
  static constexpr double largest_exponent = 1023;
};

const auto lanes_exp2 = [](auto x) { return simd::exp2(x); };
const auto lanes_exp = [](auto x) { return simd::exp(x); };
const auto lanes_tanh = [](auto x) { return simd::tanh(x); };

template <class T, class Function>
T of(const Function& function, T x) {
  return lanes_of(function(simd::broadcast<T>(x)))[0];
}

/// The largest relative error over the inputs, whose true values are not 0.
template <class T, class Function, class Truth>
double worst_error(const Function& function, const Truth& truth, std::vector<T> inputs) {
  constexpr auto lanes = static_cast<std::size_t>(simd::pack<T>::lanes);
  inputs.resize((inputs.size() + lanes - 1) / lanes * lanes, inputs.back());
  double worst = 0;
  for (std::size_t first = 0; first < inputs.size(); first += lanes) {
    const auto got = lanes_of(function(simd::load(inputs.data() + first)));
    for (std::size_t l = 0; l < lanes; ++l) {
      const wider<T> expected = truth(static_cast<wider<T>>(inputs[first + l]));
      const double error = static_cast<double>(std::abs((static_cast<wider<T>>(got[l]) - expected) / expected));
      if (!(error <= worst)) worst = error;  // a NaN is the worst
    }
  }
  return worst;
}

/// Uniform in [low, high], and numbers next to each multiple of step, where an argument is split.
template <class T>
std::vector<T> between(T low, T high, double step, std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(static_cast<double>(low), static_cast<double>(high));
  std::vector<T> out(count);
  for (T& x : out) x = static_cast<T>(uniform(engine));
  for (double mark = static_cast<double>(low); mark <= static_cast<double>(high); mark += step) {
    T below = static_cast<T>(mark);
    T above = below;
    for (int n = 0; n < 8; ++n) {
      for (const T x : {below, above}) {
        if (low <= x && x <= high) out.push_back(x);
      }
      below = std::nextafter(below, -std::numeric_limits<T>::infinity());
      above = std::nextafter(above, std::numeric_limits<T>::infinity());
    }
  }
  return out;
}

/// Both signs, every magnitude.
template <class T>
std::vector<T> of_any_size(double lowest_exponent, double highest_exponent, std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> exponent(lowest_exponent, highest_exponent);
  std::vector<T> out(count);
  for (T& x : out) x = static_cast<T>(std::exp2(exponent(engine)) * (engine() % 2 == 0 ? 1 : -1));
  return out;
}

TEST_CASE("exp2 of floats over the whole of -150 to 0", "[simd]") {
  const auto first = std::bit_cast<std::uint32_t>(-0.0F);
  const auto last = std::bit_cast<std::uint32_t>(-150.0F);
  constexpr std::uint32_t stride = 911;  // a prime: all mantissas and exponents come up
  std::vector<float> kept;
  std::vector<float> vanishing;
  for (std::uint32_t bits = first; bits <= last; bits += stride) {
    const float x = std::bit_cast<float>(bits);
    (x < -126.0F ? vanishing : kept).push_back(x);
  }
  CHECK(kept.size() > 1'000'000);
  CHECK(worst_error<float>(
            lanes_exp2, [](double x) { return std::exp2(x); }, kept) <= stated<float>::exp2);

  constexpr auto lanes = static_cast<std::size_t>(simd::pack<float>::lanes);
  std::size_t not_zero = 0;
  for (std::size_t n = 0; n + lanes <= vanishing.size(); n += lanes) {
    for (const float y : lanes_of(simd::exp2(simd::load(vanishing.data() + n)))) not_zero += same_bits(y, 0.0F) ? 0 : 1;
  }
  CHECK(not_zero == 0);
}

TEMPLATE_TEST_CASE("exp2 keeps its bound and its ends", "[simd]", float, double) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  constexpr T smallest = stated<T>::smallest_exponent;
  constexpr T largest = stated<T>::largest_exponent;
  const auto truth = [](auto x) { return std::exp2(x); };
  CHECK(worst_error<T>(lanes_exp2, truth, between<T>(smallest, largest, 0.5, 200'000, 31)) <= stated<T>::exp2);
  CHECK(worst_error<T>(lanes_exp2, truth, between<T>(-2, 2, 1.0 / 64, 200'000, 32)) <= stated<T>::exp2);
  CHECK(worst_error<T>(lanes_exp2, truth, of_any_size<T>(-100, 5, 50'000, 33)) <= stated<T>::exp2);

  for (T n = smallest; n <= largest; n += 1) CHECK(of<T>(lanes_exp2, n) == std::exp2(n));
  CHECK(same_bits(of<T>(lanes_exp2, T{-0.0}), T{1}));
  CHECK(same_bits(of<T>(lanes_exp2, limits::denorm_min()), T{1}));
  CHECK(same_bits(of<T>(lanes_exp2, smallest), limits::min()));
  for (const T x : {std::nextafter(smallest, T{-2000}), smallest - T{0.5}, smallest - T{1}, smallest - T{30},
                    smallest * T{2}, smallest * T{1000}, limits::lowest(), -limits::infinity()}) {
    CAPTURE(x);
    CHECK(same_bits(of<T>(lanes_exp2, x), T{0}));
  }
  std::size_t subnormal = 0;
  for (const T x : between<T>(smallest - T{2}, smallest + T{2}, 0.125, 100'000, 34)) {
    const T y = of<T>(lanes_exp2, x);
    subnormal += y != 0 && y < limits::min() ? 1 : 0;
  }
  CHECK(subnormal == 0);
}

TEMPLATE_TEST_CASE("exp keeps its bound and its ends", "[simd]", float, double) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  const T smallest = std::nextafter(std::log(limits::min()), T{0});
  const T largest = std::nextafter(std::log(limits::max()), T{0});
  const auto truth = [](auto x) { return std::exp(x); };
  CHECK(worst_error<T>(lanes_exp, truth, between<T>(smallest, largest, std::log(2.0) / 2, 200'000, 35)) <=
        stated<T>::exp);
  CHECK(worst_error<T>(lanes_exp, truth, between<T>(-2, 2, 1.0 / 64, 200'000, 36)) <= stated<T>::exp);
  CHECK(worst_error<T>(lanes_exp, truth, of_any_size<T>(-100, 5, 50'000, 37)) <= stated<T>::exp);

  CHECK(same_bits(of<T>(lanes_exp, T{0}), T{1}));
  CHECK(same_bits(of<T>(lanes_exp, T{-0.0}), T{1}));
  for (const T x : {smallest - T{0.5}, smallest - T{2}, smallest * T{2}, limits::lowest(), -limits::infinity()}) {
    CHECK(same_bits(of<T>(lanes_exp, x), T{0}));
  }
  for (const T x : {largest + T{0.0625}, largest + T{2}, largest * T{2}, limits::max(), limits::infinity()}) {
    CHECK(of<T>(lanes_exp, x) == limits::infinity());
  }
}

TEMPLATE_TEST_CASE("tanh keeps its bound and its ends", "[simd]", float, double) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  const auto truth = [](auto x) { return std::tanh(x); };
  CHECK(worst_error<T>(lanes_tanh, truth, between<T>(-25, 25, std::log(2.0) / 4, 200'000, 38)) <= stated<T>::tanh);
  CHECK(worst_error<T>(lanes_tanh, truth, between<T>(-1, 1, 1.0 / 64, 200'000, 39)) <= stated<T>::tanh);
  CHECK(worst_error<T>(lanes_tanh, truth, of_any_size<T>(-120, 10, 100'000, 40)) <= stated<T>::tanh);

  for (const T x : {T{0}, limits::denorm_min(), limits::min()}) {
    CHECK(same_bits(of<T>(lanes_tanh, x), x));
    CHECK(same_bits(of<T>(lanes_tanh, -x), -x));
  }
  for (const T x : {T{21}, limits::max(), limits::infinity()}) {
    CHECK(of<T>(lanes_tanh, x) == T{1});
    CHECK(of<T>(lanes_tanh, -x) == T{-1});
  }
  std::size_t odd = 0;
  std::size_t beyond = 0;
  for (const T x : between<T>(-12, 12, 0.5, 20'000, 41)) {
    odd += same_bits(of<T>(lanes_tanh, -x), -of<T>(lanes_tanh, x)) ? 0 : 1;
    beyond += std::abs(of<T>(lanes_tanh, x)) > T{1} ? 1 : 0;
  }
  CHECK(odd == 0);
  CHECK(beyond == 0);
}

TEMPLATE_TEST_CASE("a NaN stays a NaN whatever its bits", "[simd]", float, double) {
  using T = TestType;
  using integer = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto quiet = std::bit_cast<integer>(std::numeric_limits<T>::quiet_NaN());
  std::mt19937_64 engine(42);
  for (int round = 0; round < 200; ++round) {
    const auto payload = static_cast<integer>(engine()) >> (sizeof(T) == 4 ? 10 : 13);
    const integer sign = static_cast<integer>(engine() % 2) << (8 * sizeof(T) - 1);
    const T nan = std::bit_cast<T>(quiet | payload | sign);
    REQUIRE(std::isnan(nan));
    CHECK(std::isnan(of<T>(lanes_exp2, nan)));
    CHECK(std::isnan(of<T>(lanes_exp, nan)));
    CHECK(std::isnan(of<T>(lanes_tanh, nan)));
  }
}

TEMPLATE_TEST_CASE("a result depends on its own lane only", "[simd]", float, double) {
  using T = TestType;
  constexpr auto lanes = static_cast<std::size_t>(simd::pack<T>::lanes);
  auto inputs = of_any_size<T>(-3, 6, 50 * lanes, 43);
  for (T& x : inputs) x = -std::abs(x);
  for (std::size_t n = 0; n < inputs.size(); n += 5) inputs[n] = -std::numeric_limits<T>::infinity();
  for (std::size_t n = 3; n < inputs.size(); n += 13) inputs[n] = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t first = 0; first < inputs.size(); first += lanes) {
    const auto x = simd::load(inputs.data() + first);
    const auto power = lanes_of(simd::exp2(x));
    const auto natural = lanes_of(simd::exp(x));
    const auto bent = lanes_of(simd::tanh(x));
    for (std::size_t l = 0; l < lanes; ++l) {
      if (std::isnan(inputs[first + l])) continue;
      CHECK(same_bits(power[l], of<T>(lanes_exp2, inputs[first + l])));
      CHECK(same_bits(natural[l], of<T>(lanes_exp, inputs[first + l])));
      CHECK(same_bits(bent[l], of<T>(lanes_tanh, inputs[first + l])));
    }
  }
}

}  // namespace exponential_test
