// SPDX-License-Identifier: MIT
#include <posgeo/contract/convert/convert.hpp>

#include "support/catch.hpp"
#include "support/checkpoints.hpp"
#include "support/refusal.hpp"

namespace conversion_steps_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;
using coordinate::beyond_ends;

const std::map<std::string, std::string> no_roles;

conversion converted(const checkpoint_contract& source, const checkpoint_contract& target, named_tensors tensors) {
  return convert({.source = source, .target = target, .tensors = std::move(tensors), .roles = no_roles});
}

/// Converts, expects a proof of so many steps that allows no difference, and returns the tensors.
named_tensors exactly(const checkpoint_contract& source, const checkpoint_contract& target,
                      const named_tensors& tensors, std::size_t steps = 1) {
  const auto result = converted(source, target, tensors);
  CHECK(result.contract == target);
  REQUIRE(result.proofs.size() == 1);
  const conversion_proof& proof = result.proofs.front();
  CHECK(proof.identities.size() == steps);
  CHECK(proof.bound == 0.0);
  CHECK(proof.largest_difference == 0.0);
  CHECK(proof.compared > 100);
  return result.tensors;
}

/// The number at an index of each axis.
double at(const stored_tensor& t, const std::vector<index_t>& index) {
  index_t flat = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) flat = flat * t.extents[axis] + index[axis];
  return t.values.at(static_cast<std::size_t>(flat));
}

/// Expects a conversion that is refused for a field.
void refused(const checkpoint_contract& source, const checkpoint_contract& target, const named_tensors& tensors,
             const std::string& field) {
  const error e = refusal([&] { return converted(source, target, tensors); });
  CAPTURE(e.what());
  CHECK(e.code() == errc::conversion);
  CHECK(std::string(e.what()).starts_with("conversion, " + field + ": "));
}

TEST_CASE("bucket tables are transposed", "[conversion]") {
  const auto source = t5_checkpoint();
  auto target = source;
  target.layout = table_layout::heads_by_buckets;
  const named_tensors has{{"table", random_stored({12, 3}, 1)}};
  const auto got = exactly(source, target, has);
  CHECK(got.at("table").extents == std::vector<index_t>{3, 12});
  for (index_t b = 0; b < 12; ++b) {
    for (index_t h = 0; h < 3; ++h) CHECK(at(got.at("table"), {h, b}) == at(has.at("table"), {b, h}));
  }
  CHECK(exactly(target, source, got) == has);
}

TEST_CASE("bidirectional buckets change sides with the sign and causal ones cannot", "[conversion]") {
  auto source = t5_checkpoint();
  auto target = source;
  target.sign = offset_sign::query_minus_key;
  const named_tensors has{{"table", random_stored({12, 3}, 2)}};
  const auto got = exactly(source, target, has);
  const coordinate::t5_bucket bucket(std::get<t5_rule>(*source.rule.value()).settings);
  for (index_t offset = -60; offset <= 60; ++offset) {
    for (index_t h = 0; h < 3; ++h) {
      CHECK(at(got.at("table"), {bucket(relative_offset{-offset}), h}) ==
            at(has.at("table"), {bucket(relative_offset{offset}), h}));
    }
  }
  CHECK(exactly(target, source, got) == has);

  source.rule = t5_rule{{.num_buckets = 12, .max_distance = 50, .direction = coordinate::bucket_direction::causal}};
  target.rule = source.rule;
  refused(source, target, has, "sign");
}

TEST_CASE("odd bidirectional buckets keep their unused row at the end", "[conversion]") {
  auto source = t5_checkpoint();
  source.rows = 13;
  source.rule = t5_rule{{.num_buckets = 13,
                         .max_distance = 50,
                         .direction = coordinate::bucket_direction::bidirectional,
                         .odd = coordinate::odd_buckets::last_unused}};
  auto target = source;
  target.sign = offset_sign::query_minus_key;
  const named_tensors has{{"table", random_stored({13, 3}, 3)}};
  const auto got = exactly(source, target, has);
  for (index_t h = 0; h < 3; ++h) CHECK(at(got.at("table"), {12, h}) == at(has.at("table"), {12, h}));
}

TEST_CASE("clipped rows are read from the other end under the other sign", "[conversion]") {
  auto source = shaw_checkpoint();
  source.rule = clip_rule{.behind = 4, .ahead = 2, .beyond = beyond_ends::clipped};
  auto target = source;
  target.sign = offset_sign::query_minus_key;
  const named_tensors has{{"key_table", random_stored({7, 5}, 4)}, {"value_table", random_stored({7, 5}, 5)}};
  const auto got = exactly(source, target, has);
  for (const char* const role : {"key_table", "value_table"}) {
    for (index_t row = 0; row < 7; ++row) {
      for (index_t d = 0; d < 5; ++d) CHECK(at(got.at(role), {row, d}) == at(has.at(role), {6 - row, d}));
    }
  }
  CHECK(exactly(target, source, got) == has);
}

TEST_CASE("a rule that refuses what is beyond is proved within its reach", "[conversion]") {
  auto source = shaw_checkpoint();
  source.rule = clip_rule{.behind = 4, .ahead = 2, .beyond = beyond_ends::refused};
  auto target = source;
  target.sign = offset_sign::query_minus_key;
  const named_tensors has{{"key_table", random_stored({7, 5}, 6)}, {"value_table", random_stored({7, 5}, 7)}};
  CHECK_FALSE(exactly(source, target, has) == has);
  target = source;
  target.rule = clip_rule{.behind = 4, .ahead = 2, .beyond = beyond_ends::clipped};
  refused(source, target, has, "rule");
}

TEST_CASE("classes that only look back are proved where keys are not ahead", "[conversion]") {
  auto source = shaw_checkpoint();
  source.rule = clip_rule{.behind = 6, .ahead = 0, .beyond = beyond_ends::clipped};
  auto target = source;
  target.sign = offset_sign::query_minus_key;
  target.layout = table_layout::rows_per_head;
  const named_tensors has{{"key_table", random_stored({7, 5}, 8)}, {"value_table", random_stored({7, 5}, 9)}};
  exactly(source, target, has, 2);
  auto causal = t5_checkpoint();
  causal.rule = t5_rule{{.num_buckets = 12, .max_distance = 50, .direction = coordinate::bucket_direction::causal}};
  auto turned = causal;
  turned.layout = table_layout::heads_by_buckets;
  exactly(causal, turned, {{"table", random_stored({12, 3}, 10)}});
}

TEST_CASE("a shared table is copied to the heads and shared again only if they agree", "[conversion]") {
  const auto source = shaw_checkpoint();
  auto target = source;
  target.layout = table_layout::rows_per_head;
  const named_tensors has{{"key_table", random_stored({7, 5}, 11)}, {"value_table", random_stored({7, 5}, 12)}};
  auto got = exactly(source, target, has);
  CHECK(got.at("key_table").extents == std::vector<index_t>{4, 7, 5});
  for (index_t h = 0; h < 4; ++h) CHECK(at(got.at("value_table"), {h, 3, 2}) == at(has.at("value_table"), {3, 2}));
  CHECK(exactly(target, source, got) == has);
  got.at("value_table").values.back() += 0.5;
  refused(target, source, got, "layout");
}

TEST_CASE("a longer reach repeats the end rows and a shorter one must lose nothing", "[conversion]") {
  for (const offset_sign sign : {offset_sign::key_minus_query, offset_sign::query_minus_key}) {
    auto source = shaw_checkpoint();
    source.sign = sign;
    auto target = source;
    target.rule = clip_rule{.behind = 5, .ahead = 3, .beyond = beyond_ends::clipped};
    target.rows = 9;
    const named_tensors has{{"key_table", random_stored({7, 5}, 13)}, {"value_table", random_stored({7, 5}, 14)}};
    const auto got = exactly(source, target, has);
    CHECK(exactly(target, source, got) == has);
    target.rule = clip_rule{.behind = 3, .ahead = 2, .beyond = beyond_ends::clipped};
    target.rows = 6;
    refused(source, target, has, "rule");
    target.rule = clip_rule{.behind = 5, .ahead = 1, .beyond = beyond_ends::clipped};
    target.rows = 7;
    refused(source, target, has, "rule");
  }
}

TEST_CASE("a learned relative bias changes reach sign and axes", "[conversion]") {
  auto source = t5_checkpoint();
  source.family = checkpoint_family::learned_relative;
  source.rule = clip_rule{.behind = 4, .ahead = 7, .beyond = beyond_ends::clipped};
  auto target = source;
  target.layout = table_layout::heads_by_buckets;
  target.sign = offset_sign::query_minus_key;
  target.rule = clip_rule{.behind = 6, .ahead = 8, .beyond = beyond_ends::clipped};
  target.rows = 15;
  target.order = head_order({2, 0, 1});
  const named_tensors has{{"table", random_stored({12, 3}, 15)}};
  const auto got = exactly(source, target, has, 4);
  CHECK(exactly(target, source, got, 4) == has);
}

TEST_CASE("the two k rows of DeBERTa are two k plus one of Shaw and back only without loss", "[conversion]") {
  auto deberta = deberta_checkpoint();
  deberta.family = checkpoint_family::deberta_c2p;
  deberta.layout = table_layout::shared_rows;
  deberta.scale_factor = 2;
  auto shaw = deberta;
  shaw.family = checkpoint_family::shaw_key;
  shaw.rows = 7;
  shaw.sign = offset_sign::key_minus_query;
  shaw.rule = clip_rule{.behind = 3, .ahead = 3, .beyond = beyond_ends::clipped};
  const named_tensors has{{"position_keys", random_stored({6, 5}, 16)}};
  const auto got = exactly(deberta, shaw, has, 3);
  const coordinate::deberta_span span = coordinate::deberta_span::exact(3);
  const coordinate::clipped classes = coordinate::clipped::symmetric(3);
  for (index_t offset = -5; offset <= 5; ++offset) {
    for (index_t d = 0; d < 5; ++d) {
      CHECK(at(got.at("key_table"), {classes(relative_offset{offset}), d}) ==
            at(has.at("position_keys"), {span(relative_offset{offset}), d}));
    }
  }
  CHECK(exactly(shaw, deberta, got, 3) == has);
  refused(shaw, deberta, {{"key_table", random_stored({7, 5}, 17)}}, "rule");
  auto other_scale = shaw;
  other_scale.scale_factor = 1;
  refused(deberta, other_scale, has, "scale_factor");
  auto both = deberta;
  both.family = checkpoint_family::deberta_c2p_p2c;
  refused(both, shaw, {{"position_keys", random_stored({6, 5}, 18)}, {"position_queries", random_stored({6, 5}, 19)}},
          "family");
}

TEST_CASE("a projected relative table is one for each head", "[conversion]") {
  const auto source = deberta_checkpoint();
  auto target = source;
  target.layout = table_layout::rows_per_head;
  target.order = head_order({1, 2, 0});
  named_tensors has{{"table", random_stored({6, 11}, 20)},
                    {"position_keys.weight", random_stored({15, 11}, 21)},
                    {"position_queries.weight", random_stored({15, 11}, 22)},
                    {"position_queries.bias", random_stored({15}, 23)}};
  const auto got = exactly(source, target, has, 2);
  CHECK(got.size() == 2);
  const auto& queries = got.at("position_queries");
  CHECK(queries.extents == std::vector<index_t>{3, 6, 5});
  double sum = at(has.at("position_queries.bias"), {2 * 5 + 3});  // head 2 stands at place 1
  for (index_t w = 0; w < 11; ++w) {
    sum += at(has.at("position_queries.weight"), {2 * 5 + 3, w}) * at(has.at("table"), {4, w});
  }
  CHECK_THAT(at(queries, {1, 4, 3}), WithinRel(sum, 1e-12));
  refused(target, source, got, "layout");
}

TEST_CASE("heads of DeBERTa's projections move as rows", "[conversion]") {
  const auto source = deberta_checkpoint();
  auto target = source;
  target.order = head_order({1, 2, 0});
  const named_tensors has{{"table", random_stored({6, 11}, 24)},
                          {"position_keys.weight", random_stored({15, 11}, 25)},
                          {"position_keys.bias", random_stored({15}, 26)},
                          {"position_queries.weight", random_stored({15, 11}, 27)}};
  const auto got = exactly(source, target, has);
  CHECK(got.at("table") == has.at("table"));
  CHECK(at(got.at("position_keys.bias"), {0}) == at(has.at("position_keys.bias"), {5}));
  CHECK(exactly(target, source, got) == has);
}

TEST_CASE("log buckets are converted where nothing but the heads changes", "[conversion]") {
  auto source = deberta_checkpoint();
  source.family = checkpoint_family::deberta_p2c;
  source.layout = table_layout::shared_rows;
  source.rows = 16;
  source.rule = span_rule{
      .span = 8,
      .buckets = log_rule{{.num_buckets = 8, .max_position = 40, .beyond = coordinate::beyond_max_position::clamped}}};
  auto target = source;
  target.layout = table_layout::rows_per_head;
  const named_tensors has{{"position_queries", random_stored({16, 5}, 28)}};
  exactly(source, target, has);
  auto other = source;
  other.rule = span_rule{
      .span = 8,
      .buckets = log_rule{{.num_buckets = 8, .max_position = 41, .beyond = coordinate::beyond_max_position::clamped}}};
  refused(source, other, has, "rule");
}

TEST_CASE("rows move with their offset and the padding row keeps its distance", "[conversion]") {
  auto source = learned_checkpoint();
  auto target = source;
  target.row_offset = 0;
  target.rows = 9;
  const named_tensors has{{"table", random_stored({11, 6}, 29)}};
  const auto got = exactly(source, target, has);
  for (index_t p = 0; p < 9; ++p) {
    for (index_t d = 0; d < 6; ++d) CHECK(at(got.at("table"), {p, d}) == at(has.at("table"), {p + 2, d}));
  }
  const auto grown = exactly(target, source, got);
  CHECK(at(grown.at("table"), {1, 3}) == 0.0);
  CHECK(at(grown.at("table"), {2, 3}) == at(has.at("table"), {2, 3}));

  auto wrong_rows = target;
  wrong_rows.rows = 10;
  refused(source, wrong_rows, has, "rows");
  source.padding_row = 1;
  refused(source, target, has, "padding_row");  // which would be lost
  target.rows = 10;
  target.row_offset = 1;
  target.padding_row = 0;
  const auto with_padding = exactly(source, target, has);
  CHECK(at(with_padding.at("table"), {0, 4}) == at(has.at("table"), {1, 4}));
  target.padding_row = none;
  refused(source, target, has, "padding_row");
}

TEST_CASE("position ids are made again and must be what the rows are", "[conversion]") {
  const auto source = learned_checkpoint();
  auto target = source;
  target.revision = source_revision("target 1");
  named_tensors has{{"table", random_stored({11, 6}, 30)}};
  const auto without = converted(source, target, has);
  CHECK(without.report.recomputed == std::vector<std::string>{"position_ids"});
  has["position_ids"] = {.extents = {1, 11}, .values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
  CHECK(converted(source, target, has).tensors == without.tensors);
  std::swap(has["position_ids"].values[4], has["position_ids"].values[5]);
  refused(source, target, has, "position_ids");
}

TEST_CASE("sinusoids change columns within the rounding of a sum", "[conversion]") {
  const auto source = sinusoid_checkpoint();
  auto target = source;
  target.layout = table_layout::concatenated;
  const named_tensors has{{"table", random_stored({11, 8}, 31)}};
  const auto result = converted(source, target, has);
  CHECK(result.proofs.front().bound > 0.0);
  CHECK(result.proofs.front().bound < 1e-10);
  for (index_t pair = 0; pair < 4; ++pair) {
    CHECK(at(result.tensors.at("table"), {3, pair}) == at(has.at("table"), {3, 2 * pair}));
    CHECK(at(result.tensors.at("table"), {3, 4 + pair}) == at(has.at("table"), {3, 2 * pair + 1}));
  }
  CHECK(converted(target, source, result.tensors).tensors == has);
  refused(source, target, {{"table", random_stored({11, 7}, 32)}}, "layout");
}

TEST_CASE("rotary projections change pairs and heads together", "[conversion]") {
  const auto source = rotary_checkpoint();
  auto target = source;
  target.rotary = rotary_layout{.pairs = transform::pairing::halves, .rotary_dim = 6};
  target.order = head_order({4, 5, 3, 2, 1, 0});
  const named_tensors has{{"layers.0.queries.weight", random_stored({42, 5}, 33)},
                          {"layers.0.queries.bias", random_stored({42}, 34)},
                          {"layers.0.keys.weight", random_stored({14, 5}, 35)}};
  const auto result = converted(source, target, has);
  const conversion_proof& proof = result.proofs.front();
  CHECK(proof.identities.size() == 2);
  CHECK(proof.bound > 0.0);
  CHECK(proof.bound < 1e-10);
  CHECK(proof.compared == 2 * 6 * 7 * 9);
  // Head 4 stands first; of its pair (2, 3) the first is dimension 1 of the halves.
  CHECK(at(result.tensors.at("layers.0.queries.bias"), {1}) == at(has.at("layers.0.queries.bias"), {4 * 7 + 2}));
  CHECK(at(result.tensors.at("layers.0.keys.weight"), {1, 2}) == at(has.at("layers.0.keys.weight"), {7 + 2, 2}));
  CHECK(converted(target, source, result.tensors).tensors == has);

  target.rotary = rotary_layout{.pairs = transform::pairing::halves, .rotary_dim = 4};
  refused(source, target, has, "rotary");
}

TEST_CASE("a score scale is folded into queries that the contract has", "[conversion]") {
  const auto source = rotary_checkpoint();
  auto target = source;
  target.scale_factor = none;
  const named_tensors has{{"layers.0.queries.weight", random_stored({42, 5}, 36)},
                          {"layers.0.queries.bias", random_stored({42}, 37)},
                          {"layers.0.keys.weight", random_stored({14, 5}, 38)}};
  const auto result = converted(source, target, has);
  CHECK_THAT(at(result.tensors.at("layers.0.queries.bias"), {3}),
             WithinRel(at(has.at("layers.0.queries.bias"), {3}) / std::sqrt(7.0), 1e-12));
  CHECK(result.proofs.front().bound < 1e-10);
  auto t5 = t5_checkpoint();
  t5.scale_factor = 1;
  refused(t5_checkpoint(), t5, {{"table", random_stored({12, 3}, 39)}}, "scale_factor");
}

}  // namespace conversion_steps_test
