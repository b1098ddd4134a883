// SPDX-License-Identifier: MIT
#include <posgeo/simd/transpose.hpp>

#include <cstddef>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace transpose_test {

TEMPLATE_TEST_CASE("a square of lanes is transposed between strides of its own", "[simd]", float, double) {
  constexpr std::int64_t lanes = posgeo::simd::pack<TestType>::lanes;
  const std::int64_t from_stride = lanes + 3;
  const std::int64_t to_stride = lanes + 5;
  const auto from = posgeo::test::random_values<TestType>(static_cast<std::size_t>(lanes * from_stride), 71);
  std::vector<TestType> to(static_cast<std::size_t>(lanes * to_stride), TestType{99});
  posgeo::simd::transpose(from.data(), from_stride, to.data(), to_stride);
  for (std::int64_t c = 0; c < lanes; ++c) {
    for (std::int64_t r = 0; r < to_stride; ++r) {
      const auto expected = r < lanes ? from[static_cast<std::size_t>(r * from_stride + c)] : TestType{99};
      CHECK(to[static_cast<std::size_t>(c * to_stride + r)] == expected);
    }
  }
}

TEST_CASE("pairs of bfloat16 are transposed and widened", "[simd]") {
  constexpr std::int64_t lanes = posgeo::simd::pack<float>::lanes;
  const std::int64_t from_stride = 2 * lanes + 3;
  const std::int64_t to_stride = lanes + 5;
  const auto numbers = posgeo::test::random_values<float>(static_cast<std::size_t>(lanes * from_stride), 72);
  std::vector<Eigen::bfloat16> from;
  for (const float number : numbers) from.push_back(static_cast<Eigen::bfloat16>(number));
  std::vector<float> to(static_cast<std::size_t>(2 * lanes * to_stride), 99.0F);
  posgeo::simd::transpose_pairs(from.data(), from_stride, to.data(), to_stride);
  for (std::int64_t c = 0; c < 2 * lanes; ++c) {
    for (std::int64_t r = 0; r < to_stride; ++r) {
      const float expected =
          r < lanes ? static_cast<float>(from[static_cast<std::size_t>(r * from_stride + c)]) : 99.0F;
      CHECK(to[static_cast<std::size_t>(c * to_stride + r)] == expected);
    }
  }
}

}  // namespace transpose_test
