// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

#include <cmath>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"

namespace deberta_test {

using namespace posgeo;
using namespace posgeo::test;
using content::deberta;
using content::deberta_terms;
using content::p2c_index;
using coordinate::beyond_max_position;
using coordinate::deberta_span;
using coordinate::log_bucket;

static_assert(content_term<deberta<float>, float> && content_term<deberta<float>, double>);

constexpr heads grouped{.query = 4, .key_value = 2, .dim = 3};
constexpr auto released = p2c_index::released_code;

head_tables<double> tables_of(index_t rows, unsigned seed, const heads& layout = grouped) {
  const index_t columns = layout.query * layout.dim;
  return head_tables<double>::by_column(random_table(rows, columns, seed), layout.query);
}

deberta<double> policy_of(deberta_terms terms, const deberta_span& span) {
  content::deberta_tables<double> tables;
  if (terms.has_c2p()) tables.position_keys = tables_of(span.rows(), 621);
  if (terms.has_p2c()) tables.position_queries = tables_of(span.rows(), 622);
  return {terms, span, tables};
}

/// Two entries, three queries and five keys at positions that are no range.
position_call two_entries() {
  const std::vector<index_t> queries{4, 9, -2, 0, 1, 7};
  const std::vector<index_t> keys{0, 3, 9, 4, -20, 5, 30, 1, 2, 8};
  return call::explicit_positions(
      {.entries = 2, .query = {.positions = queries, .rows = 3}, .key = {.positions = keys, .rows = 5}});
}

template <class... Policies>
attention_result<double> scores_of(const position_call& call, const attention_inputs<double>& in,
                                   const Policies&... policies) {
  const attention model{grouped, visible::everything{}, policies...};
  return attend(eager{}, model.template compile<double>(call), in.view(), also::everything);
}

/// The paper's delta(i, j).
index_t delta(index_t i, index_t j, index_t k) { return i - j <= -k ? 0 : i - j >= k ? 2 * k - 1 : i - j + k; }

TEST_CASE("deberta scores are the direct sum of their dot products", "[deberta]") {
  const auto call = two_entries();
  const attention_inputs<double> in(grouped, call, 2, 623);
  const index_t k = 6;
  const auto keys = tables_of(2 * k, 621);
  const auto queries = tables_of(2 * k, 622);
  for (const auto index : {p2c_index::released_code, p2c_index::paper}) {
    for (const auto& terms : {deberta_terms::c2p(), deberta_terms::p2c(index), deberta_terms::both(index)}) {
      const auto result = scores_of(call, in, scale::inverse_sqrt_terms{}, policy_of(terms, deberta_span::exact(k)));
      const double divisor = std::sqrt(3.0 * static_cast<double>(1 + terms.count()));
      for (index_t b = 0; b < 2; ++b) {
        for (index_t h = 0; h < 4; ++h) {
          for (index_t i = 0; i < 3; ++i) {
            double sum_of_exponentials = 0.0;
            for (index_t j = 0; j < 5; ++j) {
              const index_t at_i = call.at(batch_index{b}, query_index{i}).value();
              const index_t at_j = call.at(batch_index{b}, key_index{j}).value();
              const auto q = in.query.view().row(b, h, i);
              const auto key = in.key.view().row(b, h / 2, j);
              double expected = dot(q, key);
              if (terms.has_c2p()) expected += dot(q, keys.row(head_index{h}, delta(at_i, at_j, k)));
              if (terms.has_p2c()) {
                const index_t row = index == p2c_index::paper ? delta(at_j, at_i, k) : delta(at_i, at_j, k);
                expected += dot(key, queries.row(head_index{h}, row));
              }
              CHECK_THAT(result.scores(b, h, i, j), WithinAbs(expected / divisor, 1e-13));
              sum_of_exponentials += std::exp(expected / divisor);
            }
            CHECK_THAT(result.log_sum_exp(b, h, i), WithinAbs(std::log(sum_of_exponentials), 1e-13));
          }
        }
      }
    }
  }
}

TEST_CASE("the two position-to-content rules agree on the diagonal and mirror each other elsewhere", "[deberta]") {
  constexpr heads one{};
  const auto call = call_at({2, 3, 5, 9, 20});
  const auto span = deberta_span::exact(4);
  const auto queries = head_tables<double>::shared({random_values<double>(8, 625), 8, 1});
  const auto p2c = [&](p2c_index index) {
    const deberta<double> policy(deberta_terms::p2c(index), span, {.position_queries = queries});
    const tensor<double, 4> q({1, 1, 5, 1});
    tensor<double, 4> k({1, 1, 5, 1});
    std::fill(k.values().begin(), k.values().end(), 1.0);  // the gathered table itself
    const attention model{one, scale::none{}, visible::everything{}, policy};
    return attend(eager{}, model.compile<double>(call), {q.view(), k.view(), k.view()}, also::scores).scores;
  };
  const auto code = p2c(released);
  const auto paper = p2c(p2c_index::paper);
  for (index_t i = 0; i < 5; ++i) {
    for (index_t j = 0; j < 5; ++j) {
      CHECK(code(0, 0, i, j) == paper(0, 0, j, i));
      CHECK((code(0, 0, i, j) == paper(0, 0, i, j)) == (i == j));
    }
  }
}

TEST_CASE("deberta is the same wherever both rows stand and not when they swap", "[deberta]") {
  const auto span = deberta_span::bucketed(
      log_bucket({.num_buckets = 8, .max_position = 33, .beyond = beyond_max_position::clamped}));
  const auto policy = policy_of(deberta_terms::both(released), span);
  const auto at = [&](index_t query, index_t key) {
    const auto row = random_values<double>(3, 627);
    return policy.compile<double>(call_at({query}, {key}), grouped)(batch_index{0}, head_index{3}, query_index{0},
                                                                    key_index{0}, row, row);
  };
  for (const index_t by : {index_t{1}, index_t{-300}, index_t{1} << 40}) CHECK(at(8 + by, 3 + by) == at(8, 3));
  CHECK(at(8, 3) != at(3, 8));
  CHECK(at(8, 3) == at(9, 3));  // distances 5 to 8 share a bucket
  CHECK(at(8, 3) != at(12, 3));
}

TEST_CASE("deberta with one term less is divided by less", "[deberta]") {
  const auto call = call_at({1});
  const auto factor = [&](const auto&... policies) {
    const attention model{grouped, scale::inverse_sqrt_terms{}, visible::everything{}, policies...};
    return model.template compile<double>(call).scale();
  };
  const auto span = deberta_span::exact(4);
  CHECK_THAT(factor(policy_of(deberta_terms::both(released), span)), WithinRel(1.0 / 3.0, 1e-15));
  CHECK_THAT(factor(policy_of(deberta_terms::c2p(), span)), WithinRel(1.0 / std::sqrt(6.0), 1e-15));
  CHECK_THAT(factor(policy_of(deberta_terms::p2c(released), span)), WithinRel(1.0 / std::sqrt(6.0), 1e-15));
  CHECK_THAT(factor(), WithinRel(1.0 / std::sqrt(3.0), 1e-15));
}

TEST_CASE("the terms of deberta are read from a checkpoint's names or refused", "[deberta]") {
  CHECK(deberta_terms::parse("c2p", released).has_c2p());
  CHECK(!deberta_terms::parse("c2p", released).has_p2c());
  CHECK(!deberta_terms::parse("p2c", released).has_c2p());
  CHECK(deberta_terms::parse("p2c", p2c_index::paper).index() == p2c_index::paper);
  for (const char* names : {"c2p|p2c", "p2c|c2p"}) {
    CHECK(deberta_terms::parse(names, released).count() == 2);
    CHECK(deberta_terms::parse(names, released).index() == released);
  }
  for (const char* names : {"", "p2p", "c2p|p2c|p2p", "c2p|c2p", "p2c|c2p|p2c", "c2p|", "|", "C2P", "c2p,p2c"}) {
    CAPTURE(names);
    CHECK(refusal([&] { return deberta_terms::parse(names, released); }).code() == errc::term_set);
  }
}

TEST_CASE("deberta wants exactly the tables of its terms, with twice the span in rows", "[deberta]") {
  const auto span = deberta_span::exact(5);
  const auto refused = [&](deberta_terms terms, const content::deberta_tables<double>& tables) {
    return refusal([&] { return deberta<double>(terms, span, tables); }).code();
  };
  const auto right = tables_of(10, 631);
  CHECK(refused(deberta_terms::c2p(), {}) == errc::term_set);
  CHECK(refused(deberta_terms::c2p(), {.position_keys = right, .position_queries = right}) == errc::term_set);
  CHECK(refused(deberta_terms::p2c(released), {.position_keys = right}) == errc::term_set);
  CHECK(refused(deberta_terms::both(released), {.position_keys = right}) == errc::term_set);
  CHECK(refused(deberta_terms::both(released), {.position_queries = right}) == errc::term_set);
  for (const index_t rows : {9, 11}) {  // 11 would be Shaw's 2 * 5 + 1
    CHECK(refused(deberta_terms::c2p(), {.position_keys = tables_of(rows, 632)}) == errc::table_rows);
    CHECK(refused(deberta_terms::p2c(released), {.position_queries = tables_of(rows, 632)}) == errc::table_rows);
  }
}

TEST_CASE("deberta refuses other heads, other widths, two frames and numbers that do not fit", "[deberta]") {
  const auto span = deberta_span::exact(2);
  const auto policy = policy_of(deberta_terms::both(released), span);
  const auto refused = [&](const deberta<double>& given, const position_call& call, const heads& layout) {
    return refusal([&] { return given.compile<float>(call, layout); }).code();
  };
  const auto call = call_at({0, 1});
  CHECK(refused(policy, call, {.query = 2, .key_value = 2, .dim = 3}) == errc::head_count);
  CHECK(refused(policy, call, {.query = 4, .key_value = 2, .dim = 6}) == errc::shape_mismatch);
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  CHECK(refused(policy, cross, grouped) == errc::frame_mismatch);
  const auto huge = head_tables<double>::shared({std::vector<double>(12, 1e39), 4, 3});
  CHECK(refused({deberta_terms::c2p(), span, {.position_keys = huge}}, call, grouped) == errc::non_finite);
  CHECK(refused({deberta_terms::p2c(released), span, {.position_queries = huge}}, call, grouped) == errc::non_finite);
}

TEST_CASE("plans of one deberta policy for calls of different lengths are each right", "[deberta]") {
  const attention model{grouped, scale::inverse_sqrt_terms{}, visible::everything{},
                        policy_of(deberta_terms::both(released), deberta_span::exact(8))};
  const auto short_plan = model.compile<double>(call::prefill_chunk(0, 4));
  const auto long_call = call::prefill_chunk(0, 6);
  const auto long_plan = model.compile<double>(long_call);
  const attention_inputs<double> in(grouped, long_call, 2, 641);
  const auto whole = attend(eager{}, long_plan, in.view(), also::scores);
  const auto content = [&](const auto& plan, index_t i, index_t j) {
    return plan.content(batch_index{0}, head_index{1}, query_index{i}, key_index{j}, in.query.view().row(0, 1, i),
                        in.key.view().row(0, 0, j));
  };
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 4; ++j) CHECK(content(short_plan, i, j) == content(long_plan, i, j));
  }
  // The last query alone, against the same keys.
  const auto step = model.compile<double>(call::prefill_chunk(5, 1));
  const heads_view<const double> last(in.query.view().row(0, 0, 5).data(), {1, 4, 1, 3}, in.query.view().strides());
  const auto one = attend(eager{}, step, {last, in.key.view(), in.value.view()}, also::scores);
  for (index_t h = 0; h < 4; ++h) {
    for (index_t j = 0; j < 6; ++j) CHECK(one.scores(0, h, 0, j) == whole.scores(0, h, 5, j));
  }
}

}  // namespace deberta_test
