// SPDX-License-Identifier: MIT
#include <posgeo/core/heads.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::codes;

std::vector<errc> refusals(const heads& layout) {
  violations found;
  check(layout, found);
  return codes(found);
}

TEST_CASE("neighbouring query heads share a key head", "[heads]") {
  const heads layout{.query = 14, .key_value = 2, .dim = 64};
  for (const head_index h : indices<head_index>(14)) CHECK(key_head(layout, h) == (h.value() < 7 ? 0 : 1));
  for (const index_t key_value : {1, 2, 3, 5, 8}) {
    for (const index_t group : {1, 2, 7}) {
      const heads grouped{.query = key_value * group, .key_value = key_value, .dim = 3};
      REQUIRE(refusals(grouped).empty());
      for (const head_index h : indices<head_index>(grouped.query)) {
        REQUIRE(key_head(grouped, h) == h.value() * key_value / grouped.query);
      }
    }
  }
}

TEST_CASE("impossible head layouts are refused", "[heads]") {
  using expected = std::vector<errc>;
  CHECK(refusals({.query = 14, .key_value = 4, .dim = 64}) == expected{errc::head_count});
  CHECK(refusals({.query = 2, .key_value = 4, .dim = 64}) == expected{errc::head_count});
  CHECK(refusals({.query = 0, .key_value = 1, .dim = 64}) == expected{errc::head_count});
  CHECK(refusals({.query = 1, .key_value = 0, .dim = 64}) == expected{errc::head_count});
  CHECK(refusals({.query = -4, .key_value = -2, .dim = 64}) == expected{errc::head_count, errc::head_count});
  CHECK(refusals({.query = 4, .key_value = 2, .dim = 0}) == expected{errc::shape_mismatch});
  CHECK(refusals({.query = 3, .key_value = 2, .dim = -1}) == expected{errc::shape_mismatch, errc::head_count});
}

TEST_CASE("a head layout too large for any tensor is refused", "[heads]") {
  violations found;
  check(heads{.query = index_t{1} << 62, .key_value = 1, .dim = index_t{1} << 62}, found);
  CHECK(posgeo::test::codes(found) == std::vector{errc::head_count, errc::shape_mismatch});
}

}  // namespace
