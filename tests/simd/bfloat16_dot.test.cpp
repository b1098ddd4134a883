// SPDX-License-Identifier: MIT
#include <posgeo/simd/bfloat16_dot.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "simd/lane_values.hpp"
#include "support/catch.hpp"
#include "support/page_end.hpp"
#include "support/random.hpp"

namespace bfloat16_dot_test {

namespace simd = posgeo::simd;

TEST_CASE("only an instruction set that names it multiplies bfloat16 pairs", "[simd]") {
  CHECK(simd::has_bfloat16_dot == (std::string_view(simd::isa_name) == "avx512_bf16"));
}

#if defined(__AVX512BF16__)

using posgeo::test::lanes_of;
constexpr auto lanes = static_cast<std::size_t>(simd::pack<float>::lanes);
constexpr auto elements = static_cast<std::size_t>(simd::bfloat16_pairs::elements);

std::vector<Eigen::bfloat16> random_numbers(std::size_t count, unsigned seed) {
  std::vector<Eigen::bfloat16> out;
  for (const float x : posgeo::test::random_values<float>(count, seed)) out.push_back(Eigen::bfloat16(x));
  return out;
}
std::array<float, elements> elements_of(simd::bfloat16_pairs a) {
  std::array<Eigen::bfloat16, elements> memory;
  simd::store_pairs(memory.data(), a);
  std::array<float, elements> out;
  std::transform(memory.begin(), memory.end(), out.begin(), [](Eigen::bfloat16 x) { return static_cast<float>(x); });
  return out;
}

TEST_CASE("a pair product adds both products to its lane", "[simd]") {
  const auto x = random_numbers(50 * elements, 61);
  const auto y = random_numbers(50 * elements, 62);
  const auto start = posgeo::test::random_values<float>(50 * lanes, 63);
  for (std::size_t round = 0; round < 50; ++round) {
    const Eigen::bfloat16* const a = x.data() + round * elements;
    const Eigen::bfloat16* const b = y.data() + round * elements;
    const float* const from = start.data() + round * lanes;
    const auto sums = lanes_of(simd::dot2(simd::load(from), simd::load_pairs(a), simd::load_pairs(b)));
    for (std::size_t l = 0; l < lanes; ++l) {
      const double even = static_cast<double>(static_cast<float>(a[2 * l])) * static_cast<float>(b[2 * l]);
      const double odd = static_cast<double>(static_cast<float>(a[2 * l + 1])) * static_cast<float>(b[2 * l + 1]);
      const double size = std::abs(static_cast<double>(from[l])) + std::abs(even) + std::abs(odd);
      const double error = std::abs(sums[l] - (static_cast<double>(from[l]) + even + odd));
      CHECK(error <= size * std::numeric_limits<float>::epsilon());  // two roundings of at most half an epsilon each
    }
  }
}

TEST_CASE("pairs are laid out as stated", "[simd]") {
  const auto even = random_numbers(elements, 64);
  const auto odd = random_numbers(elements, 65);
  const auto widened = [](const std::vector<Eigen::bfloat16>& row, std::size_t at) {
    return static_cast<float>(row[at]);
  };
  std::vector<float> first;
  std::vector<float> second;
  for (std::size_t l = 0; l < lanes; ++l) {
    first.push_back(widened(even, l));
    second.push_back(widened(odd, l));
  }
  const auto woven = elements_of(simd::interleave(even.data(), odd.data()));
  const auto narrowed = elements_of(simd::narrow_interleaved(simd::load(first.data()), simd::load(second.data())));
  const auto in_order = elements_of(simd::narrow_in_order(simd::load(first.data()), simd::load(second.data())));
  const auto everywhere = elements_of(simd::broadcast_pair(odd.data() + 3));
  const auto as_stored = elements_of(simd::load_pairs(even.data()));
  for (std::size_t l = 0; l < lanes; ++l) {
    CHECK(woven[2 * l] == first[l]);
    CHECK(woven[2 * l + 1] == second[l]);
    CHECK(narrowed[2 * l] == first[l]);
    CHECK(narrowed[2 * l + 1] == second[l]);
    CHECK(in_order[l] == first[l]);
    CHECK(in_order[lanes + l] == second[l]);
    CHECK(everywhere[2 * l] == widened(odd, 3));
    CHECK(everywhere[2 * l + 1] == widened(odd, 4));
  }
  for (std::size_t n = 0; n < elements; ++n) CHECK(as_stored[n] == widened(even, n));
  for (const float x : elements_of(simd::zero_pairs())) CHECK(x == 0.0F);
}

TEST_CASE("numbers are narrowed to pairs to nearest even", "[simd]") {
  const auto numbers = posgeo::test::random_values<float>(100 * elements, 66);
  for (std::size_t at = 0; at < numbers.size(); at += elements) {
    const auto narrowed =
        elements_of(simd::narrow_in_order(simd::load(numbers.data() + at), simd::load(numbers.data() + at + lanes)));
    for (std::size_t n = 0; n < elements; ++n) {
      CHECK(narrowed[n] == static_cast<float>(Eigen::bfloat16(numbers[at + n])));
    }
  }
}

TEST_CASE("the first elements of pairs touch no memory behind them", "[simd]") {
  const auto numbers = random_numbers(elements, 67);
  posgeo::test::page_end<Eigen::bfloat16> end(elements);
  for (std::size_t n = 0; n <= elements; ++n) {
    Eigen::bfloat16* const start = end.last(n);
    std::copy_n(numbers.begin(), n, start);
    const auto read = elements_of(simd::load_pairs_first(start, static_cast<std::int64_t>(n)));
    for (std::size_t e = 0; e < elements; ++e) CHECK(read[e] == (e < n ? static_cast<float>(numbers[e]) : 0.0F));
  }
}

#endif

}  // namespace bfloat16_dot_test
