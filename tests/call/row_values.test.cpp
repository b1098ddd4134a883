// SPDX-License-Identifier: MIT
#include <posgeo/call/row_values.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace row_values_test {

using namespace posgeo;
using namespace posgeo::test;

static_assert(names_parent<event> && !names_parent<media_time> && !names_parent<page_place>);

template <class Value>
std::vector<errc> found_in(const Value& value) {
  violations found;
  value.check("row", "value", found);
  return codes(found);
}

TEST_CASE("a box has its corners in order and finite", "[row_values]") {
  CHECK(found_in(document_box{3.5, -2, 3.5, 8}).empty());
  CHECK(found_in(document_box{4, 0, 3, 1}) == std::vector{errc::grid_bounds});
  CHECK(found_in(document_box{0, 1, 2, -1}) == std::vector{errc::grid_bounds});
  CHECK(found_in(document_box{0, 1, NAN, 2}) == std::vector{errc::non_finite});
  CHECK(found_in(document_box{0, 1, INFINITY, 2}) == std::vector{errc::non_finite});
}

TEST_CASE("cells and pages count from zero", "[row_values]") {
  constexpr index_t far = (index_t{1} << 31) + 1;
  CHECK(found_in(image_cell{0, far - 1}).empty());
  CHECK(found_in(page_place{3, 0}).empty());
  for (const index_t bad : {index_t{-1}, far, std::numeric_limits<index_t>::min()}) {
    CHECK(found_in(image_cell{bad, 0}) == std::vector{errc::grid_bounds});
    CHECK(found_in(image_cell{0, bad}) == std::vector{errc::grid_bounds});
    CHECK(found_in(page_place{bad, 0}) == std::vector{errc::grid_bounds});
    CHECK(found_in(page_place{0, bad}) == std::vector{errc::grid_bounds});
  }
}

TEST_CASE("a time is finite and does not last less than nothing", "[row_values]") {
  CHECK(found_in(media_time{-0.5, 0}).empty());
  CHECK(found_in(media_time{1, -0.02}) == std::vector{errc::negative_offset});
  CHECK(found_in(media_time{NAN, 1}) == std::vector{errc::non_finite});
}

TEST_CASE("an event is not its own parent and its timestamp is finite or absent", "[row_values]") {
  CHECK(found_in(event{.order = 3}).empty());
  CHECK(found_in(event{.order = 3, .timestamp = 1.5, .parent = 7}).empty());
  CHECK(found_in(event{.order = 3, .parent = 3}) == std::vector{errc::graph_structure});
  CHECK(found_in(event{.order = 3, .timestamp = std::numeric_limits<double>::infinity()}) ==
        std::vector{errc::non_finite});
}

TEST_CASE("values are equal if every part is", "[row_values]") {
  CHECK(image_cell{2, 5} == image_cell{2, 5});
  CHECK(image_cell{2, 5} != image_cell{5, 2});
  CHECK(page_place{1, 4} != page_place{1, 3});
  CHECK(document_box{0, 1, 2, 3} != document_box{0, 1, 2, 4});
  CHECK(event{.order = 1, .parent = 0} != event{.order = 1});
  CHECK(event{.order = 1, .status = event_status::failed} != event{.order = 1});
}

}  // namespace row_values_test
