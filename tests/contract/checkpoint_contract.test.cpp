// SPDX-License-Identifier: MIT
#include <posgeo/contract/checkpoint_contract.hpp>

#include <functional>
#include <set>

#include "support/catch.hpp"
#include "support/checkpoints.hpp"
#include "support/refusal.hpp"

namespace checkpoint_contract_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;
using coordinate::beyond_ends;
using coordinate::beyond_max_position;
using coordinate::bucket_direction;
using coordinate::odd_buckets;

struct change {
  std::string field;
  std::function<void(checkpoint_contract&)> make;
};

t5_rule buckets(index_t count, index_t distance, bucket_direction direction, odd_buckets odd) {
  return t5_rule{{.num_buckets = count, .max_distance = distance, .direction = direction, .odd = odd}};
}

/// Changes of every field, and of every part of a field that has parts.
std::vector<change> changes() {
  constexpr auto both = bucket_direction::bidirectional;
  constexpr auto even = odd_buckets::refused;
  const auto rule = [](const auto& to) { return [to](checkpoint_contract& c) { c.rule = to; }; };
  return {
      {"family", [](auto& c) { c.family = checkpoint_family::learned_relative; }},
      {"revision", [](auto& c) { c.revision = source_revision("source 2"); }},
      {"layout", [](auto& c) { c.layout = table_layout::heads_by_buckets; }},
      {"layout", [](auto& c) { c.layout = none; }},
      {"rows", [](auto& c) { c.rows = 13; }},
      {"rows", [](auto& c) { c.rows = none; }},
      {"heads", [](auto& c) { c.heads.query = 6; }},
      {"heads", [](auto& c) { c.heads.key_value = 1; }},
      {"heads", [](auto& c) { c.heads.dim = 6; }},
      {"order",
       [](auto& c) {
         c.order = head_order({0, 2, 1});
       }},
      {"sign", [](auto& c) { c.sign = offset_sign::query_minus_key; }},
      {"sign", [](auto& c) { c.sign = none; }},
      {"rule", [](auto& c) { c.rule = none; }},
      {"rule", rule(buckets(14, 50, both, even))},
      {"rule", rule(buckets(12, 51, both, even))},
      {"rule", rule(buckets(12, 50, bucket_direction::causal, even))},
      {"rule", rule(buckets(12, 50, both, odd_buckets::last_unused))},
      {"rule", rule(clip_rule{.behind = 5, .ahead = 6, .beyond = beyond_ends::clipped})},
      {"rule", rule(span_rule{.span = 6, .buckets = none})},
      {"scale_factor", [](auto& c) { c.scale_factor = 1; }},
      {"cls", [](auto& c) { c.cls = position{0}; }},
      {"layers", [](auto& c) { c.layers.owner = tensor_owner::every_layer; }},
      {"layers", [](auto& c) { c.layers.layers = 5; }},
      {"row_offset", [](auto& c) { c.row_offset = 2; }},
      {"padding_row", [](auto& c) { c.padding_row = 1; }},
      {"rotary", [](auto& c) { c.rotary = rotary_layout{.pairs = transform::pairing::halves, .rotary_dim = 4}; }},
  };
}

TEST_CASE("a checkpoint of the same contract is taken", "[checkpoint_contract]") {
  CHECK(t5_checkpoint() == t5_checkpoint());
  CHECK(differences(t5_checkpoint(), t5_checkpoint()).empty());
  CHECK_NOTHROW(require_same(t5_checkpoint(), t5_checkpoint()));
}

TEST_CASE("a change of any one field of a contract is refused and named", "[checkpoint_contract]") {
  std::set<std::string> changed;
  for (const change& one : changes()) {
    CAPTURE(one.field);
    auto wanted = t5_checkpoint();
    one.make(wanted);
    CHECK_FALSE(wanted == t5_checkpoint());
    CHECK(differences(t5_checkpoint(), wanted).size() == 1);
    CHECK(differences(wanted, t5_checkpoint()).size() == 1);
    const error refused = refusal([&] { require_same(t5_checkpoint(), wanted); });
    CHECK(refused.code() == errc::checkpoint_contract);
    const std::string what = refused.what();
    CHECK(what.starts_with("checkpoint, " + one.field + ": expected "));
    const auto got = what.find(", got ");
    REQUIRE(got != std::string::npos);
    const std::string start = "checkpoint, " + one.field + ": expected ";
    CHECK(what.substr(start.size(), got - start.size()) != what.substr(got + 6));  // the two sides read differently
    changed.insert(one.field);
  }
  CHECK(changed == std::set<std::string>(checkpoint_field_names.begin(), checkpoint_field_names.end()));
}

TEST_CASE("parts of rules and rotary layouts that differ make them differ", "[checkpoint_contract]") {
  const auto differ = [](const auto& a, const auto& b) {
    auto one = t5_checkpoint();
    auto other = one;
    if constexpr (std::is_same_v<std::decay_t<decltype(a)>, rotary_layout>) {
      one.rotary = a;
      other.rotary = b;
    } else {
      one.rule = a;
      other.rule = b;
    }
    const auto found = differences(one, other);
    REQUIRE(found.size() == 1);
    const std::string& said = found.front().message;
    const auto got = said.find(", got ");
    const auto expected = said.find("expected ") + 9;
    return said.substr(expected, got - expected) != said.substr(got + 6);
  };
  const clip_rule clip{.behind = 3, .ahead = 2, .beyond = beyond_ends::clipped};
  CHECK(differ(clip, clip_rule{.behind = 4, .ahead = 2, .beyond = beyond_ends::clipped}));
  CHECK(differ(clip, clip_rule{.behind = 3, .ahead = 3, .beyond = beyond_ends::clipped}));
  CHECK(differ(clip, clip_rule{.behind = 3, .ahead = 2, .beyond = beyond_ends::refused}));
  const auto span = [](index_t count, index_t most, beyond_max_position beyond) {
    return span_rule{.span = count,
                     .buckets = log_rule{{.num_buckets = count, .max_position = most, .beyond = beyond}}};
  };
  const auto logs = span(8, 20, beyond_max_position::clamped);
  CHECK(differ(logs, span(10, 20, beyond_max_position::clamped)));
  CHECK(differ(logs, span(8, 21, beyond_max_position::clamped)));
  CHECK(differ(logs, span(8, 20, beyond_max_position::runs_on)));
  CHECK(differ(logs, span_rule{.span = 8, .buckets = none}));
  CHECK(differ(span_rule{.span = 8, .buckets = none}, span_rule{.span = 9, .buckets = none}));
  const rotary_layout turning{.pairs = transform::pairing::halves, .rotary_dim = 4};
  CHECK(differ(turning, rotary_layout{.pairs = transform::pairing::adjacent, .rotary_dim = 4}));
  CHECK(differ(turning, rotary_layout{.pairs = transform::pairing::halves, .rotary_dim = 2}));
}

TEST_CASE("the contracts of every family are consistent", "[checkpoint_contract]") {
  for (const auto& c : {t5_checkpoint(), shaw_checkpoint(), deberta_checkpoint(), learned_checkpoint(),
                        sinusoid_checkpoint(), rotary_checkpoint()}) {
    CHECK(check(c).empty());
  }
  auto bucketed = deberta_checkpoint();
  bucketed.rows = 16;
  bucketed.rule = span_rule{
      .span = 8, .buckets = log_rule{{.num_buckets = 8, .max_position = 20, .beyond = beyond_max_position::clamped}}};
  CHECK(check(bucketed).empty());
  auto tupe = t5_checkpoint();
  tupe.family = checkpoint_family::tupe;
  tupe.cls = position{0};
  CHECK(check(tupe).empty());
}

TEST_CASE("a contract that contradicts itself is refused and the field named", "[checkpoint_contract]") {
  const auto refused = [](checkpoint_contract c, const std::function<void(checkpoint_contract&)>& make,
                          const std::string& start) {
    make(c);
    const auto found = check(c);
    REQUIRE_FALSE(found.empty());
    CAPTURE(found.front().message);
    CHECK(found.front().code == errc::checkpoint_contract);
    CHECK(found.front().message.starts_with("checkpoint contract, " + start));
  };
  const auto t5 = t5_checkpoint();
  refused(
      t5, [](auto& c) { c.revision = source_revision(""); }, "revision");
  refused(
      t5,
      [](auto& c) {
        c.order = head_order({0, 1});
      },
      "order: expected each of 3 query heads once");
  refused(
      t5,
      [](auto& c) {
        c.order = head_order({0, 1, 1});
      },
      "order");
  refused(
      t5,
      [](auto& c) {
        c.order = head_order({1, 2, 3});
      },
      "order");
  refused(
      shaw_checkpoint(),
      [](auto& c) {
        c.order = head_order({0, 2, 1, 3});
      },
      "order: expected groups of 2");
  refused(
      t5, [](auto& c) { c.layers.layers = 0; }, "layers");
  refused(
      t5, [](auto& c) { c.layout = none; }, "layout: expected a value");
  refused(
      t5, [](auto& c) { c.layout = table_layout::rows_per_head; }, "layout: expected buckets_by_heads or heads");
  refused(
      t5, [](auto& c) { c.rows = 13; }, "rows: expected 12");
  refused(
      t5, [](auto& c) { c.rows = none; }, "rows: expected a value");
  refused(
      t5, [](auto& c) { c.sign = none; }, "sign: expected a value");
  refused(
      t5, [](auto& c) { c.rule = clip_rule{.behind = 5, .ahead = 6, .beyond = beyond_ends::clipped}; },
      "rule: expected t5 buckets");
  refused(
      t5, [](auto& c) { c.rule = buckets(13, 50, bucket_direction::bidirectional, odd_buckets::refused); },
      "rule: expected settings");
  refused(
      t5, [](auto& c) { c.row_offset = 1; }, "row_offset: expected 0");
  refused(
      t5, [](auto& c) { c.padding_row = 1; }, "padding_row");
  refused(
      t5, [](auto& c) { c.cls = position{0}; }, "cls: expected none");
  refused(
      t5, [](auto& c) { c.scale_factor = 0; }, "scale_factor");
  refused(
      t5, [](auto& c) { c.rotary = rotary_checkpoint().rotary; }, "rotary: expected none");
  refused(
      shaw_checkpoint(), [](auto& c) { c.rule = span_rule{.span = 3, .buckets = none}; }, "rule: expected a reach");
  refused(
      shaw_checkpoint(), [](auto& c) { c.rule = clip_rule{.behind = -1, .ahead = 7, .beyond = beyond_ends::clipped}; },
      "rule: expected reaches");
  refused(
      deberta_checkpoint(), [](auto& c) { c.sign = offset_sign::key_minus_query; }, "sign: expected query_minus_key");
  refused(
      deberta_checkpoint(), [](auto& c) { c.rule = t5_checkpoint().rule; }, "rule: expected a span");
  refused(
      deberta_checkpoint(), [](auto& c) { c.rule = span_rule{.span = 0, .buckets = none}; },
      "rule: expected a span from 1");
  refused(
      deberta_checkpoint(),
      [](auto& c) {
        c.rule = span_rule{
            .span = 3,
            .buckets = log_rule{{.num_buckets = 8, .max_position = 20, .beyond = beyond_max_position::clamped}}};
      },
      "rule: expected a span that is the number of buckets");
  refused(
      learned_checkpoint(), [](auto& c) { c.row_offset = 11; }, "row_offset: expected from 0 to 10");
  refused(
      learned_checkpoint(), [](auto& c) { c.row_offset = -1; }, "row_offset");
  refused(
      learned_checkpoint(), [](auto& c) { c.padding_row = 11; }, "padding_row");
  refused(
      learned_checkpoint(), [](auto& c) { c.rows = 0; }, "rows: expected at least 1");
  refused(
      learned_checkpoint(), [](auto& c) { c.layout = table_layout::interleaved; }, "layout");
  refused(
      sinusoid_checkpoint(), [](auto& c) { c.layout = table_layout::rows_by_width; }, "layout");
  for (const index_t turning : {5, 8, 0, -2}) {
    refused(
        rotary_checkpoint(),
        [turning](auto& c) { c.rotary = rotary_layout{.pairs = transform::pairing::halves, .rotary_dim = turning}; },
        "rotary: expected a rotary_dim");
  }
  refused(
      rotary_checkpoint(), [](auto& c) { c.rotary = none; }, "rotary: expected a value");
  refused(
      rotary_checkpoint(), [](auto& c) { c.rows = 3; }, "rows: expected none");
}

TEST_CASE("impossible heads of a contract are refused as those of a layout are", "[checkpoint_contract]") {
  auto c = t5_checkpoint();
  c.heads.key_value = 2;
  CHECK(codes(check(c)) == std::vector{errc::head_count});
}

TEST_CASE("counts of a contract take no memory before they are found wrong", "[checkpoint_contract]") {
  auto c = t5_checkpoint();
  c.heads = {.query = index_t{1} << 31, .key_value = 1, .dim = 1};
  REQUIRE(!check(c).empty());
  CHECK(check(c).front().message.find("order: expected each of 2147483648 query heads once") != std::string::npos);
  c = learned_checkpoint();
  c.rows = (index_t{1} << 32) + 1;
  REQUIRE(check(c).size() == 1);
  CHECK(check(c).front().message.find("rows: expected at most 2^32") != std::string::npos);
}

TEST_CASE("an order of many heads is said in bounded size", "[checkpoint_contract]") {
  auto c = t5_checkpoint();
  c.order = head_order::natural(40);
  CHECK(check(c).front().message.ends_with("got heads 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 ... of 40"));
}

}  // namespace checkpoint_contract_test
