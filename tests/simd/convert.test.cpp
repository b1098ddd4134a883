// SPDX-License-Identifier: MIT
#include <posgeo/simd/convert.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "simd/lane_values.hpp"
#include "support/catch.hpp"
#include "support/page_end.hpp"

namespace convert_test {

using posgeo::test::lanes_of;
using posgeo::test::same_bits;
namespace simd = posgeo::simd;

constexpr auto lanes = static_cast<std::size_t>(simd::pack<float>::lanes);

template <class E>
E stored(std::uint32_t bits) {
  return std::bit_cast<E>(static_cast<std::uint16_t>(bits));
}
template <class E>
std::uint16_t bits_of(E x) {
  return std::bit_cast<std::uint16_t>(x);
}

/// Every bit pattern, in packs.
template <class E>
std::vector<E> every_number() {
  std::vector<E> out;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) out.push_back(stored<E>(bits));
  return out;
}

TEMPLATE_TEST_CASE("every stored number is widened exactly", "[simd]", Eigen::bfloat16, Eigen::half) {
  const auto numbers = every_number<TestType>();
  std::size_t wrong = 0;
  for (std::size_t first = 0; first < numbers.size(); first += lanes) {
    const auto wide = lanes_of(simd::load_wide(numbers.data() + first));
    for (std::size_t l = 0; l < lanes; ++l) {
      const float expected = static_cast<float>(numbers[first + l]);
      wrong += (std::isnan(expected) ? std::isnan(wide[l]) : same_bits(wide[l], expected)) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("numbers are narrowed to the nearest, ties to even", "[simd]", Eigen::bfloat16, Eigen::half) {
  std::vector<float> numbers;
  for (const TestType x : every_number<TestType>()) {
    const float exact = static_cast<float>(x);
    const float next = static_cast<float>(stored<TestType>(bits_of(x) + 1U));
    const float tie = exact + (next - exact) / 2;
    for (const float y : {exact, tie, std::nextafter(tie, exact), std::nextafter(tie, next)}) numbers.push_back(y);
  }
  std::mt19937 engine(51);
  for (int n = 0; n < 100'000; ++n) numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(engine())));
  numbers.resize(numbers.size() / lanes * lanes);

  std::size_t wrong = 0;
  for (std::size_t first = 0; first < numbers.size(); first += lanes) {
    std::array<TestType, lanes> narrow;
    simd::store_narrow(narrow.data(), simd::load(numbers.data() + first));
    for (std::size_t l = 0; l < lanes; ++l) {
      const auto expected = static_cast<TestType>(numbers[first + l]);
      const bool is_nan = std::isnan(numbers[first + l]);
      wrong += (is_nan ? std::isnan(static_cast<float>(narrow[l])) : bits_of(narrow[l]) == bits_of(expected)) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("the first stored numbers touch no memory behind them", "[simd]", Eigen::bfloat16, Eigen::half) {
  std::array<float, lanes> numbers;
  std::mt19937 engine(52);
  std::normal_distribution<float> normal;
  for (float& x : numbers) x = static_cast<float>(static_cast<TestType>(normal(engine)));
  posgeo::test::page_end<TestType> end(lanes);
  for (std::size_t n = 0; n <= lanes; ++n) {
    TestType* const start = end.last(n);
    simd::store_narrow_first(start, simd::load(numbers.data()), static_cast<std::int64_t>(n));
    for (std::size_t l = 0; l < n; ++l) CHECK(static_cast<float>(start[l]) == numbers[l]);
    const auto wide = lanes_of(simd::load_wide_first(start, static_cast<std::int64_t>(n)));
    for (std::size_t l = 0; l < lanes; ++l) CHECK(same_bits(wide[l], l < n ? numbers[l] : 0.0F));

    std::array<TestType, lanes> kept;
    kept.fill(TestType(7.0F));
    simd::store_narrow_first(kept.data(), simd::load(numbers.data()), static_cast<std::int64_t>(n));
    for (std::size_t l = n; l < lanes; ++l) CHECK(static_cast<float>(kept[l]) == 7.0F);
  }
}

}  // namespace convert_test
