// SPDX-License-Identifier: MIT
#include <posgeo/audit/coverage.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/coordinate/window_index.hpp>
#include <posgeo/core/named.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include <algorithm>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace audit_coverage_test {

using namespace posgeo;
using audit::count_rows;
using audit::counted_line;
using audit::coverage;
using audit::coverage_counts;
using audit::table_support;
using audit::tally;
using test::dice;
using test::random_table;
using test::refusal;
using lines = std::vector<counted_line>;

constexpr heads two_heads{.query = 2, .key_value = 1, .dim = 4};

/// Offsets 0, -1, -2 and those beyond have buckets 0, 1, 2 and 3.
bias::t5<double> four_buckets(unsigned seed) {
  return {
      random_table(4, 2, seed),
      coordinate::t5_bucket({.num_buckets = 4, .max_distance = 4, .direction = coordinate::bucket_direction::causal})};
}
encode::learned_absolute<double> learned(index_t rows, index_t row_offset) {
  return encode::learned_absolute<double>(random_table(rows, 3, 5), {.row_offset = row_offset});
}
auto causal_t5(unsigned seed = 11) {
  return attention(two_heads, scale::none{}, visible::segments{}, visible::causal{}, four_buckets(seed));
}
position_call padded(const std::vector<index_t>& lengths, index_t rows, index_t first, call::padding_side side) {
  return call::padded_batch(
      {.lengths = lengths, .rows = rows, .side = side, .positions = call::padded_positions::compressed(first, first)});
}
position_call packed(const std::vector<index_t>& lengths) {
  return call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
}

TEST_CASE("a ragged padded and packed batch against a hand count", "[coverage]") {
  // Padded to 4 rows: sequences of 3 and 1. Packed into one row: sequences of 2 and 3. Each sees itself and its past.
  //
  //   length 3: offsets 0 0 0, -1 -1, -2     keys 0 0 0, 1 1, 2
  //   length 1: offsets 0                    keys 0
  //   length 2: offsets 0 0, -1              keys 0 0, 1
  //   length 3: offsets 0 0 0, -1 -1, -2     keys 0 0 0, 1 1, 2
  coverage taught;
  const auto position_rows = learned(6, 1);
  taught.observe(causal_t5().compile<double>(padded({3, 1}, 4, 0, call::padding_side::right)), position_rows);
  taught.observe(causal_t5().compile<double>(packed({2, 3})), position_rows);

  const auto& rows = taught.counts().rows;
  CHECK(rows.queries.total() == 9);
  CHECK(rows.queries(0) == 4);
  CHECK(rows.queries(1) == 3);
  CHECK(rows.queries(2) == 2);
  CHECK(rows.offsets.total() == 16);
  CHECK(rows.offsets(0) == 9);
  CHECK(rows.offsets(-1) == 5);
  CHECK(rows.offsets(-2) == 2);
  CHECK(rows.keys.total() == 16);
  CHECK(rows.keys(0) == 9);
  CHECK(rows.keys(1) == 5);
  CHECK(rows.keys(2) == 2);
  CHECK(rows.lengths.total() == 4);
  CHECK(rows.lengths(1) == 1);
  CHECK(rows.lengths(2) == 1);
  CHECK(rows.lengths(3) == 2);
  CHECK(rows.memory.lines() == lines{{0, 0, 4, 0}});

  const auto& buckets = taught.table("t5 table");
  CHECK(buckets.rows == 4);
  CHECK(buckets.reads.lines() == lines{{0, 0, 9, 0}, {1, 1, 5, 0}, {2, 2, 2, 0}});
  const auto& positions = taught.table("learned_absolute table");
  CHECK(positions.rows == 6);
  CHECK(positions.reads(0) == 0);
  CHECK(positions.reads(1) == 4);
  CHECK(positions.reads(2) == 3);
  CHECK(positions.reads(3) == 2);
  CHECK(positions.reads.total() == 9);
  CHECK(taught.counts().not_counted.empty());

  CHECK(taught.support(3) == std::vector<table_support>{{"learned_absolute table", 6, 3, 4}, {"t5 table", 4, 3, 2}});
  CHECK(taught.support(1) == std::vector<table_support>{{"learned_absolute table", 6, 3, 3}, {"t5 table", 4, 3, 1}});
}

TEST_CASE("a table row is read by the sequences that are longer", "[coverage]") {
  dice roll(6);
  coverage taught;
  std::vector<index_t> all;
  for (int call = 0; call < 30; ++call) {
    const auto lengths = roll.row(roll.between(1, 6), 0, 9);
    all.insert(all.end(), lengths.begin(), lengths.end());
    taught.observe(causal_t5().compile<double>(padded(lengths, 9, 0, call::padding_side::left)), learned(16, 2));
  }
  for (index_t r = 0; r < 14; ++r) {
    const index_t longer = std::count_if(all.begin(), all.end(), [r](index_t length) { return length > r; });
    CHECK(taught.longer_than(r) == longer);
    CHECK(taught.table("learned_absolute table").reads(r + 2) == longer);
  }
}

TEST_CASE("memory is the key rows of earlier calls", "[coverage]") {
  const std::vector<call::prefill_entry> entries{
      {.committed_length = 5, .first_position = 5, .length = 2, .past_length = 3},
      {.committed_length = 1, .first_position = 1, .length = 1, .past_length = 1}};
  const auto call = call::prefill_chunk({.entries = entries, .query_rows = 3, .key_rows = 6});
  coverage taught;
  taught.observe(causal_t5().compile<double>(call));
  const auto& rows = taught.counts().rows;
  CHECK(rows.memory.lines() == lines{{1, 1, 1, 0}, {3, 3, 1, 0}});
  CHECK(rows.lengths.lines() == lines{{1, 2, 1, 0}});
  // Queries at 5 and 6 see keys 2..5 and 2..6; the query at 1 sees keys 0 and 1.
  CHECK(rows.offsets.total() == 11);
  CHECK(rows.offsets(-4) == 1);
  CHECK(rows.offsets(-3) == 2);
  CHECK(rows.keys(2) == 2);
  CHECK(rows.keys(6) == 1);
  CHECK(taught.table("t5 table").reads(3) == 3);
}

/// Calls visit(offset, query position, key position) for each visible pair of a token query.
template <class Plan, class Visit>
void each_pair(const Plan& plan, const Visit& visit) {
  const position_call& call = plan.call();
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      for (const key_index j : indices<key_index>(call.keys())) {
        if (!call.active(b, i) || !plan.visible(b, i, j)) continue;
        visit(relative_offset{call.at(b, j).value() - call.at(b, i).value()}, call.at(b, i), call.at(b, j));
      }
    }
  }
}

template <class Plan, class RowOf>
void check_reads(const coverage& taught, std::string_view name, const Plan& plan, index_t rows, const RowOf& row_of) {
  tally expected;
  each_pair(plan,
            [&](relative_offset offset, position query, position key) { expected.add(row_of(offset, query, key), 1); });
  CAPTURE(std::string(name));
  CHECK(taught.table(name).rows == rows);
  CHECK(taught.table(name).reads == expected);
}

TEST_CASE("tables are counted as pair by pair", "[coverage]") {
  const coordinate::clipped near(
      {.behind = 3, .ahead = 1, .sign = offset_sign::query_minus_key, .beyond = coordinate::beyond_ends::clipped});
  const auto clipped_symmetric = coordinate::clipped::symmetric(2);
  const auto span = coordinate::deberta_span::exact(3);
  const auto buckets = coordinate::deberta_span::bucketed(coordinate::log_bucket(
      {.num_buckets = 6, .max_position = 12, .beyond = coordinate::beyond_max_position::runs_on}));
  const coordinate::t5_bucket t5_rule(
      {.num_buckets = 8, .max_distance = 20, .direction = coordinate::bucket_direction::bidirectional});
  const auto tables = [](index_t rows, unsigned seed) {
    return head_tables<double>::stacked(random_table(2 * rows, 4, seed), 2);
  };
  const content::deberta_tables<double> both{.position_keys = tables(6, 1), .position_queries = tables(6, 2)};
  const content::deberta_tables<double> c2p{.position_keys = tables(12, 3)};
  const attention method(
      two_heads, scale::none{}, visible::segments{}, visible::window{.behind = 6, .ahead = 4},
      content::shaw_key<double>(tables(5, 4), near),
      content::deberta<double>(content::deberta_terms::both(content::p2c_index::paper), span, both),
      content::deberta<double>(content::deberta_terms::c2p(), buckets, c2p),
      bias::t5<double>(random_table(8, 2, 6), t5_rule),
      bias::learned_relative<double, coordinate::clipped>(random_table(5, 2, 7), clipped_symmetric),
      bias::tupe_relative<double>(random_table(9, 2, 8), t5_rule, {.cls = position{2}}),
      value::shaw_value<double>(head_tables<double>::shared(random_table(5, 4, 9)), clipped_symmetric));
  for (const position_call& call : test::random_calls(60413)) {
    const auto plan = method.compile<double>(call);
    coverage taught;
    taught.observe(plan);
    const auto sign = [](relative_offset o) { return relative_offset{-o.value()}; };
    using o = relative_offset;
    using p = position;
    check_reads(taught, "shaw_key table", plan, 5, [&](o offset, p, p) { return near(offset); });
    check_reads(taught, "deberta key_table", plan, 6, [&](o offset, p, p) { return span(offset); });
    check_reads(taught, "deberta query_table", plan, 6, [&](o offset, p, p) { return span(sign(offset)); });
    check_reads(taught, "deberta 2 key_table", plan, 12, [&](o offset, p, p) { return buckets(offset); });
    check_reads(taught, "t5 table", plan, 8, [&](o offset, p, p) { return t5_rule(offset); });
    check_reads(taught, "learned_relative table", plan, 5, [&](o offset, p, p) { return clipped_symmetric(offset); });
    check_reads(taught, "tupe_relative table", plan, 9, [&](o offset, p query, p key) {
      return query.value() == 2 ? 4 : key.value() == 2 ? 8 : t5_rule(offset);
    });
    check_reads(taught, "shaw_value table", plan, 5, [&](o offset, p, p) { return clipped_symmetric(offset); });
    CHECK(taught.counts().tables.size() == 8);
    CHECK(taught.counts().not_counted.empty());
    CHECK(check(taught.counts()).empty());
  }
}

TEST_CASE("both sides of one table count a pair once", "[coverage]") {
  const attention method(two_heads, scale::none{}, visible::segments{},
                         content::relative_key_query<double>(random_table(19, 4, 33), 10));
  const auto plan = method.compile<double>(packed({4, 1, 10}));
  coverage taught;
  taught.observe(plan);
  CHECK(taught.counts().tables.size() == 1);
  check_reads(taught, "relative_key_query table", plan, 19,
              [](relative_offset offset, position, position) { return 9 - offset.value(); });
}

TEST_CASE("distances of a table are rows and those of sinusoids are not", "[coverage]") {
  const auto rows = head_tables<double>::stacked(random_table(2 * 9, 4, 21), 2);
  const content::global_biases<double> biases{.content = random_table(2, 4, 22), .position = random_table(2, 4, 23)};
  const attention method(
      two_heads, scale::none{}, visible::segments{}, visible::causal{},
      content::transformer_xl<double, content::distance_rows<double>>(
          biases, content::distance_rows<double>(rows, {.lowest = 0, .order = content::distance_order::descending})));
  const auto plan = method.compile<double>(padded({7, 2}, 8, 3, call::padding_side::left));
  coverage taught;
  taught.observe(plan);
  check_reads(taught, "transformer_xl rows.table", plan, 9,
              [](relative_offset offset, position, position) { return 8 + offset.value(); });
  CHECK(taught.counts().not_counted ==
        std::vector<std::string>{"transformer_xl content_bias_table", "transformer_xl position_bias_table"});
}

TEST_CASE("cells of a window are counted by pair", "[coverage]") {
  const coordinate::grid window({.rows = 2, .columns = 3, .order = coordinate::traversal::row_major});
  const coordinate::window_index cells(window);
  const attention method(two_heads, scale::none{}, visible::active{},
                         bias::learned_relative<double, coordinate::window_index>(random_table(15, 2, 41), cells));
  const std::vector<index_t> at{4, 0, 5, 1, 2};
  const auto call = call::explicit_positions({.query = {.positions = at, .rows = 5, .frame = window.frame()},
                                              .key = {.positions = at, .rows = 5, .frame = window.frame()}});
  const auto plan = method.compile<double>(call);
  coverage taught;
  taught.observe(plan);
  check_reads(taught, "learned_relative table", plan, 15, [](relative_offset, position query, position key) {
    const index_t down = query.value() / 3 - key.value() / 3;
    const index_t across = query.value() % 3 - key.value() % 3;
    return (down + 1) * 5 + across + 2;
  });
}

TEST_CASE("distance ids of graphs are counted and merge though the graphs differ", "[coverage]") {
  // Path 0 - 1 - 2: ids 1, 2, 3 for distances 0, 1, 2. Two nodes apart: id 5, that of pairs without a path.
  const auto observed = [](coordinate::graph one) {
    const index_t nodes = one.nodes();
    const coordinate::graph_rows graphs({std::move(one)}, coordinate::graph_token::none());
    const attention method(two_heads, scale::none{}, visible::active{},
                           bias::spatial<double>(random_table(6, 2, 51), coordinate::distance_id(5), graphs));
    const auto call = padded({nodes}, nodes + 1, 0, call::padding_side::right);
    coverage taught;
    taught.observe(method.compile<double>(call));
    return taught;
  };
  const std::vector<coordinate::graph_edge> path{{0, 1}, {1, 2}};
  coverage taught = observed(coordinate::graph::undirected(3, path));
  taught.merge(observed(coordinate::graph::undirected(2, {})));
  CHECK(taught.table("spatial table").reads.lines() == lines{{1, 1, 5, 0}, {2, 2, 4, 0}, {3, 3, 2, 0}, {5, 5, 2, 0}});
}

/// Reads row 2 of one table and, where the key stands before the query, row 0 of another.
struct listing_bias {
  using family = posgeo::family::score_bias;
  [[nodiscard]] description describe() const {
    return description("listing")
        .with("near_table", described_table(random_table(3, 1, 1)))
        .with("far_table", described_table(random_table(2, 1, 2)))
        .with("spare_table", described_table(random_table(7, 1, 3)));
  }
  template <class T>
  struct term {
    position_call call;
    T operator()(batch_index, head_index, query_index, key_index) const noexcept { return T{0}; }
    template <class Visit>
    void each_read(batch_index b, query_index i, key_index j, const Visit& visit) const {
      visit("near_table", 2);
      if (call.at(b, j) < call.at(b, i)) visit("far_table", 0);
    }
  };
  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads&) const {
    return {call};
  }
  [[nodiscard]] listing_bias part(const head_slice&) const { return *this; }
};

TEST_CASE("a term may list its reads", "[coverage]") {
  const attention method(two_heads, scale::none{}, visible::segments{}, visible::causal{}, listing_bias{});
  coverage taught;
  taught.observe(method.compile<double>(packed({3, 2})));
  CHECK(taught.table("listing near_table").reads.lines() == lines{{2, 2, 9, 0}});
  CHECK(taught.table("listing far_table").reads.lines() == lines{{0, 0, 4, 0}});
  CHECK(taught.table("listing spare_table").reads.empty());
  CHECK(taught.table("listing spare_table").rows == 7);
}

/// The entry of a call as a call of its own, every row spelled out.
position_call entry_of(const position_call& call, index_t b) {
  const auto spelled = [b](const row_space& space) {
    explicit_rows rows;
    for (index_t row = 0; row < space.rows(); ++row) {
      rows.positions.push_back(space.at(b, row).value());
      rows.sequences.push_back(space.sequence(b, row));
      rows.active.push_back(space.active(b, row) ? 1 : 0);
    }
    return row_space(1, space.rows(), rows, space.frame(), space.origin());
  };
  const cache_state cache{call.committed_length(batch_index{b}), call.past_length(batch_index{b})};
  return position_call({.kind = call.kind(),
                        .query = spelled(call.query_space()),
                        .key = spelled(call.key_space()),
                        .cache = call.has_cache() ? entry_list<cache_state>(1, [&cache](index_t) { return cache; })
                                                  : entry_list<cache_state>(),
                        .reuse = position_reuse::intended});
}

TEST_CASE("a batch teaches what its entries do", "[coverage]") {
  for (const position_call& call : test::random_calls(9091)) {
    coverage whole;
    whole.observe(causal_t5().compile<double>(call));
    coverage apart;
    for (index_t b = 0; b < call.batch(); ++b) apart.observe(causal_t5().compile<double>(entry_of(call, b)));
    CHECK(whole == apart);
  }
}

TEST_CASE("merging has no order", "[coverage]") {
  std::vector<coverage> parts;
  coverage stream;
  for (const position_call& call : test::random_calls(515)) {
    parts.emplace_back();
    parts.back().observe(causal_t5(static_cast<unsigned>(parts.size())).compile<double>(call));  // weights change
    stream.observe(causal_t5().compile<double>(call));
  }
  REQUIRE(parts.size() > 10);
  dice roll(4);
  for (int round = 0; round < 5; ++round) {
    std::vector<coverage> workers = parts;
    workers.emplace_back();  // one that saw nothing
    while (workers.size() > 1) {
      const auto from = static_cast<std::size_t>(roll.between(1, static_cast<index_t>(workers.size()) - 1));
      const auto to = static_cast<std::size_t>(roll.between(0, static_cast<index_t>(from) - 1));
      workers[to].merge(workers[from]);
      workers.erase(workers.begin() + static_cast<std::ptrdiff_t>(from));
    }
    CHECK(workers.front() == stream);
  }
  for (std::size_t n = 2; n < 8; ++n) {
    const auto merged = [](coverage a, const coverage& b) {
      a.merge(b);
      return a;
    };
    const coverage &a = parts[n], &b = parts[n - 1], &c = parts[n - 2];
    CHECK(merged(a, b) == merged(b, a));
    CHECK(merged(merged(a, b), c) == merged(a, merged(b, c)));
    CHECK(merged(coverage(), a) == a);
    CHECK(merged(a, coverage()) == a);
    coverage twice = a;
    twice.merge(twice);
    CHECK(twice == merged(a, a));
    CHECK(twice.counts().rows.queries.total() == 2 * a.counts().rows.queries.total());
  }
}

TEST_CASE("padding and packing teach nothing of their own", "[coverage]") {
  const std::vector<index_t> lengths{5, 2, 0, 7, 2};
  const auto taught_by = [](const std::vector<position_call>& calls) {
    coverage taught;
    for (const position_call& call : calls) taught.observe(causal_t5().compile<double>(call), learned(9, 1));
    return taught;
  };
  const coverage together = taught_by({packed(lengths)});
  CHECK(taught_by({padded(lengths, 7, 0, call::padding_side::right)}) == together);
  CHECK(taught_by({padded(lengths, 13, 0, call::padding_side::left)}) == together);
  CHECK(taught_by({packed({2, 7}), packed({2}), padded({5}, 6, 0, call::padding_side::left)}) == together);
  CHECK(taught_by({packed({5, 2, 7, 2, 1})}) != together);
}

TEST_CASE("a query that sees nothing counts as a row and not as a pair", "[coverage]") {
  const attention blind(
      two_heads, scale::none{}, visible::segments{},
      named("none", visible::custom([](const position_call&, batch_index, query_index, key_index) { return false; })),
      four_buckets(3), visible::causal{});
  coverage taught;
  taught.observe(blind.compile<double>(packed({2, 2})), learned(3, 0));
  CHECK(taught.counts().rows.keys.empty());
  CHECK(taught.table("t5 table").reads.empty());
  CHECK(taught.table("learned_absolute table").reads.lines() == lines{{0, 1, 2, 0}});
}

TEST_CASE("calls of another method or frame are refused and change nothing", "[coverage]") {
  const auto call = packed({2, 3});
  coverage taught;
  taught.observe(causal_t5().compile<double>(call), learned(9, 1));
  const coverage before = taught;
  const auto refused = [&](const auto& plan, const auto&... encoders) {
    const error thrown = refusal([&] { taught.observe(plan, encoders...); });
    CHECK(taught == before);
    return thrown.code();
  };
  CHECK(refused(causal_t5().compile<double>(call)) == errc::coverage);                 // without the encoder
  CHECK(refused(causal_t5().compile<double>(call), learned(9, 2)) == errc::coverage);  // another rule
  CHECK(refused(causal_t5().compile<double>(call), learned(8, 1)) == errc::coverage);  // another size
  const coordinate::t5_bucket further(
      {.num_buckets = 4, .max_distance = 5, .direction = coordinate::bucket_direction::causal});
  const attention other(two_heads, scale::none{}, visible::segments{}, visible::causal{},
                        bias::t5<double>(random_table(4, 2, 11), further));
  CHECK(refused(other.compile<double>(call), learned(9, 1)) == errc::coverage);
  const std::vector<index_t> at{0, 1};

  const call::explicit_side bytes{.positions = at, .rows = 2, .frame = coordinate_frame("bytes")};
  const auto elsewhere = call::explicit_positions({.query = bytes, .key = bytes});
  CHECK(refused(causal_t5().compile<double>(elsewhere), learned(9, 1)) == errc::frame_mismatch);
}

TEST_CASE("a method that cannot say what it is is refused", "[coverage]") {
  const attention anonymous(
      two_heads, scale::none{}, visible::segments{},
      visible::custom([](const position_call&, batch_index, query_index, key_index) { return true; }));
  coverage taught;
  CHECK(refusal([&] { taught.observe(anonymous.compile<double>(packed({2}))); }).code() == errc::description);
  CHECK(taught.empty());
}

TEST_CASE("nothing observed has no counts", "[coverage]") {
  const coverage none;
  CHECK(none.empty());
  CHECK(refusal([&] { static_cast<void>(none.counts()); }).code() == errc::coverage);
  CHECK(refusal([&] { static_cast<void>(none.support(1)); }).code() == errc::coverage);
}

TEST_CASE("a table that is not there and no support to ask for are refused", "[coverage]") {
  coverage taught;
  taught.observe(causal_t5().compile<double>(packed({2})));
  CHECK(refusal([&] { static_cast<void>(taught.table("shaw_key table")); }).code() == errc::coverage);
  CHECK(refusal([&] { static_cast<void>(taught.support(0)); }).code() == errc::coverage);
}

TEST_CASE("counts that no stream gives are refused", "[coverage]") {
  coverage taught;
  taught.observe(causal_t5().compile<double>(packed({2, 3})), learned(9, 1));
  const auto refused = [&](const auto& change) {
    coverage_counts counts = taught.counts();
    change(counts);
    return test::codes(check(counts)) == std::vector{errc::coverage} &&
           refusal([&] { static_cast<void>(coverage(counts)); }).code() == errc::coverage;
  };
  CHECK(coverage(taught.counts()) == taught);
  CHECK(refused([](coverage_counts& c) { c.rows.offsets.add(0, 1); }));
  CHECK(refused([](coverage_counts& c) { c.rows.queries.add(0, 1); }));
  CHECK(refused([](coverage_counts& c) { c.rows.memory.add(0, 1); }));
  CHECK(refused([](coverage_counts& c) {
    c.rows.lengths.add(0, 1);
    c.rows.memory.add(0, 1);
  }));
  CHECK(refused([](coverage_counts& c) {
    c.rows.memory = {};
    c.rows.memory.add(-1, 2);
  }));
  CHECK(refused([](coverage_counts& c) { c.tables[0].reads.add(9, 1); }));
  CHECK(refused([](coverage_counts& c) { c.tables[0].reads.add(-1, 1); }));
  CHECK(refused([](coverage_counts& c) { c.tables[1].number = -1; }));
  CHECK(refused([](coverage_counts& c) {
    c.tables[1].rows = 0;
    c.tables[1].reads = {};
  }));
  CHECK(refused([](coverage_counts& c) { c.tables.push_back(c.tables[0]); }));
  CHECK(refused([](coverage_counts& c) { c.key_frame = coordinate_frame("source"); }));
}

}  // namespace audit_coverage_test
