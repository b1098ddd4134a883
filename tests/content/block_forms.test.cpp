// SPDX-License-Identifier: MIT
#include "support/block_forms.hpp"

#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>

#include <cmath>
#include <limits>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"

namespace content_block_forms_test {

using namespace posgeo;
using namespace posgeo::test;
using content::clamp_len;
using content::deberta_terms;
using content::distance_order;
using content::distance_reach;
using content::p2c_index;
using content::tupe_cls;
using coordinate::beyond_ends;
using coordinate::clipped;
using coordinate::deberta_span;
using coordinate::log_bucket;

constexpr heads layout{.query = 4, .key_value = 2, .dim = 3};

template <class Policy, class T>
using term_of = compiled_t<Policy, T>;
using shaw = term_of<content::shaw_key<double>, float>;
using bert = term_of<content::relative_key_query<float>, double>;
using txl = term_of<content::transformer_xl<float>, double>;
using by_rows = term_of<content::transformer_xl<double, content::distance_rows<double>>, float>;
using disentangled = term_of<content::deberta<double>, float>;
using untied = term_of<content::tupe<float>, float>;
static_assert(query_sided<shaw, float> && !key_sided<shaw, float> && !adds_to_query<shaw, float>);
static_assert(query_sided<bert, double> && key_sided<bert, double> && !appended_product<bert, double>);
static_assert(query_sided<txl, double> && adds_to_query<txl, double> && !key_sided<txl, double>);
static_assert(query_sided<by_rows, float> && adds_to_query<by_rows, float>);
static_assert(query_sided<disentangled, float> && key_sided<disentangled, float>);
static_assert(appended_product<untied, float> && !query_sided<untied, float> && !key_sided<untied, float>);

head_tables<double> stacked(index_t rows, unsigned seed) {
  return head_tables<double>::stacked(random_table(layout.query * rows, layout.dim, seed), layout.query);
}
head_tables<double> shared(index_t rows, unsigned seed) {
  return head_tables<double>::shared(random_table(rows, layout.dim, seed));
}

/// A sum of parts, with the sum of their sizes to measure its rounding by.
struct parts {
  double sum = 0.0;
  double size = 0.0;
  void add(double part) {
    sum += part;
    size += std::abs(part);
  }
  template <class A, class B>
  void add_product(const A& a, const B& b) {
    for (std::size_t d = 0; d < a.size(); ++d) add(static_cast<double>(a[d]) * static_cast<double>(b[d]));
  }
};

template <class T, class Side>
void add_side(const Side& side, head_index h, relative_offset offset, std::vector<T> row, parts& all) {
  const index_t c = side.of(offset);
  if (c < 0 || c >= side.classes()) {
    all.add(std::numeric_limits<double>::quiet_NaN());
    return;
  }
  std::vector<T> class_row(row.size(), T{-99});
  side.row(h, c, std::span<T>(class_row));
  side.shift(h, std::span<T>(row));
  all.add_product(row, class_row);
}

/// Everything that the block forms of a term add to one raw score.
template <class T, class Term>
parts block_sum(const Term& term, const position_call& call, batch_index b, head_index h, query_index i, key_index j,
                const std::vector<T>& query, const std::vector<T>& key) {
  parts all;
  if constexpr (query_sided<Term, T>) {
    if (const auto side = term.query_side()) add_side(*side, h, call.offset(b, i, j), query, all);
  }
  if constexpr (key_sided<Term, T>) {
    if (const auto side = term.key_side()) add_side(*side, h, call.offset(b, i, j), key, all);
  }
  if constexpr (adds_to_query<Term, T>) {
    std::vector<T> raised = query;
    term.add_to_query(h, std::span<T>(raised));
    all.add_product(raised, key);
    std::vector<T> lowered = query;
    for (T& x : lowered) x = -x;
    all.add_product(lowered, key);
  }
  if constexpr (appended_product<Term, T>) {
    const auto width = static_cast<std::size_t>(term.appended_dim());
    std::vector<T> of_query(width, T{-99});
    std::vector<T> of_key(width, T{-99});
    term.append_query(b, h, i, std::span<T>(of_query));
    const head_index key_head = term.append_tables() == 1 ? head_index{layout.query - 1} : h;
    term.append_key(b, key_head, j, std::span<T>(of_key));
    all.add_product(of_query, of_key);
  }
  return all;
}

/// The block forms add up to the scalar form at every pair of the random calls that the policy accepts. Gives how many
/// pairs those were.
template <class T, class Policy>
index_t check_blocks(const Policy& policy, unsigned seed, const std::vector<position_call>& calls) {
  index_t pairs = 0;
  const std::vector<T> rows = random_values<T>(64, seed);
  const auto row = [&rows](index_t n) { return std::vector<T>(rows.begin() + n % 61, rows.begin() + n % 61 + 3); };
  for (const position_call& call : calls) {
    violations found;
    policy.check(call, layout, found);
    if (!found.empty()) continue;
    const auto term = policy.template compile<T>(call, layout);
    std::vector<index_t> wrong;  // offsets of pairs
    for_each_place(call, layout.query, [&](batch_index b, head_index h, query_index i, key_index j) {
      const std::vector<T> query = row(7 * i.value() + 5 * h.value());
      const std::vector<T> key = row(11 * j.value() + 3 * b.value());
      const T scalar = term(b, h, i, j, std::span<const T>(query), std::span<const T>(key));
      const parts sum = block_sum(term, call, b, h, i, j, query, key);
      const double most = 8.0 * static_cast<double>(std::numeric_limits<T>::epsilon()) * sum.size;
      if (!(std::abs(sum.sum - static_cast<double>(scalar)) <= most)) wrong.push_back(call.offset(b, i, j).value());
      ++pairs;
    });
    REQUIRE(wrong == std::vector<index_t>{});
  }
  return pairs;
}

/// The classes of a side change up to its ends and not beyond.
template <class Side>
void check_side_ends(const Side& side) {
  check_constant_beyond(side.constant_beyond(), [&](relative_offset o) { return side.of(o); });
}

clipped classes(index_t behind, index_t ahead, offset_sign sign, beyond_ends beyond = beyond_ends::clipped) {
  return clipped({.behind = behind, .ahead = ahead, .sign = sign, .beyond = beyond});
}
constexpr auto forward = offset_sign::key_minus_query;
constexpr auto backward = offset_sign::query_minus_key;

/// A query and the key that stands `distance` before it.
position_call call_row_at(index_t distance) { return call_at({12}, {12 - distance}); }

/// Calls of no more than 40 positions, so that tables with ends accept many of them.
std::vector<position_call> near_calls(unsigned seed) {
  std::vector<position_call> out;
  for (const position_call& call : random_calls(seed)) {
    const auto bounds = coordinate::bounds_of_offsets(call);
    if (bounds && bounds->lowest.value() > -40 && bounds->highest.value() < 40) out.push_back(call);
  }
  return out;
}

TEMPLATE_TEST_CASE("shaw's key term is its query side", "[block_forms]", float, double) {
  for (const auto sign : {forward, backward}) {
    for (const auto& rows : {stacked(8, 931), shared(8, 932)}) {
      CHECK(check_blocks<TestType>(content::shaw_key<double>(rows, classes(4, 3, sign)), 933, random_calls(933)) >
            1000);
    }
  }
  const content::shaw_key<double> refused(stacked(90, 934), classes(45, 44, backward, beyond_ends::refused));
  CHECK(check_blocks<TestType>(refused, 935, random_calls(935)) > 1000);
}

TEMPLATE_TEST_CASE("relative_key_query has the same rows on both sides", "[block_forms]", float, double) {
  const content::relative_key_query<double> policy(random_table(2 * 45 - 1, layout.dim, 936), 45);
  CHECK(check_blocks<TestType>(policy, 937, random_calls(937)) > 1000);
}

TEMPLATE_TEST_CASE("transformer-xl is its query side and what it adds to the query", "[block_forms]", float, double) {
  const content::global_biases<double> biases{.content = random_table(layout.query, layout.dim, 938),
                                              .position = random_table(layout.query, layout.dim, 939)};
  for (const auto order : {distance_order::ascending, distance_order::descending}) {
    const content::transformer_xl<double, content::distance_rows<double>> policy(
        biases, {stacked(90, 940), {.lowest = -41, .order = order}});
    CHECK(check_blocks<TestType>(policy, 941, random_calls(941)) > 1000);
  }
  for (const auto reach : {distance_reach::both_ways, distance_reach::back_only}) {
    for (const auto clamp : {clamp_len::unlimited(), clamp_len::at(3)}) {
      const content::transformer_xl<double> policy(
          biases, {random_table(layout.query * layout.dim, 8, 942), {.reach = reach, .clamp = clamp}});
      CHECK(check_blocks<TestType>(policy, 943, near_calls(943)) > 1000);
    }
  }
}

TEMPLATE_TEST_CASE("deberta is its two sides", "[block_forms]", float, double) {
  const auto buckets = [](coordinate::beyond_max_position beyond) {
    return deberta_span::bucketed(log_bucket({.num_buckets = 8, .max_position = 12, .beyond = beyond}));
  };
  for (const deberta_span& span : {deberta_span::exact(5), buckets(coordinate::beyond_max_position::clamped),
                                   buckets(coordinate::beyond_max_position::runs_on)}) {
    for (const auto index : {p2c_index::released_code, p2c_index::paper}) {
      const auto c2p = stacked(span.rows(), 944);
      const auto p2c = shared(span.rows(), 945);
      const content::deberta<double> both(deberta_terms::both(index), span,
                                          {.position_keys = c2p, .position_queries = p2c});
      const content::deberta<double> c2p_only(deberta_terms::c2p(), span, {.position_keys = c2p});
      const content::deberta<double> p2c_only(deberta_terms::p2c(index), span, {.position_queries = p2c});
      CHECK(check_blocks<TestType>(both, 946, random_calls(946)) > 1000);
      CHECK(check_blocks<TestType>(c2p_only, 947, random_calls(947)) > 1000);
      CHECK(check_blocks<TestType>(p2c_only, 948, random_calls(948)) > 1000);
      const auto call = random_calls(949).front();
      CHECK_FALSE(c2p_only.template compile<TestType>(call, layout).key_side().has_value());
      CHECK_FALSE(p2c_only.template compile<TestType>(call, layout).query_side().has_value());
    }
  }
}

TEST_CASE("sides are constant beyond their ends and no sooner", "[block_forms]") {
  const auto call = near_calls(950).front();
  for (const auto sign : {forward, backward}) {
    const auto term = content::shaw_key<double>(stacked(8, 951), classes(4, 3, sign)).compile<double>(call, layout);
    check_side_ends(*term.query_side());
  }
  for (const index_t lowest : {-3, 0, 5}) {
    const content::transformer_xl<double, content::distance_rows<double>> policy(
        {.content = random_table(layout.query, layout.dim, 952),
         .position = random_table(layout.query, layout.dim, 953)},
        {stacked(60, 954), {.lowest = lowest, .order = distance_order::descending}});
    const auto back = call_row_at(lowest);
    check_side_ends(*policy.compile<double>(back, layout).query_side());
  }
  std::vector<deberta_span> spans{deberta_span::exact(1), deberta_span::exact(7)};
  for (const auto beyond : {coordinate::beyond_max_position::clamped, coordinate::beyond_max_position::runs_on}) {
    for (const index_t count : {4, 6, 32, 256}) {
      for (const index_t furthest : {index_t{300}, index_t{512}, index_t{1} << 20}) {
        spans.push_back(
            deberta_span::bucketed(log_bucket({.num_buckets = count, .max_position = furthest, .beyond = beyond})));
      }
    }
  }
  for (const deberta_span& span : spans) {
    for (const auto index : {p2c_index::released_code, p2c_index::paper}) {
      const content::deberta<double> policy(
          deberta_terms::both(index), span,
          {.position_keys = shared(span.rows(), 955), .position_queries = shared(span.rows(), 956)});
      const auto term = policy.compile<double>(call, layout);
      check_side_ends(*term.query_side());
      check_side_ends(*term.key_side());
    }
  }
}

TEMPLATE_TEST_CASE("tupe is the product of its appended rows", "[block_forms]", float, double) {
  index_t cls_seen = 0;
  for (const tupe_cls cls : {tupe_cls::untouched(), tupe_cls::released(position{0}), tupe_cls::released(position{2})}) {
    for (const auto& keys : {stacked(45, 957), shared(45, 958)}) {
      const content::tupe<double> policy({.queries = stacked(45, 959), .keys = keys}, cls);
      const auto calls = random_calls(960);
      CHECK(check_blocks<TestType>(policy, 961, calls) > 1000);
      const auto term = policy.template compile<TestType>(call_row_at(0), layout);
      CHECK(term.appended_dim() == layout.dim + (cls.cls() ? 2 : 0));
      CHECK(term.append_tables() == keys.tables());
      for (const position_call& call : calls) {
        for_each_place(call, 1, [&](batch_index b, head_index, query_index i, key_index j) {
          if (cls.is_cls(call.at(b, i)) && cls.is_cls(call.at(b, j))) ++cls_seen;
        });
      }
    }
  }
  CHECK(cls_seen > 50);
}

}  // namespace content_block_forms_test
