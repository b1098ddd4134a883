// SPDX-License-Identifier: MIT
#include <posgeo/core/head_slice.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace head_slice_test {

using namespace posgeo;
using posgeo::test::refusal;

constexpr heads grouped{.query = 6, .key_value = 3, .dim = 5};

std::string refused(const heads& whole, std::vector<index_t> query_heads) {
  const error thrown = refusal([&] { (void)head_slice(whole, std::move(query_heads)); });
  CHECK(thrown.code() == errc::head_partition);
  return thrown.what();
}

TEST_CASE("a slice names the global heads of a part in its own order", "[head_slice]") {
  const head_slice slice(grouped, {5, 4, 0, 1});
  CHECK(slice.layout().query == 4);
  CHECK(slice.layout().key_value == 2);
  CHECK(slice.layout().dim == 5);
  CHECK(slice.key_heads() == std::vector<index_t>{2, 0});
  for (index_t n = 0; n < 4; ++n) {  // the local head reads the local copy of its global key head
    const index_t local = key_head(slice.layout(), head_index{n});
    CHECK(slice.key_heads()[static_cast<std::size_t>(local)] ==
          key_head(grouped, head_index{slice.global(head_index{n})}));
  }
}

TEST_CASE("a slice may hold a share of a key head", "[head_slice]") {
  const head_slice slice(grouped, {3, 0});
  CHECK(slice.key_heads() == std::vector<index_t>{1, 0});
  CHECK(slice.layout().key_value == 2);
}

TEST_CASE("a slice refuses heads that are no part", "[head_slice]") {
  CHECK(refused(grouped, {}) == "head slice, query heads: expected at least 1, got none");
  CHECK(refused(grouped, {0, 6}) == "head slice, local head 1: expected one of the query heads 0..5, got 6");
  CHECK(refused(grouped, {-1}) == "head slice, local head 0: expected one of the query heads 0..5, got -1");
  CHECK(refused(grouped, {1, 0, 1}) == "head slice, query heads: expected each once, got head 1 twice");
  CHECK(refused(grouped, {0, 2, 1}) ==
        "head slice, query heads of key head 0: expected next to one another, got apart");
  CHECK(refused(grouped, {0, 1, 2}) == "head slice, query heads of key head 1: expected 2, as of key head 0, got 1");
  CHECK(refusal([] { (void)head_slice({.query = 5, .key_value = 3, .dim = 4}, {0}); }).code() == errc::head_count);
}

TEST_CASE("slices are equal if whole, heads and order are", "[head_slice]") {
  const head_slice slice(grouped, {0, 1, 4, 5});
  CHECK(slice == head_slice(grouped, {0, 1, 4, 5}));
  for (const head_slice& other : {head_slice(grouped, {4, 5, 0, 1}), head_slice(grouped, {0, 1}),
                                  head_slice({.query = 6, .key_value = 3, .dim = 4}, {0, 1, 4, 5}),
                                  head_slice({.query = 12, .key_value = 6, .dim = 5}, {0, 1, 4, 5}),
                                  head_slice({.query = 6, .key_value = 1, .dim = 5}, {0, 1, 4, 5})}) {
    CHECK_FALSE(slice == other);
    CHECK_FALSE(slice.describe() == other.describe());
  }
  CHECK(slice.describe() == head_slice(grouped, {0, 1, 4, 5}).describe());
}

}  // namespace head_slice_test
