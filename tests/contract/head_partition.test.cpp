// SPDX-License-Identifier: MIT
#include <posgeo/contract/head_partition.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace head_partition_test {

using namespace posgeo;
using contract::check_whole;
using contract::head_partition;
using contract::key_head_rule;
using posgeo::test::codes;
using posgeo::test::refusal;
using lists = std::vector<std::vector<index_t>>;

constexpr heads grouped{.query = 6, .key_value = 3, .dim = 5};

std::string refused(const auto& make) {
  const error thrown = refusal(make);
  CHECK(thrown.code() == errc::head_partition);
  return thrown.what();
}
std::string refused(const lists& query_heads, key_head_rule rule) {
  return refused([&] { (void)head_partition(grouped, query_heads, rule); });
}
std::vector<index_t> heads_of(const head_partition& partition, index_t part) {
  return partition.part(part).query_heads();
}

TEST_CASE("an even partition gives each part neighbouring heads", "[head_partition]") {
  const auto partition = head_partition::even(grouped, 3, key_head_rule::owned);
  REQUIRE(partition.size() == 3);
  CHECK(heads_of(partition, 0) == std::vector<index_t>{0, 1});
  CHECK(heads_of(partition, 2) == std::vector<index_t>{4, 5});
  CHECK(partition.part(2).key_heads() == std::vector<index_t>{2});
  CHECK(head_partition::even(grouped, 1, key_head_rule::owned).part(0).layout().key_value == 3);
  const auto alone = head_partition::even(grouped, 6, key_head_rule::replicated);
  for (index_t p = 0; p < 6; ++p) {
    CHECK(heads_of(alone, p) == std::vector<index_t>{p});
    CHECK(alone.part(p).key_heads() == std::vector<index_t>{p / 2});
  }
}

TEST_CASE("an explicit partition may be uneven and in any order", "[head_partition]") {
  const head_partition partition(grouped, {{5, 4, 0, 1}, {2, 3}}, key_head_rule::owned);
  CHECK(partition.part_with(head_index{5}) == 0);
  CHECK(partition.part_with(head_index{2}) == 1);
  CHECK(partition.rule() == key_head_rule::owned);
  CHECK(partition.whole().query == 6);
  CHECK(refused([&] { (void)partition.part(2); }) == "head partition, part: expected 0..1, got 2");
  CHECK(refused([&] { (void)partition.part(-1); }) == "head partition, part: expected 0..1, got -1");
  CHECK(refused([&] { (void)partition.part_with(head_index{6}); }) ==
        "head partition, query head: expected 0..5, got 6");
}

TEST_CASE("parts that are no whole are refused", "[head_partition]") {
  CHECK(refused({{0, 1}, {4, 5}}, key_head_rule::owned) ==
        "head partition, parts with query head 2: expected 1, got 0");
  CHECK(refused({{1}, {4}}, key_head_rule::owned) ==
        "head partition, parts with query head 0: expected 1, got 0; head partition, parts with query head 2: expected "
        "1, got 0; head partition, parts with query head 5: expected 1, got 0");
  CHECK(refused({{0, 1, 2, 3}, {2, 3, 4, 5}}, key_head_rule::replicated) ==
        "head partition, parts with query head 2: expected 1, got 2; head partition, parts with query head 3: expected "
        "1, got 2");
  CHECK(refused(lists{}, key_head_rule::owned) == "head partition, parts with query head 0: expected 1, got 0");
  const heads vast{.query = index_t{1} << 31, .key_value = 1, .dim = 3};
  CHECK(refused([&] {
          (void)head_partition(vast, {{7}}, key_head_rule::owned);
        }).starts_with("head partition, parts with query head 0: expected 1, got 0"));
  CHECK(refused([&] { (void)head_partition::even(vast, 2, key_head_rule::replicated); }) ==
        "head partition, query heads to share out: expected at most 2^20, got 2147483648");
}

TEST_CASE("a key head has one owner unless replication is chosen", "[head_partition]") {
  const lists shared{{0, 2}, {1, 3}, {4, 5}};
  CHECK(refused(shared, key_head_rule::owned) ==
        "head partition, parts with key head 0: expected 1 (or key_head_rule::replicated), got 2; head partition, "
        "parts with key head 1: expected 1 (or key_head_rule::replicated), got 2");
  CHECK(head_partition(grouped, shared, key_head_rule::replicated).size() == 3);
}

TEST_CASE("an even partition refuses what is not even", "[head_partition]") {
  for (const index_t parts : {index_t{4}, index_t{0}, index_t{-2}, index_t{7}}) {
    CHECK(refused([&] { (void)head_partition::even(grouped, parts, key_head_rule::replicated); }) ==
          fmt::format("head partition, parts: expected a divisor of 6 query heads (or explicit lists), got {}", parts));
  }
  CHECK(refused([] {
          (void)head_partition::even(grouped, 2, key_head_rule::owned);
        }).starts_with("head slice, query heads of key head 1: expected 2"));
  CHECK(refusal([] {
          (void)head_partition::even({.query = 5, .key_value = 2, .dim = 3}, 5, key_head_rule::owned);
        }).code() == errc::head_count);
}

TEST_CASE("slices of another whole are no part of this one", "[head_partition]") {
  const heads other{.query = 6, .key_value = 3, .dim = 4};
  const std::vector<head_slice> parts{head_slice(grouped, {0, 1}), head_slice(other, {2, 3}),
                                      head_slice(grouped, {4, 5})};
  const violations found = check_whole(grouped, parts, key_head_rule::owned);
  REQUIRE(codes(found) == std::vector{errc::head_partition});
  CHECK(found.front().message ==
        "head partition, whole of part 1: expected 6 query heads, 3 key heads, head_dim 5, got 6 query heads, 3 key "
        "heads, head_dim 4");
  CHECK(codes(check_whole({.query = 5, .key_value = 2, .dim = 3}, parts, key_head_rule::owned)) ==
        std::vector{errc::head_count});
  CHECK(refusal([&] { contract::require_whole(grouped, parts, key_head_rule::owned); }).code() == errc::head_partition);
}

TEST_CASE("heads in another order are refused by name", "[head_partition]") {
  const head_slice wanted(grouped, {0, 1, 4, 5});
  CHECK_NOTHROW(contract::require_same_heads(head_slice(grouped, {0, 1, 4, 5}), wanted, "table"));
  const auto said = [&](const head_slice& made) {
    return refused([&] { contract::require_same_heads(made, wanted, "table"); });
  };
  CHECK(said(head_slice(grouped, {0, 1, 5, 4})) == "table, global head of local head 2: expected 4, got 5");
  CHECK(said(head_slice(grouped, {0, 1})) == "table, query heads: expected 4, got 2");
  CHECK(said(head_slice({.query = 6, .key_value = 6, .dim = 5}, {0, 1, 4, 5})) ==
        "table, whole: expected 6 query heads, 3 key heads, head_dim 5, got 6 query heads, 6 key heads, head_dim 5");
  CHECK(said(head_slice({.query = 6, .key_value = 3, .dim = 7}, {0, 1, 4, 5})) ==
        "table, whole: expected 6 query heads, 3 key heads, head_dim 5, got 6 query heads, 3 key heads, head_dim 7");
}

}  // namespace head_partition_test
