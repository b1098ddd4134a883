// SPDX-License-Identifier: MIT
#include <posgeo/audit/card.hpp>
#include <posgeo/encode/normalized_index.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>

#include <cmath>
#include <limits>

#include "support/cards.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace card_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::audit;

using parts = std::vector<read_part>;

/// The sentences of check(card), of which each has the code of a card.
std::vector<std::string> sentences(const positional_card& card) {
  std::vector<std::string> all;
  for (const violation& one : check(card)) {
    CHECK(one.code == errc::card);
    all.push_back(one.message);
  }
  return all;
}
/// What check says of a card after a change.
template <class Change>
std::vector<std::string> after(positional_card card, const Change& change) {
  change(card);
  return sentences(card);
}
using said = std::vector<std::string>;

TEST_CASE("a card of the library contradicts itself nowhere", "[card]") {
  for (const positional_card& card : {t5_card(), alibi_card(), yarn_card(), learned_absolute_card(), shaw_card()}) {
    CHECK(sentences(card).empty());
  }
}

TEST_CASE("a card says what the policies read", "[card]") {
  CHECK(t5_card().method.reference == position_reference::relative);
  CHECK(alibi_card().method.reference == position_reference::relative);
  CHECK(yarn_card().method.reference == position_reference::relative);
  CHECK(shaw_card().method.reference == position_reference::relative);
  CHECK(learned_absolute_card().method.reference == position_reference::absolute);
  for (const positional_card& card : {t5_card(), alibi_card(), yarn_card(), shaw_card()}) {
    CHECK(card.conventions.origin == origin_effect::irrelevant);
  }
  CHECK(learned_absolute_card().conventions.origin == origin_effect::matters);
  CHECK(learned_absolute_card().policies[0].reads == parts{read_part::absolute_query, read_part::absolute_key});
  CHECK(yarn_card().policies[0].reads == parts{read_part::ahead, read_part::behind, read_part::distance});
  CHECK(yarn_card().policies[2].reads == parts{read_part::padding, read_part::sequence});
}

TEST_CASE("what is read decides what positions are", "[card]") {
  CHECK(reference_of(reads::nothing) == position_reference::none);
  CHECK(reference_of(reads::padding | reads::sequence | reads::extent) == position_reference::none);
  CHECK(reference_of(reads::order) == position_reference::order);
  CHECK(reference_of(reads::ahead) == position_reference::order);
  CHECK(reference_of(reads::absolute_key) == position_reference::absolute);
  CHECK(reference_of(reads::distance) == position_reference::relative);
  CHECK(reference_of(reads::offset | reads::padding) == position_reference::relative);
  CHECK(reference_of(reads::absolute | reads::order) == position_reference::absolute);
  CHECK(reference_of(reads::absolute | reads::offset) == position_reference::absolute_and_relative);
  CHECK(reference_of(reads::row) == position_reference::values_of_rows);
  CHECK(reference_of(reads::name) == position_reference::values_of_rows);
  for (unsigned bits = 0; bits < 2048; ++bits) {
    const auto all = static_cast<reads>(bits);
    CHECK(audit::reads_of(parts_of(all)) == all);
  }
}

TEST_CASE("what is read is said in words that belong together", "[card]") {
  CHECK(words_of(reads::nothing) == "nothing");
  CHECK(words_of(reads::offset) == "offset");
  CHECK(words_of(reads::order | reads::padding) == "order, padding");
  CHECK(words_of(reads::ahead | reads::distance) == "ahead, distance");
  CHECK(words_of(reads::absolute | reads::offset) == "offset, absolute position");
  CHECK(words_of(reads::absolute_key | reads::frame) == "absolute key, frame");
}

TEST_CASE("the origin matters to what reads places values or extents", "[card]") {
  using audit::detail::origin_of;
  for (const reads one : {reads::absolute_query, reads::absolute_key, reads::extent, reads::name}) {
    CHECK(origin_of(one) == origin_effect::matters);
  }
  for (const reads one : {reads::nothing, reads::offset, reads::padding, reads::sequence, reads::row, reads::frame}) {
    CHECK(origin_of(one) == origin_effect::irrelevant);
  }
}

TEST_CASE("visibility decides what positions are only where nothing else does", "[card]") {
  const visible::window near{.behind = 3, .ahead = 3};
  const encode::normalized_index places({.width = 8, .length = 64});
  const auto reference = [](const auto& method, const auto&... encoders) {
    return card_of(method, plainly_stated(), toy_hash{}, encoders...).method.reference;
  };
  CHECK(reference(attention(heads{}, scale::none{}, visible::everything{})) == position_reference::none);
  CHECK(reference(attention(heads{}, scale::none{}, visible::causal{})) == position_reference::order);
  CHECK(reference(attention(heads{}, scale::none{}, near)) == position_reference::relative);
  CHECK(reference(attention(heads{}, scale::none{}, near), places) == position_reference::absolute);
}

TEST_CASE("a card has the policies in order with every setting", "[card]") {
  const positional_card card = learned_absolute_card();
  std::vector<std::string> names;
  for (const policy_part& one : card.policies) names.push_back(one.policy.name());
  CHECK(names == std::vector<std::string>{"learned_absolute", "inverse_sqrt_head_dim", "active", "causal"});
  CHECK(card.heads == manifest::heads_record{2, 1, 4});
  const auto* const table = std::get_if<manifest::table_record>(card.policies[0].policy.find("table"));
  REQUIRE(table != nullptr);
  CHECK(table->extents == std::vector<index_t>{66, 8});
  const auto again = manifest::record_of(
      encode::learned_absolute<double>(random_table(66, 8, 62), {.row_offset = 2}).describe(), toy_hash{});
  CHECK(std::get<manifest::table_record>(*again.find("table")) == *table);
  const auto other = manifest::record_of(
      encode::learned_absolute<double>(random_table(66, 8, 65), {.row_offset = 2}).describe(), toy_hash{});
  CHECK_FALSE(std::get<manifest::table_record>(*other.find("table")) == *table);
}

TEST_CASE("a card has the ranges that policies refuse to leave", "[card]") {
  const range_part of_table = learned_absolute_card().policies[0].range;
  CHECK(of_table == range_part{index_t{0}, index_t{63}, none, none});
  const range_part of_shaw = shaw_card().policies[2].range;
  CHECK(of_shaw == range_part{none, none, index_t{-70}, index_t{75}});
  const range_part of_rotary = yarn_card().policies[0].range;  // phases are exact up to 2^53
  CHECK(of_rotary == range_part{none, none, none, none});
}

TEST_CASE("a card has the scaling rule and the conventions", "[card]") {
  const positional_card card = yarn_card();
  REQUIRE(card.method.scaling.value());
  CHECK(*card.method.scaling.value() == scaling_rule{"rotary", "yarn", 4.0, index_t{32}});
  CHECK(card.conventions == convention_part{0, origin_effect::irrelevant, padded_side::never, padded_count::none,
                                            key_rows_are::hidden, packed_count::restart, key_rows_are::hidden,
                                            causal_alignment::by_position, index_t{31}, index_t{0},
                                            cache_offset::committed_length});
  CHECK_FALSE(alibi_card().method.scaling.value());
  const convention_part open = shaw_card().conventions;
  CHECK(open.causal == causal_alignment::not_causal);
  CHECK(open.padding_keys == key_rows_are::hidden);
  CHECK(open.keys_of_other_sequences == key_rows_are::visible);
  CHECK(open.reach_behind == none);
}

TEST_CASE("the reach is that of the nearest window", "[card]") {
  const visible::window far{.behind = 9, .ahead = 5};
  const visible::window near{.behind = 4, .ahead = visible::window::unbounded};
  const auto card = card_of(attention(heads{}, scale::none{}, far, visible::all_of(visible::everything{}, near)),
                            plainly_stated(), toy_hash{});
  CHECK(card.conventions.reach_behind == index_t{4});
  CHECK(card.conventions.reach_ahead == index_t{5});
}

TEST_CASE("an evaluation beyond the trained length is marked", "[card]") {
  const length_part lengths = alibi_card().lengths;
  REQUIRE(lengths.evaluated.size() == 2);
  CHECK(lengths.evaluated[0].range == length_range::within_trained);
  CHECK(lengths.evaluated[1].range == length_range::beyond_trained);
  CHECK(lengths.evaluated[1].length == 256);
  CHECK(lengths.evaluated[1].placement == std::string("answers at 16 depths"));
  CHECK(lengths.configured == index_t{4096});
}

TEST_CASE("a card has the coverage in a few numbers", "[card]") {
  const auto taught = t5_card().coverage.value();
  REQUIRE(taught);
  const audit::coverage counted = t5_coverage();
  CHECK(taught->sequences == 3);
  CHECK(taught->longest == 64);
  CHECK(taught->highest_position == 63);
  CHECK(taught->lowest_offset == index_t{-63});
  CHECK(taught->highest_offset == index_t{0});
  REQUIRE(taught->tables.size() == 1);
  const table_reads& reads = counted.table("t5 table");
  CHECK(taught->tables[0] == table_use{"t5 table", 8, reads.reads.numbers(1), 8 - reads.reads.numbers(100)});
  CHECK(taught->tables[0].below_enough > 0);
  CHECK(taught->not_counted.empty());
}

TEST_CASE("a card has the findings of a report and its debts", "[card]") {
  const auto audited = alibi_card().audit.value();
  REQUIRE(audited);
  REQUIRE(audited->findings.size() == 3);
  CHECK(audited->findings[0].passed());
  CHECK_FALSE(audited->findings[1].passed());
  CHECK(audited->findings[2].passed());
  CHECK(audited->findings[1] == finding_part{intervention::cached, "one query at a time", verdict::equivariant,
                                             verdict::equivariant, verdict::changes, 0.25, 1e-6, 0.25, ""});
  CHECK(audited->debts == std::vector<debt_part>{{debt::distance, "offsets beyond -63 were not in training"}});
  finding_part apart = audited->findings[0];
  apart.from_reference = 2e-6;
  CHECK_FALSE(apart.passed());
}

TEST_CASE("the report of another attention is refused", "[card]") {
  card_settings stated_by_caller = plainly_stated();
  stated_by_caller.audit = alibi_report();
  const error thrown = refusal([&] {
    static_cast<void>(card_of(t5_attention(coordinate::bucket_direction::causal), stated_by_caller, toy_hash{}));
  });
  CHECK(thrown.code() == errc::card);
  CHECK(std::string(thrown.what()).starts_with("report, policies: expected "));
}

TEST_CASE("the report of an attention with its state encoders is taken", "[card]") {
  const encode::normalized_index places({.width = 24, .length = 64});
  card_settings stated_by_caller = plainly_stated();
  report whole = alibi_report();
  whole.method.insert(whole.method.begin(), manifest::detail::of_family(places.describe(), "state_encoder"));
  stated_by_caller.audit = whole;
  CHECK(card_of(alibi_attention(), stated_by_caller, toy_hash{}, places).audit.value());
}

TEST_CASE("building a card throws what check lists", "[card]") {
  card_settings stated_by_caller = plainly_stated();
  stated_by_caller.trained_length = 0;
  stated_by_caller.evaluated = std::vector<measured_quality>{};
  const error thrown = refusal([&] { static_cast<void>(card_of(alibi_attention(), stated_by_caller, toy_hash{})); });
  CHECK(thrown.code() == errc::card);
  CHECK(thrown.what() == std::string("lengths, trained: expected at least 1, got 0"));
}

TEST_CASE("lengths that a learned table has no rows for are contradictions", "[card]") {
  const positional_card card = learned_absolute_card();
  CHECK(after(card, [](positional_card& c) { c.lengths.configured = 65; }) ==
        said{"lengths, configured: expected at most 64, for more learned_absolute refuses, got 65"});
  CHECK(after(card, [](positional_card& c) { c.lengths.configured = none; }) ==
        said{"lengths, configured: expected a length, since learned_absolute is bounded, got none"});
  CHECK(after(card, [](positional_card& c) { c.conventions.first_position = 1; }).at(0) ==
        "lengths, configured: expected at most 63, for more learned_absolute refuses, got 64");
  CHECK(after(card, [](positional_card& c) { c.conventions.first_position = -1; }) ==
        said{"origin, first position: expected at least 0, where learned_absolute begins, got -1"});
  const auto evaluated_at = [&](index_t length, const stated<index_t>& configured) {
    return after(card, [&](positional_card& c) {
      c.lengths.configured = configured;
      c.lengths.evaluated[0].length = length;
      c.lengths.evaluated[0].range = length > 64 ? length_range::beyond_trained : length_range::within_trained;
    });
  };
  CHECK(evaluated_at(64, 64).empty());
  CHECK(evaluated_at(65, 64) == said{"lengths, evaluated, 'held-out books': expected at most the configured 64, since "
                                     "learned_absolute is bounded, got 65"});
  CHECK(evaluated_at(65, none).at(1) ==
        "lengths, evaluated, 'held-out books': expected at most 64, for more learned_absolute refuses, got 65");
}

TEST_CASE("lengths whose distances are refused are contradictions", "[card]") {
  const auto configured = [](index_t length, causal_alignment causal, stated<index_t> behind) {
    return after(shaw_card(), [&](positional_card& c) {
      c.lengths.configured = length;
      c.conventions.causal = causal;
      c.conventions.reach_behind = behind;
    });
  };
  CHECK(configured(71, causal_alignment::not_causal, none).empty());
  CHECK(configured(72, causal_alignment::not_causal, none).at(0) ==
        "lengths, configured: expected at most 71, for more shaw_key refuses, got 72");
  // A card of other policies: the reach below contradicts them, the length does not.
  CHECK(configured(72, causal_alignment::by_position, index_t{70}) ==
        said{"window, behind: expected the reach of the policies, got another"});
  CHECK(configured(72, causal_alignment::by_position, index_t{71}).size() == 3);
  const auto with_ahead = [](index_t ahead) {
    return after(shaw_card(), [&](positional_card& c) {
      for (const std::size_t n : {2U, 3U}) c.policies[n].range = {none, none, none, index_t{ahead}};
    });
  };
  CHECK(with_ahead(63).empty());
  CHECK(with_ahead(62).at(0) == "lengths, configured: expected at most 63, for more shaw_key refuses, got 64");
}

TEST_CASE("a length that was trained is at most the configured one unless a rule scales", "[card]") {
  CHECK(after(alibi_card(), [](positional_card& c) { c.lengths.configured = 63; }) ==
        said{"lengths, trained: expected at most the configured 63, without a scaling rule, got 64"});
  CHECK(after(yarn_card(), [](positional_card& c) { c.lengths.configured = 63; }).empty());
  CHECK(after(alibi_card(), [](positional_card& c) { c.lengths.configured = 0; }).at(0) ==
        "lengths, configured: expected at least 1, got 0");
}

TEST_CASE("lengths that do not fit a scaling rule are contradictions", "[card]") {
  CHECK(after(yarn_card(), [](positional_card& c) { c.lengths.configured = 129; }) ==
        said{"lengths, configured: expected at most 128, which is factor times original length of yarn, got 129"});
  CHECK(after(yarn_card(), [](positional_card& c) {
          c.lengths.trained = 31;
          c.lengths.evaluated[0].range = length_range::beyond_trained;
        }) == said{"scaling, original length of yarn: expected at most the trained 31, got 32"});
  CHECK(after(yarn_card(), [](positional_card& c) { c.method.scaling = none; }).at(0) ==
        "method, scaling: expected that of the policies, got another");
  CHECK(after(alibi_card(), [](positional_card& c) {
          c.method.scaling = scaling_rule{"alibi", "linear", 2.0, none};
        }) == said{"method, scaling: expected that of the policies, got another"});
}

TEST_CASE("an origin that is said to matter to a relative method is a contradiction", "[card]") {
  CHECK(after(alibi_card(), [](positional_card& c) { c.conventions.origin = origin_effect::matters; }) ==
        said{"origin, effect on outputs: expected irrelevant, for a method that reads offset, got matters"});
  CHECK(
      after(learned_absolute_card(), [](positional_card& c) { c.conventions.origin = origin_effect::irrelevant; }) ==
      said{
          "origin, effect on outputs: expected matters, for a method that reads absolute position, ahead, padding, got "
          "irrelevant"});
  CHECK(after(alibi_card(), [](positional_card& c) { c.method.reference = position_reference::absolute; }) ==
        said{"method, reference: expected relative, which follows from what is read, got absolute"});
  CHECK(after(alibi_card(), [](positional_card& c) {
          c.policies[2].reads = {read_part::distance, read_part::behind};
        }) == said{"alibi, reads: expected each part once, in order, got others"});
}

TEST_CASE("padding packing and caches that visibility does not fit are contradictions", "[card]") {
  CHECK(after(t5_card(), [](positional_card& c) { c.conventions.padding_keys = key_rows_are::visible; }) ==
        said{"padding, keys: expected hidden (visible::active), since batches are padded, got visible"});
  CHECK(after(t5_card(), [](positional_card& c) { c.conventions.padding_positions = padded_count::none; }) ==
        said{"padding, positions: expected a rule for rows without a token, got none"});
  CHECK(after(alibi_card(), [](positional_card& c) { c.conventions.padding_positions = padded_count::fixed; }) ==
        said{"padding, positions: expected none, since nothing is padded, got fixed"});
  CHECK(after(yarn_card(), [](positional_card& c) { c.conventions.keys_of_other_sequences = key_rows_are::visible; }) ==
        said{"packing, keys of other sequences: expected hidden (visible::segments), since sequences are packed, got "
             "visible"});
  CHECK(after(shaw_card(), [](positional_card& c) {
          c.conventions.cached_call_begins_at = cache_offset::committed_length;
        }) == said{"cache, visibility: expected causal, since a kept row has seen nothing behind it, got not causal"});
  CHECK(after(alibi_card(), [](positional_card& c) { c.conventions.causal = causal_alignment::bottom_right; }) ==
        said{"causal visibility, alignment: expected by_position, as the policy causal is, got bottom_right"});
  CHECK(after(yarn_card(), [](positional_card& c) { c.conventions.reach_ahead = none; }) ==
        said{"window, ahead: expected the reach of the policies, got another"});
}

TEST_CASE("evaluations that say nothing or two things are contradictions", "[card]") {
  const auto evaluation = [](const auto& change) {
    return after(alibi_card(), [&](positional_card& c) { change(c.lengths.evaluated[1]); });
  };
  using audit::evaluation;
  CHECK(evaluation([](auto& e) { e.range = length_range::within_trained; }) ==
        said{"evaluation 1, range: expected beyond_trained for length 256, trained 64, got within_trained"});
  CHECK(evaluation([](auto& e) { e.task = ""; }) ==
        said{"evaluation 1, task: expected at least one character, got none"});
  CHECK(evaluation([](auto& e) { e.metric = ""; }) ==
        said{"evaluation 1, metric: expected at least one character, got none"});
  CHECK(evaluation([](auto& e) { e.placement = std::string(); }) ==
        said{"evaluation 1, placement: expected at least one character, got none"});
  CHECK(evaluation([](auto& e) { e.value = std::numeric_limits<double>::infinity(); }) ==
        said{"evaluation 1, value: expected a finite number, got inf"});
  CHECK(evaluation([](auto& e) {
          e.length = 0;
          e.range = length_range::within_trained;
        }) == said{"evaluation 1, length: expected at least 1, got 0"});
  CHECK(after(alibi_card(), [](positional_card& c) {
          c.lengths.evaluated.push_back(c.lengths.evaluated[1]);
          c.lengths.evaluated[2].value = 0.5;
        }) == said{"evaluation 2, task, placement, metric and length: expected each once, got those of evaluation 1"});
  CHECK(after(alibi_card(), [](positional_card& c) {
          c.lengths.evaluated.push_back(c.lengths.evaluated[1]);
          c.lengths.evaluated[2].placement = none;
        }).empty());
}

TEST_CASE("a coverage that is not of the card is a contradiction", "[card]") {
  const auto taught = [](const auto& change) {
    return after(t5_card(), [&](positional_card& c) {
      coverage_part part = *c.coverage.value();
      change(part);
      c.coverage = part;
    });
  };
  CHECK(taught([](auto& t) { t.longest = 65; }) ==
        said{"coverage, longest sequence: expected at most the trained length 64, got 65"});
  CHECK(taught([](auto& t) {
          t.longest = 40;
          t.highest_position = 61;
        }) == said{"lengths, trained: expected at most 62, which is all that was counted, got 64"});
  CHECK(taught([](auto& t) { t.longest = 40; }).empty());  // chunks: the last stands at position 63
  CHECK(taught([](auto& t) { t.sequences = 0; }) == said{"coverage, sequences: expected at least 1, got 0"});
  CHECK(taught([](auto& t) { t.enough = 0; }) == said{"coverage, enough: expected at least 1, got 0"});
  CHECK(taught([](auto& t) { t.tables[0].addressed = 9; }) ==
        said{"t5 table, rows addressed and below enough: expected those of 8 rows, got 9 and 4"});
  CHECK(taught([](auto& t) { t.tables[0].below_enough = -1; }).size() == 1);
  CHECK(taught([](auto& t) {
          t.tables[0] = {"t5 table", 32, 8, 28};
        }) == said{"coverage, table: expected one of the policies, with 32 rows, got t5 table"});
  CHECK(taught([](auto& t) { t.tables[0].table = "t5 weights"; }) ==
        said{"coverage, table: expected one of the policies, with 8 rows, got t5 weights"});
}

TEST_CASE("slopes resizing and names that do not fit are contradictions", "[card]") {
  CHECK(after(alibi_card(), [](positional_card& c) { c.heads.query = 4; }) ==
        said{"alibi, slopes: expected 4, one for each query head, got 6"});
  CHECK(after(alibi_card(), [](positional_card& c) {
          c.method.resized = table_resizing{32, "linear"};
        }) == said{"method, resized: expected none, without a table, got a resized table"});
  const auto resized = [](index_t rows, const std::string& rule) {
    return after(learned_absolute_card(), [&](positional_card& c) { c.method.resized = table_resizing{rows, rule}; });
  };
  CHECK(resized(0, "linear") == said{"resized table, rows before: expected at least 1, got 0"});
  CHECK(resized(9, "") == said{"resized table, rule: expected at least one character, got none"});
  CHECK(after(alibi_card(), [](positional_card& c) { c.not_claimed.emplace_back(); }) ==
        said{"card, not_claimed: expected at least one character, got none"});
  const auto audited = [](const auto& change) {
    return after(alibi_card(), [&](positional_card& c) {
      audit_part part = *c.audit.value();
      change(part);
      c.audit = part;
    });
  };
  CHECK(audited([](auto& a) { a.name = ""; }) == said{"audit, name: expected at least one character, got none"});
  CHECK(audited([](auto& a) { a.findings[1].tolerance = -1.0; }) ==
        said{"audit, cached: expected a tolerance of at least 0, got -1"});
  CHECK(after(alibi_card(), [](positional_card& c) {
          c.policies[1].policy = {"causal", {}};
        }) == said{"causal, family: expected the name of its family's tag, got none"});
}

/// Speeds that do not say which rule they follow.
struct nameless_speeds {
  [[nodiscard]] index_t pairs() const { return 2; }
  [[nodiscard]] double at(index_t pair) const { return pair == 0 ? 1.0 : 0.25; }
};

TEST_CASE("speeds without a rule are refused", "[card]") {
  const attention method({.query = 1, .key_value = 1, .dim = 4}, scale::none{}, visible::causal{},
                         transform::rotary(nameless_speeds{}, {.pairs = transform::pairing::adjacent}));
  const error thrown = refusal([&] { static_cast<void>(card_of(method, plainly_stated(), toy_hash{})); });
  CHECK(thrown.code() == errc::card);
  CHECK(thrown.what() ==
        std::string("rotary, frequencies: expected a rule that says what it is (describe()), got numbers without a "
                    "rule"));
}

TEST_CASE("a policy without a description and an empty coverage are refused", "[card]") {
  const visible::custom nameless([](const position_call&, batch_index, query_index, key_index) { return true; });
  CHECK(refusal([&] {
          static_cast<void>(card_of(attention(heads{}, scale::none{}, nameless), plainly_stated(), toy_hash{}));
        }).code() == errc::description);
  card_settings stated_by_caller = plainly_stated();
  stated_by_caller.coverage = stated_coverage{.counted = {}, .enough = 1};
  CHECK(refusal([&] { static_cast<void>(card_of(alibi_attention(), stated_by_caller, toy_hash{})); }).code() ==
        errc::coverage);
}

}  // namespace card_test
