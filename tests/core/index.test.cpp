// SPDX-License-Identifier: MIT
#include <posgeo/core/index.hpp>

#include <algorithm>
#include <concepts>
#include <limits>
#include <random>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace posgeo;

template <class A, class B>
concept comparable = requires(A a, B b) {
  a < b;
};
template <class A, class B>
concept subtractable = requires(A a, B b) {
  a - b;
};

template <class A, class B>
inline constexpr bool apart = !std::constructible_from<A, B> && !std::assignable_from<A&, B> && !comparable<A, B>;

template <class A, class... Others>
inline constexpr bool mixes_with_none = ((std::same_as<A, Others> || apart<A, Others>)&&...);

template <class... All>
inline constexpr bool never_mix = (mixes_with_none<All, All...> && ...);

TEST_CASE("strong indices do not mix with each other or with plain integers", "[index]") {
  STATIC_REQUIRE(never_mix<batch_index, head_index, query_index, key_index, position, relative_offset>);
  STATIC_REQUIRE(comparable<query_index, query_index>);
  STATIC_REQUIRE(!std::convertible_to<index_t, query_index>);
  STATIC_REQUIRE(!std::convertible_to<query_index, index_t>);
  STATIC_REQUIRE(!comparable<query_index, index_t>);
  STATIC_REQUIRE(!subtractable<position, position>);
  STATIC_REQUIRE(sizeof(key_index) == sizeof(index_t));
}

TEST_CASE("strong indices keep, order and count their value", "[index]") {
  std::mt19937_64 engine(3);
  std::uniform_int_distribution<index_t> any(-position_limit, position_limit);
  for (int round = 0; round < 100; ++round) {
    const index_t a = any(engine);
    const index_t b = any(engine);
    REQUIRE(position{a}.value() == a);
    REQUIRE((position{a} < position{b}) == (a < b));
    REQUIRE((position{a} == position{b}) == (a == b));
    key_index next{a};
    REQUIRE((++next).value() == a + 1);
  }
  CHECK(query_index{}.value() == 0);
}

TEST_CASE("indices counts each index of a range once", "[index]") {
  const auto counted = [](indices<key_index> range) {
    std::vector<index_t> values;
    for (const key_index j : range) values.push_back(j.value());
    return values;
  };
  CHECK(counted(indices<key_index>(3)) == std::vector<index_t>{0, 1, 2});
  CHECK(counted(indices<key_index>(key_index{-1}, key_index{2})) == std::vector<index_t>{-1, 0, 1});
  CHECK(counted(indices<key_index>(0)).empty());
  CHECK(counted(indices<key_index>(-4)).empty());
  CHECK(counted(indices<key_index>(key_index{5}, key_index{3})).empty());
}

TEST_CASE("offsets are key minus query and turn under the other sign", "[index]") {
  for (const index_t offset : {index_t{-512}, index_t{0}, index_t{3}, 2 * position_limit, -2 * position_limit}) {
    CHECK(signed_offset(relative_offset{offset}, offset_sign::key_minus_query) == offset);
    CHECK(signed_offset(relative_offset{offset}, offset_sign::query_minus_key) == -offset);
  }
}

TEST_CASE("no difference of two legal positions overflows", "[index]") {
  index_t difference = 0;
  CHECK_FALSE(__builtin_sub_overflow(position_limit, -position_limit, &difference));
  CHECK_FALSE(__builtin_sub_overflow(-position_limit, position_limit, &difference));
  index_t one_past = 0;
  CHECK_FALSE(__builtin_add_overflow(2 * position_limit, 1, &one_past));
}

TEST_CASE("saturating sums stop at the ends of 64 bits", "[index]") {
  constexpr index_t least = std::numeric_limits<index_t>::min();
  constexpr index_t most = std::numeric_limits<index_t>::max();
  __extension__ using wide = __int128;
  const index_t ends[] = {least, least + 1, -7, 0, 3, most - 1, most};
  for (const index_t a : ends) {
    for (const index_t b : ends) {
      const auto clamped = [](wide exact) { return static_cast<index_t>(std::clamp<wide>(exact, least, most)); };
      CHECK(saturating_add(a, b) == clamped(static_cast<wide>(a) + b));
      CHECK(saturating_subtract(a, b) == clamped(static_cast<wide>(a) - b));
    }
  }
}

TEST_CASE("key ranges are equal when both ends are", "[index]") {
  CHECK(key_range{key_index{2}, key_index{5}} == key_range{key_index{2}, key_index{5}});
  CHECK_FALSE(key_range{key_index{2}, key_index{5}} == key_range{key_index{2}, key_index{4}});
  CHECK_FALSE(key_range{key_index{2}, key_index{5}} == key_range{key_index{1}, key_index{5}});
}

}  // namespace
