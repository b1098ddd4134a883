// SPDX-License-Identifier: MIT
#include <posgeo/transform/axis_sections.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace axis_sections_test {

using namespace posgeo;
using namespace posgeo::test;
using sections = transform::axis_sections<3>;
using axes = std::vector<std::size_t>;

TEST_CASE("blocks give each axis neighbouring pairs", "[axis_sections]") {
  CHECK(sections::blocks({1, 3, 2}).axes(6) == axes{0, 1, 1, 1, 2, 2});
  CHECK(sections::blocks({0, 2, 1}).axes(3) == axes{1, 1, 2});
}

TEST_CASE("interleaved pairs go round the axes until one is used up", "[axis_sections]") {
  CHECK(sections::interleaved({4, 2, 2}).axes(8) == axes{0, 1, 2, 0, 1, 2, 0, 0});
  // the released sections of Qwen3-VL
  const axes released = sections::interleaved({24, 20, 20}).axes(64);
  for (std::size_t pair = 0; pair < 64; ++pair) CHECK(released[pair] == (pair < 60 ? pair % 3 : 0));
}

TEST_CASE("repeated ladders and parts of their own give every axis every speed", "[axis_sections]") {
  for (const auto& all : {sections::repeated(), sections::own_parts()}) {
    CHECK(all.axes(2) == axes{0, 0, 1, 1, 2, 2});
    CHECK(all.ladders() == 3);
  }
  CHECK(sections::blocks({1, 1, 1}).ladders() == 1);
}

TEST_CASE("axis sections refuse counts that are not those of the pairs", "[axis_sections]") {
  const auto refused = [](const sections& wrong, index_t rungs) {
    return refusal([&] { return wrong.axes(rungs); }).code() == errc::frequency_settings;
  };
  CHECK(refused(sections::blocks({1, 3, 2}), 7));
  CHECK(refused(sections::blocks({1, 3, 2}), 5));
  CHECK(refused(sections::blocks({7, -1, 0}), 6));
  for (const index_t far : {index_t{-1}, (index_t{1} << 20) + 1, index_t{1} << 62}) {
    CHECK(refused(sections::repeated(), far));
    CHECK(refused(sections::interleaved({0, 0, 0}), far));
  }
  CHECK(refused(sections::interleaved({4, 2, 2}), 9));
  CHECK(refused(sections::interleaved({2, 4, 2}), 8));  // the last pairs of axis 1 would be those of axis 0
}

}  // namespace axis_sections_test
