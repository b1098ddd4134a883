// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/content/relation_schedule.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/value/shaw_value.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"
#include "support/uneven_call.hpp"

namespace relation_schedule_test {

using namespace posgeo;
using namespace posgeo::test;
using content::relation_schedule;
using coordinate::clipped;

constexpr std::array every_schedule{relation_schedule::direct_gather, relation_schedule::class_scores,
                                    relation_schedule::tiled};

table<double> numbers(index_t rows, index_t columns) { return random_table(rows, columns, 111); }

/// More queries than a tile, not a multiple of it, in places of their own in each entry.
position_call long_call() {
  dice roll(112);
  constexpr index_t queries = 2 * content::relation_tile_rows + 5;
  const auto at_query = roll.row(2 * queries, -20, 20);
  const auto at_key = roll.row(2 * 11, -20, 20);
  return call::explicit_positions({.entries = 2,
                                   .query = {.positions = at_query, .rows = queries},
                                   .key = {.positions = at_key, .rows = 11},
                                   .reuse = position_reuse::intended});
}

/// Calls check(call, tables, classes) for shared tables and for one per head.
template <class Check>
void each_setting(const Check& check) {
  const clipped classes(
      {.behind = 4, .ahead = 1, .sign = offset_sign::query_minus_key, .beyond = coordinate::beyond_ends::clipped});
  for (const auto& call : {uneven_call(), long_call()}) {
    check(call, head_tables<double>::shared(numbers(6, 5)), classes);
    check(call, head_tables<double>::stacked(numbers(3 * 6, 5), 3), classes);
    check(call, head_tables<double>::by_column(numbers(6, 3 * 5), 3), classes);
  }
}

TEST_CASE("the three schedules give the scores of the scalar term", "[relation_schedule]") {
  each_setting([](const position_call& call, const head_tables<double>& rows, const clipped& classes) {
    const auto query = random_tensor<double, 4>({call.batch(), 3, call.queries(), 5}, 113);
    const auto term =
        content::shaw_key<double>(rows, classes).compile<double>(call, {.query = 3, .key_value = 1, .dim = 5});
    for (const relation_schedule how : every_schedule) {
      const auto got = content::relation_scores(how, rows, classes, call, query.view());
      for (const batch_index b : indices<batch_index>(call.batch())) {
        for (const head_index h : indices<head_index>(3)) {
          for (const query_index i : indices<query_index>(call.queries())) {
            const auto q = query.view().row(b.value(), h.value(), i.value());
            for (const key_index j : indices<key_index>(call.keys())) {
              REQUIRE(difference(got(b.value(), h.value(), i.value(), j.value()), term(b, h, i, j, q, q)) < 1e-13);
            }
          }
        }
      }
    }
  });
}

TEST_CASE("the three schedules give the outputs of the scalar term", "[relation_schedule]") {
  each_setting([](const position_call& call, const head_tables<double>& rows, const clipped& classes) {
    const auto weights = random_tensor<double, 4>({call.batch(), 3, call.queries(), call.keys()}, 114);
    const auto term =
        value::shaw_value<double>(rows, classes).compile<double>(call, {.query = 3, .key_value = 1, .dim = 5});
    for (const relation_schedule how : every_schedule) {
      const auto got = content::relation_values(how, rows, classes, call, weights.view());
      for (const batch_index b : indices<batch_index>(call.batch())) {
        for (const head_index h : indices<head_index>(3)) {
          for (const query_index i : indices<query_index>(call.queries())) {
            std::vector<double> row(5);
            for (const key_index j : indices<key_index>(call.keys())) {
              term.accumulate(b, h, i, j, weights(b.value(), h.value(), i.value(), j.value()), row);
            }
            REQUIRE(largest_difference(got.view().row(b.value(), h.value(), i.value()), row) < 1e-13);
          }
        }
      }
    }
  });
}

TEST_CASE("the schedules read a query whose heads are not first in memory", "[relation_schedule]") {
  const auto call = uneven_call();
  const auto memory = random_values<float>(2 * 3 * 2 * 5, 115);
  const auto query = rows_first(memory.data(), 2, 3, 2, 5);
  const auto rows = head_tables<double>::shared(numbers(3, 5));
  for (const relation_schedule how : every_schedule) {
    const auto got = content::relation_scores(how, rows, clipped::symmetric(1), call, query);
    double sum = 0.0;  // entry 1, head 1, query 1 at 3, key 0 at 0: class 0
    for (std::size_t d = 0; d < 5; ++d) {
      sum += static_cast<double>(query.row(1, 1, 1)[d]) * rows.row(head_index{0}, 0)[d];
    }
    CHECK(std::abs(static_cast<double>(got(1, 1, 1, 0)) - sum) < 1e-5);
  }
}

TEST_CASE("a call without keys or queries has no relations", "[relation_schedule]") {
  const auto rows = head_tables<double>::shared(numbers(3, 5));
  const auto no_keys = call_at({4, 9}, {});
  const auto query = random_tensor<double, 4>({1, 2, 2, 5}, 116);
  const tensor<double, 4> no_weights({1, 2, 2, 0});
  for (const relation_schedule how : every_schedule) {
    const auto scores = content::relation_scores(how, rows, clipped::symmetric(1), no_keys, query.view());
    CHECK(scores.values().empty());
    const auto values = content::relation_values(how, rows, clipped::symmetric(1), no_keys, no_weights.view());
    CHECK((values.values().size() == 20 && all_equal(values.values(), 0.0)));
  }
}

TEST_CASE("the ledger counts the temporaries of a schedule", "[relation_schedule]") {
  const content::relation_extents shared{
      .batch = 2, .heads = 4, .queries = 100, .keys = 300, .dim = 16, .classes = 33, .tables = 1};
  const auto bytes = [](relation_schedule how, const content::relation_extents& e) {
    const auto counted = content::temporaries(how, e, 4);
    return std::pair{counted.alive, counted.written};
  };
  using both = std::pair<index_t, index_t>;
  CHECK(bytes(relation_schedule::direct_gather, shared) == both{100 * 300 * 16 * 4, 2 * 100 * 300 * 16 * 4});
  CHECK(bytes(relation_schedule::class_scores, shared) == both{100 * 33 * 4, 2 * 4 * 100 * 33 * 4});
  CHECK(bytes(relation_schedule::tiled, shared) == both{64 * 33 * 4, 2 * 4 * 100 * 33 * 4});
  content::relation_extents own = shared;
  own.tables = 4;
  CHECK(bytes(relation_schedule::direct_gather, own) == both{100 * 300 * 16 * 4, 2 * 4 * 100 * 300 * 16 * 4});
  own.queries = 7;
  CHECK(bytes(relation_schedule::tiled, own).first == 7 * 33 * 4);
}

TEST_CASE("the ledger of counts beyond 64 bits is the largest number", "[relation_schedule]") {
  constexpr index_t most = std::numeric_limits<index_t>::max();
  constexpr index_t million = 1000000;
  const content::relation_extents large{
      .batch = 1, .heads = 1, .queries = million, .keys = million, .dim = million, .classes = million, .tables = 1};
  const auto gathered = content::temporaries(relation_schedule::direct_gather, large, 8);  // 8 * 10^18, and it fits
  CHECK((gathered.alive == 8000000000000000000 && gathered.written == 8000000000000000000));
  content::relation_extents larger = large;
  larger.batch = 2;
  CHECK(content::temporaries(relation_schedule::direct_gather, larger, 8).alive == 8000000000000000000);
  CHECK(content::temporaries(relation_schedule::direct_gather, larger, 8).written == most);
  larger.heads = larger.batch = million;
  for (const relation_schedule how : {relation_schedule::class_scores, relation_schedule::tiled}) {
    CHECK(content::temporaries(how, larger, 8).written == most);
  }
  CHECK(content::temporaries(relation_schedule::tiled, larger, 8).alive == 512000000);
}

TEST_CASE("the schedules read views that may be written", "[relation_schedule]") {
  const auto call = uneven_call();
  const auto rows = head_tables<double>::shared(numbers(3, 5));
  auto query = random_tensor<double, 4>({2, 3, 3, 5}, 117);
  auto weights = random_tensor<double, 4>({2, 3, 3, 9}, 118);
  const auto equal = [](const tensor<double, 4>& a, const tensor<double, 4>& b) {
    return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
  };
  const auto how = relation_schedule::tiled;
  const auto classes = clipped::symmetric(1);
  CHECK(equal(content::relation_scores(how, rows, classes, call, query.view()),
              content::relation_scores(how, rows, classes, call, std::as_const(query).view())));
  CHECK(equal(content::relation_values(how, rows, classes, call, weights.view()),
              content::relation_values(how, rows, classes, call, std::as_const(weights).view())));
}

TEST_CASE("the schedules refuse what does not fit", "[relation_schedule]") {
  const auto call = uneven_call();
  const auto query = random_tensor<double, 4>({2, 3, 3, 5}, 117);
  const auto weights = random_tensor<double, 4>({2, 3, 3, 9}, 118);
  const auto good = head_tables<double>::shared(numbers(3, 5));
  const auto classes = clipped::symmetric(1);
  const auto scores = [&](const head_tables<double>& rows, const position_call& at, const tensor<double, 4>& q) {
    return refusal([&] { (void)content::relation_scores(relation_schedule::tiled, rows, classes, at, q.view()); })
        .code();
  };
  CHECK(scores(head_tables<double>::shared(numbers(4, 5)), call, query) == errc::table_rows);
  CHECK(scores(head_tables<double>::stacked(numbers(6, 5), 2), call, query) == errc::head_count);
  CHECK(scores(good, call, random_tensor<double, 4>({2, 3, 3, 4}, 119)) == errc::shape_mismatch);
  CHECK(scores(good, call, random_tensor<double, 4>({2, 3, 2, 5}, 119)) == errc::shape_mismatch);
  CHECK(scores(good, call, random_tensor<double, 4>({1, 3, 3, 5}, 119)) == errc::shape_mismatch);
  const std::vector<index_t> lengths{3, 3};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 3, .source_rows = 3});
  CHECK(scores(good, cross, query) == errc::frame_mismatch);
  const auto values = [&](const tensor<double, 4>& w) {
    return refusal([&] { (void)content::relation_values(relation_schedule::tiled, good, classes, call, w.view()); })
        .code();
  };
  CHECK_NOTHROW(content::relation_values(relation_schedule::tiled, good, classes, call, weights.view()));
  CHECK(values(random_tensor<double, 4>({2, 3, 3, 8}, 119)) == errc::shape_mismatch);
}

}  // namespace relation_schedule_test
