// SPDX-License-Identifier: MIT
#include <posgeo/core/tensor.hpp>

#include <algorithm>
#include <concepts>
#include <random>
#include <set>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::random_values;
using posgeo::test::refusal;

/// The addresses of all elements of a view.
template <class T>
std::set<const T*> elements(const heads_view<T>& view) {
  std::set<const T*> all;
  for (index_t b = 0; b < view.extent(0); ++b) {
    for (index_t h = 0; h < view.extent(1); ++h) {
      for (index_t r = 0; r < view.extent(2); ++r) {
        for (const T& element : view.row(b, h, r)) all.insert(&element);
      }
    }
  }
  return all;
}

/// A view with random extents and strides, negative ones too, that stays within memory.
heads_view<float> random_view(std::vector<float>& memory, std::mt19937_64& engine) {
  const auto between = [&](index_t low, index_t high) {
    return std::uniform_int_distribution<index_t>(low, high)(engine);
  };
  const std::array<index_t, 4> extents{between(1, 3), between(1, 3), between(1, 4), between(1, 5)};
  const std::array<index_t, 3> strides{between(-20, 20), between(-20, 20), between(-20, 20)};
  const index_t middle = static_cast<index_t>(memory.size()) / 2;
  return {memory.data() + between(middle - 60, middle + 60), extents, strides};
}

TEST_CASE("a view loses the right to write and never gains it", "[tensor]") {
  STATIC_REQUIRE(std::constructible_from<heads_view<const float>, heads_view<float>>);
  STATIC_REQUIRE(!std::constructible_from<heads_view<float>, heads_view<const float>>);
  STATIC_REQUIRE(!std::constructible_from<heads_view<const double>, heads_view<float>>);
}

TEST_CASE("rows first and heads first name the same elements of the same tensor", "[tensor]") {
  constexpr index_t batch = 2;
  constexpr index_t heads = 3;
  constexpr index_t rows = 5;
  constexpr index_t dim = 7;
  auto projected = random_values<float>(batch * rows * heads * dim, 1);
  std::vector<float> transposed(projected.size());
  const auto strided = rows_first(projected.data(), batch, rows, heads, dim);
  const auto dense = heads_first(transposed.data(), batch, heads, rows, dim);
  REQUIRE(strided.extents() == dense.extents());
  for (index_t b = 0; b < batch; ++b) {
    for (index_t h = 0; h < heads; ++h) {
      for (index_t r = 0; r < rows; ++r) {
        const float* expected = projected.data() + ((b * rows + r) * heads + h) * dim;
        REQUIRE(strided.row(b, h, r).data() == expected);
        REQUIRE(strided.row(b, h, r).size() == dim);
        std::copy_n(expected, dim, transposed.data() + ((b * heads + h) * rows + r) * dim);
        REQUIRE(std::ranges::equal(dense.row(b, h, r), strided.row(b, h, r)));
      }
    }
  }
  CHECK(elements(strided).size() == projected.size());
}

TEST_CASE("a footprint is the hull of the elements", "[tensor]") {
  std::mt19937_64 engine(7);
  std::vector<float> memory(800);
  for (int round = 0; round < 200; ++round) {
    const auto view = random_view(memory, engine);
    const auto touched = elements(view);
    REQUIRE(view.footprint().data() == *touched.begin());
    REQUIRE(view.footprint().data() + view.footprint().size() == *touched.rbegin() + 1);
  }
  CHECK(heads_view<float>(memory.data(), {2, 0, 3, 4}).footprint().empty());
  CHECK(heads_view<float>{}.footprint().empty());
}

TEST_CASE("views overlap exactly when their footprints meet", "[tensor]") {
  std::mt19937_64 engine(23);
  std::vector<float> memory(800);
  int apart = 0;
  int sharing = 0;
  for (int round = 0; round < 300; ++round) {
    const auto a = random_view(memory, engine);
    const auto b = random_view(memory, engine);
    const auto in_a = elements(a);
    const auto in_b = elements(b);
    const bool disjoint_hulls = *in_a.rbegin() < *in_b.begin() || *in_b.rbegin() < *in_a.begin();
    const bool shared = std::ranges::any_of(in_a, [&](const float* p) { return in_b.contains(p); });
    REQUIRE(overlap(a, b) == !disjoint_hulls);
    REQUIRE(overlap(b, a) == overlap(a, b));
    if (shared) REQUIRE(overlap(a, b));
    apart += disjoint_hulls ? 1 : 0;
    sharing += shared ? 1 : 0;
  }
  CHECK(apart > 10);
  CHECK(sharing > 10);
}

TEST_CASE("neighbours and empty views do not overlap and a shared element does", "[tensor]") {
  std::vector<float> memory(48);
  const heads_view<float> low(memory.data(), {1, 2, 3, 4});
  const heads_view<const float> high(memory.data() + 24, {1, 2, 3, 4});
  const heads_view<const float> across(memory.data() + 23, {1, 2, 3, 4});
  CHECK_FALSE(overlap(low, high));
  CHECK_FALSE(overlap(high, low));
  CHECK(overlap(low, across));
  CHECK(overlap(low, states_view<float>(memory.data() + 23, {1, 1, 1})));
  CHECK_FALSE(overlap(low, heads_view<float>(memory.data() + 5, {1, 0, 3, 4})));
}

TEST_CASE("views of a fused query key value buffer read their own parts", "[tensor]") {
  constexpr index_t batch = 2;
  constexpr index_t rows = 5;
  constexpr index_t heads = 3;
  constexpr index_t dim = 4;
  constexpr index_t width = 3 * heads * dim;
  auto fused = random_values<float>(batch * rows * width, 9);
  const auto part = [&](index_t which) {
    return heads_view<float>(fused.data() + which * heads * dim, {batch, heads, rows, dim}, {rows * width, dim, width});
  };
  std::set<const float*> seen;
  for (const index_t which : {0, 1, 2}) {
    const auto own = elements(part(which));
    REQUIRE(own.size() == batch * rows * heads * dim);
    seen.insert(own.begin(), own.end());
    CHECK(part(which).row(1, 2, 4).data() == fused.data() + (rows + 4) * width + which * heads * dim + 2 * dim);
  }
  CHECK(seen.size() == fused.size());  // every element once
  // Interleaved parts share no element, but their footprints meet; output memory must be apart from all of them.
  CHECK(overlap(part(0), part(1)));
  CHECK(overlap(part(2), part(0)));
  auto output = random_values<float>(batch * rows * heads * dim, 10);
  CHECK_FALSE(overlap(part(0), rows_first(output.data(), batch, rows, heads, dim)));
}

TEST_CASE("row offsets are 64-bit products", "[tensor]") {
  float dummy = 0.0F;
  constexpr index_t million = index_t{1} << 20;
  const heads_view<float> dense(&dummy, {million, 1024, 1024, 64});
  CHECK(dense.row_offset(million - 1, 1023, 1023) == (index_t{1} << 46) - 64);
  CHECK(dense.row_offset(1, 0, 0) == index_t{1} << 26);
  const heads_view<float> back(&dummy, {2, 2, 2, 64}, {-(index_t{1} << 40), 3, index_t{1} << 33});
  CHECK(back.row_offset(1, 1, 1) == -(index_t{1} << 40) + 3 + (index_t{1} << 33));
  const auto plain_int = [&](int b, int h, int r) { return dense.row_offset(b, h, r); };
  CHECK(plain_int(1 << 19, 1000, 1000) == (index_t{1} << 45) + 1000 * 65536 + 1000 * 64);
}

TEST_CASE("views and tensors refuse negative extents and null memory", "[tensor]") {
  float dummy = 0.0F;
  using view = states_view<float>;
  CHECK(refusal([&] { return view(&dummy, {1, -1, 1}); }).code() == errc::shape_mismatch);
  CHECK(refusal([&] { return view(nullptr, {1, 1, 1}); }).code() == errc::shape_mismatch);
  CHECK_NOTHROW(view(nullptr, {1, 0, 1}));
  CHECK(refusal([&] { return tensor<float, 2>({3, -1}); }).code() == errc::shape_mismatch);
}

TEST_CASE("a tensor is zero at first and row-major", "[tensor]") {
  tensor<double, 3> t({2, 3, 5});
  CHECK(std::ranges::all_of(t.values(), [](double value) { return value == 0.0; }));
  t(1, 2, 3) = 4.5;
  CHECK(t.values()[(1 * 3 + 2) * 5 + 3] == 4.5);
  CHECK(t.view().row(1, 2)[3] == 4.5);
  CHECK(std::as_const(t).view().data() == t.values().data());
}

TEST_CASE("extents and strides beyond 63 bits are refused", "[tensor]") {
  constexpr index_t half = index_t{1} << 32;
  float dummy = 0.0F;
  CHECK(refusal([&] { return tensor<float, 4>({half, half, 1, 1}); }).code() == errc::shape_mismatch);
  CHECK(refusal([&] { return states_view<float>(&dummy, {half, half, 2}); }).code() == errc::shape_mismatch);
  CHECK(refusal([&] {
          return states_view<float>(&dummy, {2, 3, 1}, {half, position_limit});
        }).code() == errc::shape_mismatch);
  CHECK_NOTHROW(states_view<float>(&dummy, {2, 3, 1}, {half, -half}));
}

TEST_CASE("rows are apart unless strides fold them onto each other", "[tensor]") {
  float memory[64] = {};
  CHECK(heads_first(memory, 2, 2, 4, 4).rows_apart());
  CHECK(rows_first(memory, 2, 4, 2, 4).rows_apart());
  CHECK(heads_view<float>(memory, {1, 2, 2, 4}, {99, 4, 24}).rows_apart());  // a part of a fused projection
  CHECK(states_view<float>(memory + 60, {2, 3, 4}, {-16, -4}).rows_apart());
  CHECK_FALSE(states_view<float>(memory, {1, 2, 4}, {8, 0}).rows_apart());
  CHECK_FALSE(states_view<float>(memory, {1, 2, 4}, {8, 3}).rows_apart());
  CHECK_FALSE(states_view<float>(memory, {2, 3, 4}, {4, 4}).rows_apart());
  CHECK(states_view<float>(memory, {1, 1, 4}, {0, 0}).rows_apart());
}

}  // namespace
