// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/everything.hpp>

#include <cmath>
#include <string>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"
#include "support/score_error.hpp"

namespace tupe_test {

using namespace posgeo;
using namespace posgeo::test;
using content::tupe;
using content::tupe_cls;

static_assert(content_term<tupe<float>, float> && content_term<tupe<float>, double>);

constexpr heads grouped{.query = 4, .key_value = 2, .dim = 3};
const auto first_row = tupe_cls::released(position{0});

head_tables<double> rows_of(index_t rows, unsigned seed) {
  return head_tables<double>::by_column(random_table(rows, 12, seed), 4);
}
tupe<double> policy_of(tupe_cls cls, index_t rows = 11) {
  return {{.queries = rows_of(rows, 651), .keys = rows_of(rows, 652)}, cls};
}

/// The product of two table rows.
double product(index_t h, index_t query_row, index_t key_row, index_t rows = 11) {
  const auto queries = rows_of(rows, 651);
  const auto keys = rows_of(rows, 652);
  double sum = 0.0;
  for (std::size_t d = 0; d < 3; ++d) {
    sum += queries.row(head_index{h}, query_row)[d] * keys.row(head_index{h}, key_row)[d];
  }
  return sum;
}

/// The term of head h, [queries, keys], under content that must not matter.
std::vector<double> terms(const tupe<double>& policy, const position_call& call, index_t h) {
  const auto term = policy.compile<double>(call, grouped);
  std::vector<double> out;
  unsigned seed = 653;
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) {
      const auto content = random_values<double>(3, seed++);
      out.push_back(term(batch_index{0}, head_index{h}, i, j, content, content));
    }
  }
  return out;
}

TEST_CASE("tupe adds the product of the position rows and ignores content", "[tupe]") {
  const auto call = call_at({7, 0, 2}, {5, 1, 10, 0});
  for (index_t h = 0; h < 4; ++h) {
    std::vector<double> expected;
    for (const index_t i : {7, 0, 2}) {
      for (const index_t j : {5, 1, 10, 0}) expected.push_back(product(h, i, j));
    }
    CHECK(terms(policy_of(tupe_cls::untouched()), call, h) == expected);
  }
}

TEST_CASE("the released rule resets the CLS column and then the CLS row", "[tupe]") {
  const auto call = call_at({0, 3, 9}, {0, 4, 8});
  for (index_t h = 0; h < 4; ++h) {
    const double to_others = product(h, 0, 0);
    const double to_cls = product(h, 1, 1);
    CHECK(to_others != to_cls);  // the two directions of CLS are parameters of their own
    CHECK(terms(policy_of(first_row), call, h) == std::vector<double>{to_others, to_others, to_others,             //
                                                                      to_cls, product(h, 4, 5), product(h, 4, 9),  //
                                                                      to_cls, product(h, 10, 5), product(h, 10, 9)});
  }
}

TEST_CASE("the CLS rule goes by position and a call without CLS has none", "[tupe]") {
  const auto at_five = policy_of(tupe_cls::released(position{5}));
  CHECK(terms(at_five, call_at({5, 0}, {2, 5}), 2) ==
        std::vector<double>{product(2, 0, 0), product(2, 0, 0), product(2, 1, 3), product(2, 1, 1)});
  CHECK(terms(policy_of(first_row), call_at({4}, {3, 6}), 1) ==
        std::vector<double>{product(1, 5, 4), product(1, 5, 7)});
}

TEST_CASE("tupe changes when both rows move", "[tupe]") {
  const auto policy = policy_of(tupe_cls::untouched());
  CHECK(terms(policy, call_at({3}, {5}), 0) != terms(policy, call_at({4}, {6}), 0));
  CHECK(terms(policy, call_at({3}, {5}), 0) != terms(policy, call_at({5}, {3}), 0));
}

TEST_CASE("tupe is divided by the root of two head widths with the content", "[tupe]") {
  const auto call = call_at({0, 2, 3, 7});
  const attention_inputs<double> in(grouped, call, 2, 655);
  const attention model{grouped, scale::inverse_sqrt_terms{}, visible::everything{}, policy_of(first_row)};
  CHECK(model.dot_products() == 2);
  const auto result = attend(eager{}, model.compile<double>(call), in.view(), also::scores);
  for (index_t h = 0; h < 4; ++h) {
    double content = 0.0;
    for (index_t d = 0; d < 3; ++d) content += in.query(0, h, 2, d) * in.key(0, h / 2, 3, d);
    CHECK_THAT(result.scores(0, h, 2, 3), WithinAbs((content + product(h, 4, 8)) / std::sqrt(6.0), 1e-14));
  }
}

TEST_CASE("tupe with the relative bias equals the release, which adds both to scaled content", "[tupe]") {
  const auto call = call_at({0, 1, 2, 5, 9}, {0, 1, 2, 3, 5, 9});
  const attention_inputs<double> in(grouped, call, 5, 657);
  const coordinate::t5_bucket bucket(
      {.num_buckets = 8, .max_distance = 20, .direction = coordinate::bucket_direction::bidirectional});
  const bias::tupe_relative<double> relative({random_values<double>(9 * 4, 658), 9, 4}, bucket, {.cls = position{0}});
  const attention model{grouped, scale::inverse_sqrt_terms{}, visible::everything{}, policy_of(first_row), relative};
  const auto ours = attend(eager{}, model.compile<double>(call), in.view(), also::everything);

  // Position queries times (2 d)^-0.5, products and overrides, then the relative values: one bias for scaled content.
  const double factor = std::pow(2.0 * 3.0, -0.5);
  const auto relative_term = relative.compile<double>(call, grouped);
  tensor<double, 4> added({1, 4, 5, 6});
  for (index_t h = 0; h < 4; ++h) {
    const auto absolute = terms(policy_of(first_row), call, h);
    for (index_t i = 0; i < 5; ++i) {
      for (index_t j = 0; j < 6; ++j) {
        added(0, h, i, j) = factor * absolute[static_cast<std::size_t>(i * 6 + j)] +
                            relative_term(batch_index{0}, head_index{h}, query_index{i}, key_index{j});
      }
    }
  }
  const attention as_released{grouped, scale::constant(factor), visible::everything{},
                              bias::pair<double>(added.view())};
  const auto theirs = attend(eager{}, as_released.compile<double>(call), in.view(), also::everything);
  CHECK(largest_difference(ours.scores.values(), theirs.scores.values()) < 1e-14);
  CHECK(largest_difference(ours.log_sum_exp.values(), theirs.log_sum_exp.values()) < 1e-14);
  CHECK(largest_difference(ours.output.values(), theirs.output.values()) < 1e-14);
}

TEST_CASE("the layers of a stack share the projected position rows", "[tupe]") {
  const auto policy = policy_of(first_row);
  const tupe<double> layer_0 = policy;
  const tupe<double> layer_1 = policy;
  CHECK(layer_0.position_queries().values().data() == layer_1.position_queries().values().data());
  CHECK(layer_0.position_keys().values().data() == layer_1.position_keys().values().data());
}

TEST_CASE("padding keys may stand outside the table and add nothing", "[tupe]") {
  const std::vector<index_t> queries{2};
  const std::vector<index_t> keys{1, 99};
  const std::vector<std::uint8_t> active{1, 0};
  const auto call = call::explicit_positions(
      {.query = {.positions = queries, .rows = 1}, .key = {.positions = keys, .active = active, .rows = 2}});
  CHECK(terms(policy_of(first_row), call, 0) == std::vector<double>{product(0, 3, 2), 0.0});
}

/// The largest difference of a padded model's scores to products divided by sqrt(6), for tokens with tokens.
double padded_error(const position_call& call) {
  const attention_inputs<double> in(grouped, call, 2, 659);
  const attention model{grouped, scale::inverse_sqrt_terms{}, visible::active{}, policy_of(first_row)};
  return score_error(model, call, in, 1.0 / std::sqrt(6.0),
                     [&](batch_index b, head_index h, query_index i, key_index j, auto, auto) {
                       const index_t query = call.at(b, i).value();
                       const index_t key = call.at(b, j).value();
                       if (query == 0) return product(h.value(), 0, 0);
                       return key == 0 ? product(h.value(), 1, 1) : product(h.value(), query + 1, key + 1);
                     });
}

TEST_CASE("padded self-attention may run beyond the table on both sides", "[tupe]") {
  const std::vector<index_t> lengths{9, 4};
  const auto padded = [&](call::padded_positions positions) {
    return call::padded_batch(
        {.lengths = lengths, .rows = 13, .side = call::padding_side::right, .positions = positions});
  };
  CHECK(padded_error(padded(call::padded_positions::contiguous())) < 1e-13);  // rows to 12, the table to 9
  CHECK(padded_error(padded(call::padded_positions::fixed(0, -1))) < 1e-13);
  const std::vector<call::prefill_entry> chunks{
      {.committed_length = 7, .first_position = 7, .length = 3, .past_length = 7},
      {.committed_length = 8, .first_position = 8, .length = 1, .past_length = 5, .sequence = 1}};
  CHECK(padded_error(call::prefill_chunk({.entries = chunks, .query_rows = 5, .key_rows = 14})) < 1e-13);
  const std::vector<call::decode_entry> steps{
      {.committed_length = 9, .query_position = 9, .past_length = 9},
      {.committed_length = 3, .query_position = 3, .past_length = 2, .padding = 4, .sequence = 1}};
  CHECK(padded_error(call::decode_step({.entries = steps, .key_rows = 12})) < 1e-13);

  const auto term = policy_of(first_row).compile<double>(padded(call::padded_positions::contiguous()), grouped);
  const auto row = random_values<double>(3, 653);
  CHECK(term(batch_index{1}, head_index{0}, query_index{12}, key_index{1}, row, row) == 0.0);
  CHECK(term(batch_index{1}, head_index{0}, query_index{6}, key_index{1}, row, row) == product(0, 7, 2));  // it has one
  CHECK(term(batch_index{1}, head_index{0}, query_index{1}, key_index{12}, row, row) == 0.0);
}

TEST_CASE("the position of CLS must have a row", "[tupe]") {
  for (const index_t cls : {-1, 10, 100}) {
    CHECK(refusal([&] { return policy_of(tupe_cls::released(position{cls})); }).code() == errc::special_row);
  }
  CHECK(policy_of(tupe_cls::released(position{9})).cls() == position{9});
  CHECK_FALSE(policy_of(tupe_cls::untouched()).cls());
}

TEST_CASE("two rules for CLS are not one model", "[tupe]") {
  const coordinate::t5_bucket bucket(
      {.num_buckets = 8, .max_distance = 20, .direction = coordinate::bucket_direction::bidirectional});
  const auto listed = [&](tupe_cls absolute, index_t relative) {
    const attention model{
        grouped, scale::inverse_sqrt_terms{}, visible::everything{}, policy_of(absolute),
        bias::tupe_relative<double>({random_values<double>(9 * 4, 658), 9, 4}, bucket, {.cls = position{relative}})};
    return codes(model.check(call_at({0, 1})));
  };
  CHECK(listed(first_row, 0).empty());
  CHECK(listed(tupe_cls::released(position{3}), 3).empty());
  CHECK(listed(first_row, 1) == std::vector{errc::special_row});
  CHECK(listed(tupe_cls::untouched(), 0) == std::vector{errc::special_row});
}

TEST_CASE("tables that fit may have products that do not", "[tupe]") {
  const auto with = [](double query, double key) {
    return tupe<double>({.queries = head_tables<double>::shared({std::vector<double>{query, 1.0, 1.0}, 3, 1}),
                         .keys = head_tables<double>::shared({std::vector<double>{1.0, key, 1.0}, 3, 1})},
                        tupe_cls::untouched());
  };
  const heads one{};
  // position 0 asks, position 1 answers
  const auto refused = refusal([&] { return with(1e25, 1e25).compile<float>(call_at({0, 1, 2}), one); });
  CHECK(refused.code() == errc::non_finite);
  CHECK(std::string(refused.what()).find("positions 0 and 1") != std::string::npos);
  CHECK_NOTHROW(with(1e25, 1e25).compile<float>(call_at({1, 2}, {0, 1, 2}), one));  // nobody asks for it
  CHECK_NOTHROW(with(1e25, 1e25).compile<double>(call_at({0, 1, 2}), one));
  CHECK(refusal([&] {
          return with(1e200, -1e200).compile<double>(call_at({0, 1, 2}), one);
        }).code() == errc::non_finite);
}

TEST_CASE("tupe refuses tables and calls that do not fit", "[tupe]") {
  CHECK(refusal([] { return tupe<double>({.queries = rows_of(5, 1), .keys = rows_of(6, 2)}, first_row); }).code() ==
        errc::table_rows);
  CHECK(refusal([] { return policy_of(first_row, 1); }).code() == errc::table_rows);
  CHECK(policy_of(first_row).capacity() == 10);
  CHECK(policy_of(tupe_cls::untouched()).capacity() == 11);

  const auto refused = [](const tupe<double>& policy, const position_call& call, const heads& layout = grouped) {
    return refusal([&] { return policy.compile<float>(call, layout); }).code();
  };
  const auto policy = policy_of(first_row);
  CHECK(refused(policy, call_at({10}, {0})) == errc::position_out_of_table);
  CHECK(refused(policy, call_at({0}, {10})) == errc::position_out_of_table);
  CHECK(refused(policy, call_at({-1}, {0})) == errc::position_out_of_table);
  CHECK_NOTHROW(policy.compile<float>(call_at({9}, {9}), grouped));
  CHECK(refused(policy, call_at({0}), {.query = 2, .key_value = 1, .dim = 3}) == errc::head_count);
  CHECK(refused(policy, call_at({0}), {.query = 4, .key_value = 2, .dim = 4}) == errc::shape_mismatch);
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  CHECK(refused(policy, cross) == errc::frame_mismatch);
  const auto huge = head_tables<double>::shared({std::vector<double>(9, 1e39), 3, 3});
  const auto small = head_tables<double>::shared({std::vector<double>(9, 1.0), 3, 3});
  CHECK(refused({{.queries = huge, .keys = small}, first_row}, call_at({0})) == errc::non_finite);
  CHECK(refused({{.queries = small, .keys = huge}, first_row}, call_at({0})) == errc::non_finite);
}

}  // namespace tupe_test
