// SPDX-License-Identifier: MIT
#include <posgeo/manifest/diff.hpp>

#include "support/catch.hpp"
#include "support/manifests.hpp"
#include "support/random_calls.hpp"

namespace manifest_diff_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::manifest;

position_call_record record_of_call(const position_call& call, std::vector<description> method = {}) {
  method.push_back(description("causal").with("family", "visibility"));
  return of(call, {.query = 6, .key_value = 2, .dim = 4}, method, element_type::float32, stated_for(call),
            plain_hash{});
}
std::vector<std::string> sentences(const position_call_record& a, const position_call_record& b) {
  std::vector<std::string> all;
  for (const difference& one : diff(a, b)) all.push_back(one.sentence());
  return all;
}
using words = std::vector<std::string>;

TEST_CASE("equal records differ in nothing and others in something", "[manifest]") {
  const auto calls = random_calls(8601);
  for (std::size_t n = 0; n + 1 < calls.size(); ++n) {
    const auto a = record_of_call(calls[n]);
    const auto b = record_of_call(calls[n + 1]);
    REQUIRE(diff(a, a).empty());
    REQUIRE(diff(a, b).empty() == (a == b));
    REQUIRE(diff(a, b).size() == diff(b, a).size());
  }
}

TEST_CASE("a query that was reset is told from one that was not", "[manifest]") {
  auto right = record_of_call(call::decode_step(512, 512));
  auto wrong = right;
  wrong.query_space.entries[0].logical_positions = {{0, 1, 1}};
  CHECK(sentences(right, wrong) == words{"query space, entry 0, logical positions, first: 512 against 0"});
}

TEST_CASE("entries lists and absent values are told", "[manifest]") {
  const std::vector<index_t> lengths{3, 2, 4};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 5,
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::fixed(7, 1)});
  const auto a = record_of_call(call);
  auto b = a;
  b.key_space.entries[1].logical_positions[0].first = 0;
  CHECK(sentences(a, b) == words{"key space, entry 1, logical positions, element 0, first: 7 against 0"});
  b = a;
  b.row_space.key.entries[2].active_token_per_row[1].value = activity::token;
  CHECK(sentences(a, b) ==
        words{"row space, key, entry 2, active token per row, element 1, value: padding against token"});
  b = a;
  b.request.adapter_id = none;
  CHECK(sentences(a, b) == words{"request, adapter id: 'adapter 8' against none"});
  b = a;
  b.key_space.entries.pop_back();
  CHECK(sentences(a, b) == words{"key space, entries: a list of 3 against a list of 2"});
  CHECK(sentences(a, record_of_call(call::decode_step(2, 2))).size() == difference_list::most_kept);
}

TEST_CASE("settings of policies are told by their names", "[manifest]") {
  const auto call = call::decode_step(4, 4);
  const auto with = [&](const description& d) { return record_of_call(call, {d}); };
  const auto toy = [](auto x) { return description("toy").with("family", "score_bias").with("x", x); };
  const std::string at = "position method, method 0, policy, ";
  CHECK(sentences(with(toy(3)), with(toy(4))) == words{at + "x: 3 against 4"});
  CHECK(sentences(with(toy(3)), with(toy(3.0))) == words{at + "x: integer 3 against number 3"});
  CHECK(sentences(with(toy("a")), with(toy(std::optional<index_t>{}))) == words{at + "x: text 'a' against none"});
  CHECK(sentences(with(toy(std::vector<index_t>{1, 2})), with(toy(std::vector<index_t>{1, 5}))) ==
        words{at + "x, element 1: 2 against 5"});
  CHECK(sentences(with(toy(std::vector<double>{1})), with(toy(std::vector<double>{1, 5}))) ==
        words{at + "x: a list of 1 against a list of 2"});
  const auto rule = [&](index_t behind) { return toy(description("clipped").with("behind", behind)); };
  CHECK(sentences(with(rule(2)), with(rule(3))) == words{at + "x, behind: 2 against 3"});
  CHECK(sentences(with(toy(description("a"))), with(toy(description("b")))) == words{at + "x, name: a against b"});
  const auto more = [&] { return toy(3).with("y", 1); };
  CHECK(sentences(with(toy(3)), with(more())) == words{at + "y: no such setting against 1"});
}

}  // namespace manifest_diff_test
