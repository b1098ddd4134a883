// SPDX-License-Identifier: MIT
#include <posgeo/core/description_diff.hpp>

#include <limits>
#include <optional>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace description_diff_test {

using namespace posgeo;
using namespace posgeo::test;

std::vector<std::string> said(const description& made, const description& wanted) {
  violations found;
  differences(made, wanted, errc::manifest, "manifest", found);
  std::vector<std::string> all;
  for (const violation& v : found) {
    CHECK(v.code == errc::manifest);
    all.push_back(v.message);
  }
  CHECK(all.empty() == (made == wanted));
  return all;
}

using sentences = std::vector<std::string>;

description rule(double base) { return description("geometric").with("base", base).with("rotary_dim", 64); }

/// A description with one field of the given value.
template <class Value>
description one(const Value& value) {
  return description("toy").with("field", value);
}

TEST_CASE("equal descriptions have no differences", "[description_diff]") {
  CHECK(said(one(rule(500.0)), one(rule(500.0))).empty());
  CHECK(said(description("none"), description("none")).empty());
}

TEST_CASE("a field inside a rule is named by its path", "[description_diff]") {
  const auto rotary = [](double base) {
    return description("rotary").with("rule", rule(base)).with("pairs", "halves");
  };
  CHECK(said(rotary(10000.0), rotary(500000.0)) ==
        sentences{"manifest, rotary, rule, base: expected 500000, got 10000"});
  CHECK(said(description("alibi"), rotary(10.0)) == sentences{"manifest, mechanism: expected rotary, got alibi"});
  CHECK(said(one(rule(1.0)), one(description("yarn"))) ==
        sentences{"manifest, toy, field: expected yarn, got geometric"});
}

TEST_CASE("every field that differs is named once", "[description_diff]") {
  const auto made = description("toy").with("a", 1).with("b", 2).with("c", 3);
  const auto wanted = description("toy").with("a", 5).with("b", 2).with("d", 4);
  CHECK(said(made, wanted) == sentences{"manifest, toy, a: expected 5, got 1",
                                        "manifest, toy, d: expected 4, got no such field",
                                        "manifest, toy, c: expected no such field, got 3"});
  const auto turned = description("toy").with("b", 2).with("a", 1).with("c", 3);
  CHECK(said(made, turned) == sentences{"manifest, toy, order of fields: expected b, a, c, got a, b, c"});
}

TEST_CASE("values of two kinds say their kinds", "[description_diff]") {
  CHECK(said(one(10000), one(10000.0)) == sentences{"manifest, toy, field: expected number 10000, got integer 10000"});
  CHECK(said(one("7"), one(7)) == sentences{"manifest, toy, field: expected integer 7, got text 7"});
  const std::optional<index_t> nothing;
  CHECK(said(one(nothing), one(std::optional<index_t>(0))) == sentences{"manifest, toy, field: expected 0, got none"});
  CHECK(said(one(std::vector<index_t>{1, 2}), one(std::vector<double>{1.0, 2.0})) ==
        sentences{"manifest, toy, field: expected numbers [1, 2], got integers [1, 2]"});
  CHECK(said(one(rule(2.0)), one(std::vector<description>{rule(2.0)})).size() == 1);
}

TEST_CASE("numbers that differ in the last bit are told apart", "[description_diff]") {
  const double next = std::nextafter(0.1, 1.0);
  const auto all = said(one(0.1), one(next));
  REQUIRE(all.size() == 1);
  CHECK(all[0] == fmt::format("manifest, toy, field: expected {}, got 0.1", next));
}

TEST_CASE("of a list the first other element is named", "[description_diff]") {
  CHECK(said(one(std::vector<index_t>{3, 1, 2}), one(std::vector<index_t>{3, 4, 5})) ==
        sentences{"manifest, toy, field, element 1: expected 4, got 1"});
  CHECK(said(one(std::vector<double>{0.5}), one(std::vector<double>{0.5, 0.25})) ==
        sentences{"manifest, toy, field: expected 2 elements, got 1 elements"});
}

TEST_CASE("of a table the extents the format and the first other value are named", "[description_diff]") {
  const std::vector<float> numbers{0.5f, -1.0f, 2.0f, 0.25f, 8.0f, -4.0f};
  auto others = numbers;
  others[5] = -3.0f;
  const auto as = [](const std::vector<float>& values, std::vector<index_t> extents) {
    return one(described_table(table<float>(values, 6, 1), std::move(extents)));
  };
  CHECK(said(as(numbers, {3, 2}), as(numbers, {3, 2})).empty());
  CHECK(said(as(others, {3, 2}), as(numbers, {3, 2})) ==
        sentences{"manifest, toy, field, value [2, 1]: expected -4, got -3"});
  CHECK(said(as(numbers, {3, 2}), as(numbers, {2, 3})) ==
        sentences{"manifest, toy, field: expected a table [2, 3], got a table [3, 2]"});
  const std::vector<double> wide(numbers.begin(), numbers.end());
  CHECK(said(as(numbers, {3, 2}), one(described_table(table<double>(wide, 3, 2)))) ==
        sentences{"manifest, toy, field: expected binary64, got binary32"});
  const std::vector<index_t> whole{1, 2};
  const std::vector<index_t> large{1, (index_t{1} << 62) - 1};
  CHECK(said(one(described_table(table<index_t>(whole, 1, 2))), one(described_table(table<index_t>(large, 1, 2)))) ==
        sentences{fmt::format("manifest, toy, field, value [0, 1]: expected {}, got 2", large[1])});
}

TEST_CASE("policies are compared place by place", "[description_diff]") {
  const auto all = [](const std::vector<description>& made, const std::vector<description>& wanted) {
    violations found;
    differences(made, wanted, errc::cache_identity, "cache", found);
    CHECK(found.empty() == (made == wanted));
    sentences messages;
    for (const violation& v : found) messages.push_back(v.message);
    return messages;
  };
  const description causal("causal");
  CHECK(all({rule(2.0), causal}, {rule(2.0), causal}).empty());
  CHECK(all({rule(2.0), causal}, {rule(3.0), causal}) == sentences{"cache, geometric, base: expected 3, got 2"});
  CHECK(all({rule(2.0), causal}, {causal, rule(2.0)}) == sentences{"cache, policy 0: expected causal, got geometric",
                                                                   "cache, policy 1: expected geometric, got causal"});
  CHECK(all({causal}, {rule(2.0), causal}) ==
        sentences{"cache, policies: expected 2 (geometric, causal), got 1 (causal)"});
  CHECK(said(one(std::vector<description>{rule(2.0)}), one(std::vector<description>{rule(4.0)})) ==
        sentences{"manifest, toy, field 0, base: expected 4, got 2"});
}

}  // namespace description_diff_test
