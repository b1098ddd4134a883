// SPDX-License-Identifier: MIT
#include <posgeo/core/entry_list.hpp>

#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using namespace posgeo;

TEST_CASE("an entry list holds what was made, once for each entry and in order", "[entry_list]") {
  const auto expected = posgeo::test::random_values<double>(100, 5);
  for (const index_t count : {0, 1, 7, 8, 9, 100}) {
    std::vector<index_t> made;
    const entry_list<double> list(count, [&](index_t b) {
      made.push_back(b);
      return expected[static_cast<std::size_t>(b)];
    });
    REQUIRE(list.size() == count);
    REQUIRE(static_cast<index_t>(made.size()) == count);
    for (index_t b = 0; b < count; ++b) {
      REQUIRE(made[static_cast<std::size_t>(b)] == b);
      REQUIRE(list[b] == expected[static_cast<std::size_t>(b)]);
    }
  }
}

TEST_CASE("a negative count makes an empty entry list", "[entry_list]") {
  CHECK(entry_list<double>(-1, [](index_t) { return 1.0; }).size() == 0);
  CHECK(entry_list<double>{}.size() == 0);
}

TEST_CASE("short entry lists copy in place and long ones share", "[entry_list]") {
  const auto square = [](index_t b) { return static_cast<double>(b * b + 1); };
  const entry_list<double> few(entry_list<double>::in_place, square);
  const entry_list<double> many(entry_list<double>::in_place + 1, square);
  const auto few_copy = few;
  const auto many_copy = many;
  CHECK(&few_copy[0] != &few[0]);
  CHECK(&many_copy[0] == &many[0]);
  for (index_t b = 0; b < few.size(); ++b) CHECK(few_copy[b] == few[b]);
}

}  // namespace
