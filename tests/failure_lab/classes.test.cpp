// SPDX-License-Identifier: MIT
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/annotated_rows.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/call/row_pairs.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/contract/load_report.hpp>
#include <posgeo/contract/rotary_rows.hpp>
#include <posgeo/coordinate/elapsed_time.hpp>
#include <posgeo/coordinate/grid.hpp>
#include <posgeo/encode/grid_full.hpp>
#include <posgeo/encode/precision_sweep.hpp>
#include <posgeo/model/nope.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <array>
#include <cmath>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/one_layer.hpp"
#include "support/refusal.hpp"

// The classes of failure that no other file of the lab has under its own name.
namespace classes_lab {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("wrong row or logical coordinate", "[failure_lab]") {
  // Two entries, exchanged: every extent is right, every row is another one.
  const std::vector<index_t> positions{0, 1, 2, 0, 1, 2};
  const std::vector<index_t> owners{7, 7, 7, 9, 9, 9};
  const std::vector<index_t> exchanged{9, 9, 9, 7, 7, 7};
  const auto call_of = [&](const std::vector<index_t>& sequences) {
    const call::explicit_side side{.positions = positions, .sequences = sequences, .rows = 3};
    return call::explicit_positions({.entries = 2, .query = side, .key = side});
  };
  const auto made = row_identity::of(call_of(owners).query_space());
  violations found;
  made.expect(row_identity::of(call_of(owners).query_space()), "rows", found);
  CHECK(found.empty());
  made.expect(row_identity::of(call_of(exchanged).query_space()), "rows", found);
  CHECK(codes(found) == std::vector{errc::row_identity});
}

encode::sinusoidal waves(encode::sinusoid_layout layout, double base, index_t offset) {
  return encode::sinusoidal(
      {.width = 8, .layout = layout, .exponent = encode::sinusoid_exponent::paper, .base = base, .offset = offset});
}

TEST_CASE("wrong sinusoid offset base or layout", "[failure_lab]") {
  using layout = encode::sinusoid_layout;
  // The row at position 5, written down: pairs turn by 1, 1/10, 1/100 and 1/1000.
  const std::vector<double> fixture{std::sin(5.0),  std::cos(5.0),  std::sin(0.5),   std::cos(0.5),
                                    std::sin(0.05), std::cos(0.05), std::sin(0.005), std::cos(0.005)};
  CHECK(largest_difference(encoded_row(waves(layout::interleaved, 10000.0, 0), 5), fixture) < 1e-15);
  CHECK(largest_difference(encoded_row(waves(layout::interleaved, 10000.0, 1), 5), fixture) > 0.1);
  CHECK(largest_difference(encoded_row(waves(layout::interleaved, 500.0, 0), 5), fixture) > 0.1);
  const auto concatenated = encoded_row(waves(layout::concatenated, 10000.0, 0), 5);
  CHECK(largest_difference(concatenated, fixture) > 0.1);
  // The conversion between the layouts is a permutation, and an offset is a shift: nothing else may differ.
  for (std::size_t pair = 0; pair < 4; ++pair) {
    CHECK_THAT(concatenated[pair], WithinAbs(fixture[2 * pair], 1e-15));
    CHECK_THAT(concatenated[pair + 4], WithinAbs(fixture[2 * pair + 1], 1e-15));
  }
  CHECK(largest_difference(encoded_row(waves(layout::interleaved, 10000.0, 1), 4), fixture) < 1e-15);
}

TEST_CASE("positions that collide in a number format", "[failure_lab]") {
  const auto built_in = [](precision format) {
    return encode::sinusoidal({.width = 8,
                               .layout = encode::sinusoid_layout::interleaved,
                               .exponent = encode::sinusoid_exponent::paper,
                               .construction = format});
  };
  for (const auto& [format, last_distinct] :
       {std::pair{precision::bfloat16, index_t{256}}, std::pair{precision::binary16, index_t{2048}},
        std::pair{precision::binary32, index_t{16777216}}}) {
    const auto alias = encode::first_alias(format, position{last_distinct - 3}, position{last_distinct + 4});
    REQUIRE(alias.has_value());
    CHECK(alias->first == position{last_distinct});
    CHECK(encoded_row(built_in(format), last_distinct) == encoded_row(built_in(format), last_distinct + 1));
    CHECK(encoded_row(built_in(precision::binary64), last_distinct) !=
          encoded_row(built_in(precision::binary64), last_distinct + 1));
    // The sweep finds the pair in the rows themselves, and finds none where the construction keeps them apart.
    const auto sweep = [&, last = last_distinct](precision construction) {
      return encode::sweep_precision(built_in(construction), precision::binary64, position{last - 3},
                                     position{last + 4});
    };
    CHECK(sweep(format).first_collision == encode::position_pair{position{last_distinct}, position{last_distinct + 1}});
    CHECK(sweep(precision::binary64).first_collision == std::nullopt);
  }
  // Where double itself could not tell two rows apart, the guard speaks.
  const index_t last_exact = index_t{1} << 53;
  CHECK(encoded_row(built_in(precision::binary64), last_exact - 1).size() == 8);
  CHECK(refusal([&] { (void)encoded_row(built_in(precision::binary64), last_exact + 1); }).code() ==
        errc::position_precision);
}

TEST_CASE("table resized without its optimizer rows", "[failure_lab]") {
  // The weights have grown to 1024 rows; the moments in the checkpoint still own 512.
  const contract::load_request request{.wanted = {{"position.weight", {1024, 8}},
                                                  {"position.first_moment", {1024, 8}},
                                                  {"position.second_moment", {1024, 8}}},
                                       .recomputable = {},
                                       .checkpoint = {{"position.weight", {1024, 8}},
                                                      {"position.first_moment", {512, 8}},
                                                      {"position.second_moment", {512, 8}}},
                                       .renamed = {}};
  const auto report = contract::report_load(request);
  CHECK(report.shape_changed == std::vector<std::string>{"position.first_moment", "position.second_moment"});
  CHECK(refusal([&] { contract::require_loadable(report); }).code() == errc::checkpoint_tensors);
}

TEST_CASE("nope without its causal structure", "[failure_lab]") {
  const attention causal{heads{}, scale::inverse_sqrt_head_dim{}, visible::causal{}};
  const attention bidirectional{heads{}, scale::inverse_sqrt_head_dim{}, visible::everything{}};
  require_nope(nope::causal, causal);
  CHECK(refusal([&] { require_nope(nope::causal, bidirectional); }).code() == errc::position_family);
}

head_tables<double> random_tables(index_t rows, index_t dim, unsigned seed) {
  return head_tables<double>::shared(random_table(rows, dim, seed));
}

coordinate::clipped classes(offset_sign sign) {
  return coordinate::clipped({.behind = 3, .ahead = 3, .sign = sign, .beyond = coordinate::beyond_ends::clipped});
}

/// A table row for each pair of a lopsided rectangle, written down by hand: queries at 5 and 9, keys at 2, 4 and 6, so
/// that key - query is -3, -1, 1 and -7, -5, -3.
using rows_by_hand = std::array<index_t, 6>;

/// How far a policy's addition to the raw score of each pair is from expected(pair, query row, key row).
template <class Policy, class Expected>
double addition_error(const Policy& policy, const Expected& expected) {
  const heads layout{.query = 1, .key_value = 1, .dim = 4};
  const auto call = call_at({5, 9}, {2, 4, 6});
  const attention_inputs<double> in(layout, call, 4, 131);
  const attention model{layout, scale::none{}, policy, visible::everything{}};
  const auto plan = model.template compile<double>(call);
  const batch_index b{0};
  const head_index h{0};
  double largest = 0.0;
  std::size_t pair = 0;
  for (const query_index i : indices<query_index>(2)) {
    for (const key_index j : indices<key_index>(3)) {
      const auto q = in.query.view().row(0, 0, i.value());
      const auto k = in.key.view().row(0, 0, j.value());
      const double added = plan.content(b, h, i, j, q, k) + plan.bias(b, h, i, j);
      largest = std::max(largest, difference(added, expected(pair++, q, k)));
    }
  }
  return largest;
}

/// The mistake must be seen, and both signs read exactly the rows that are written down for them.
template <class Policy, class Added>
void expect_sign(const Policy& right, const rows_by_hand& rows, const Policy& reversed, const rows_by_hand& mirrored,
                 const Added& added) {
  const auto error = [&](const Policy& policy, const rows_by_hand& read) {
    return addition_error(policy,
                          [&](std::size_t pair, const auto& q, const auto& k) { return added(read[pair], q, k); });
  };
  CHECK(error(right, rows) < 1e-14);
  CHECK(error(reversed, mirrored) < 1e-14);
  CHECK(error(reversed, rows) > 0.1);
}

TEST_CASE("relative sign reversed in every family", "[failure_lab]") {
  const rows_by_hand clipped_rows{0, 2, 4, 0, 0, 0};
  const rows_by_hand clipped_mirrored{6, 4, 2, 6, 6, 6};
  const auto r = random_table(7, 4, 132);
  const auto shaw = [&](offset_sign sign) {
    return content::shaw_key<double>(head_tables<double>::shared(r), classes(sign));
  };
  expect_sign(shaw(offset_sign::key_minus_query), clipped_rows, shaw(offset_sign::query_minus_key), clipped_mirrored,
              [&](index_t row, const auto& q, const auto&) { return dot(q, r.row(row)); });

  // clip(query - key + 4, 0, 7) of the release, and of key - query in the paper.
  const auto position_queries = random_table(8, 4, 133);
  const auto deberta = [&](content::p2c_index index) {
    return content::deberta<double>(content::deberta_terms::p2c(index), coordinate::deberta_span::exact(4),
                                    {.position_queries = head_tables<double>::shared(position_queries)});
  };
  expect_sign(deberta(content::p2c_index::released_code), {7, 5, 3, 7, 7, 7}, deberta(content::p2c_index::paper),
              {1, 3, 5, 0, 0, 1},
              [&](index_t row, const auto&, const auto& k) { return dot(k, position_queries.row(row)); });

  // Rows for query - key from -1 to 7; the mistake reads them in the order of key - query.
  const auto of_distance = random_table(9, 4, 139);
  const content::global_biases<double> global{.content = random_table(1, 4, 140), .position = random_table(1, 4, 141)};
  const auto transformer_xl = [&](content::distance_order order) {
    return content::transformer_xl<double, content::distance_rows<double>>(
        global, {head_tables<double>::shared(of_distance), {.lowest = -1, .order = order}});
  };
  expect_sign(transformer_xl(content::distance_order::ascending), {4, 2, 0, 8, 6, 4},
              transformer_xl(content::distance_order::descending), {4, 6, 8, 0, 2, 4},
              [&](index_t row, const auto& q, const auto& k) {
                const auto distance = of_distance.row(row);
                return dot(k, global.content.row(0)) + dot(q, distance) + dot(global.position.row(0), distance);
              });

  const auto one_each = random_table(7, 1, 142);
  const auto learned = [&](offset_sign sign) {
    return bias::learned_relative<double, coordinate::clipped>(one_each, classes(sign));
  };
  expect_sign(learned(offset_sign::key_minus_query), clipped_rows, learned(offset_sign::query_minus_key),
              clipped_mirrored, [&](index_t row, const auto&, const auto&) { return one_each(row, 0); });

  // T5 has no other sign to name; the mistake is a table whose halves look the other way.
  const auto ahead_above = random_table(32, 1, 143);
  std::vector<double> halves_exchanged(ahead_above.values().begin() + 16, ahead_above.values().end());
  halves_exchanged.insert(halves_exchanged.end(), ahead_above.values().begin(), ahead_above.values().begin() + 16);
  const auto t5 = [](const table<double>& weights) {
    return bias::t5<double>(weights, coordinate::t5_bucket({.num_buckets = 32,
                                                            .max_distance = 128,
                                                            .direction = coordinate::bucket_direction::bidirectional}));
  };
  expect_sign(t5(ahead_above), {3, 1, 17, 7, 5, 3}, t5(table<double>(halves_exchanged, 32, 1)), {19, 17, 1, 23, 21, 19},
              [&](index_t row, const auto&, const auto&) { return ahead_above(row, 0); });
}

TEST_CASE("shaw value term or deberta direction left out", "[failure_lab]") {
  // Two keys hold one value. Whatever scalar bias is chosen, the output without the value term is that value.
  const heads layout{.query = 1, .key_value = 1, .dim = 4};
  const auto call = call_at({4}, {3, 6});
  attention_inputs<double> in(layout, call, 3, 134);
  for (index_t d = 0; d < 3; ++d) in.value(0, 0, 1, d) = in.value(0, 0, 0, d);
  const auto run = [&](const auto&... policy) {
    const attention model{layout, scale::none{}, visible::everything{}, policy...};
    return attend(eager{}, model.template compile<double>(call), in.view(), also::probabilities);
  };
  const auto value = in.value.view().row(0, 0, 0);
  for (const double slope : {0.0, 0.7, -2.0, 40.0}) {
    const bias::alibi any(bias::alibi_slopes::custom({slope}), bias::alibi_direction::symmetric);
    const auto result = run(any);
    CHECK(largest_difference(result.output.values(), value) < 1e-14);
  }
  // With it the output is that value and the mixture of the relations: R[-1 + 3] and R[2 + 3].
  const auto relations = random_table(7, 3, 135);
  const auto with_term =
      run(value::shaw_value<double>(head_tables<double>::shared(relations), classes(offset_sign::key_minus_query)));
  for (index_t d = 0; d < 3; ++d) {
    const double moved =
        with_term.probabilities(0, 0, 0, 0) * relations(2, d) + with_term.probabilities(0, 0, 0, 1) * relations(5, d);
    CHECK(std::abs(moved) > 1e-3);
    CHECK_THAT(with_term.output(0, 0, 0, d), WithinAbs(value[static_cast<std::size_t>(d)] + moved, 1e-14));
  }
  // A checkpoint that has both of Shaw's tables, and a model that takes only the one of the keys.
  const auto report = contract::report_load({.wanted = {{"relative.key", {7, 4}}},
                                             .recomputable = {},
                                             .checkpoint = {{"relative.key", {7, 4}}, {"relative.value", {7, 3}}},
                                             .renamed = {}});
  CHECK(report.unexpected == std::vector<std::string>{"relative.value"});

  // A direction of DeBERTa left out has a table that nobody reads, and one too many has none to read.
  using content::deberta_terms;
  const auto deberta = [](deberta_terms terms, content::deberta_tables<double> tables) {
    return content::deberta<double>(terms, coordinate::deberta_span::exact(4), std::move(tables));
  };
  const auto keys = random_tables(8, 4, 136);
  const auto both = deberta_terms::both(content::p2c_index::released_code);
  CHECK(refusal([&] {
          (void)deberta(deberta_terms::c2p(), {.position_keys = keys, .position_queries = keys});
        }).code() == errc::term_set);
  CHECK(refusal([&] { (void)deberta(both, {.position_keys = keys}); }).code() == errc::term_set);
  // Left out with its table, it changes the count of the terms; a scale that does not count is refused.
  const auto c2p = deberta(deberta_terms::c2p(), {.position_keys = keys});
  const attention uncounted{layout, scale::inverse_sqrt_head_dim{}, c2p, visible::everything{}};
  CHECK(refusal([&] { (void)uncounted.compile<double>(call); }).code() == errc::scale_settings);
  const attention counted_terms{layout, scale::inverse_sqrt_terms{}, c2p, visible::everything{}};
  CHECK_THAT(counted_terms.compile<double>(call).scale(), WithinAbs(1.0 / std::sqrt(2.0 * 4.0), 1e-15));
}

TEST_CASE("stale metadata of grid time and graph", "[failure_lab]") {
  // What belongs to rows carries their identity: cells, and values of pairs alike.
  const coordinate::grid grid({.rows = 2, .columns = 2, .order = coordinate::traversal::row_major});
  const auto call = grid.call(1);
  const auto cells = grid.cells_of(call.query_space());
  const std::vector<index_t> moved{2, 0, 3, 1};
  const auto moved_cells = coordinate::selected(cells, moved);
  violations found;
  cells.expect_of(call.query_space(), "cells", found);
  CHECK(found.empty());
  moved_cells.expect_of(call.query_space(), "cells", found);
  CHECK(codes(found) == std::vector{errc::row_identity});

  const row_pairs<index_t> hops(cells.rows(), {0, 1, 2, 1, 1, 0, 1, 2, 2, 1, 0, 1, 1, 2, 1, 0});
  const row_pairs<index_t> moved_hops(moved_cells.rows(), hops.values());
  violations of_pairs;
  hops.expect_of(call.query_space(), "hops", of_pairs);
  CHECK(of_pairs.empty());
  moved_hops.expect_of(call.query_space(), "hops", of_pairs);
  CHECK(codes(of_pairs) == std::vector{errc::row_identity});

  // The cells of a larger picture, read by a table for the smaller one.
  const coordinate::grid larger({.rows = 2, .columns = 3, .order = coordinate::traversal::row_major});
  const auto larger_call = larger.call(1);
  const encode::grid_full<double> encoder(random_table(4, 5, 144), grid);
  CHECK(refusal([&] { (void)encoded(encoder.at(larger.cells_of(larger_call.query_space())), larger_call); }).code() ==
        errc::grid_bounds);

  // Stamps of another unit, or of another clock.
  using coordinate::time_unit;
  const coordinate::clock_name recording("recording");
  const coordinate::elapsed_time trained(
      {.clock = recording, .stamp_unit = time_unit::seconds, .origin = 0, .unit = time_unit::seconds});
  const auto read = [&](time_unit unit, const coordinate::clock_name& clock) {
    violations broken;
    trained.expect(coordinate::time_column{{cells.rows(), {5, 17, 40, 92}}, unit, clock}, "times", broken);
    return codes(broken);
  };
  CHECK(read(time_unit::seconds, recording).empty());
  CHECK(read(time_unit::milliseconds, recording) == std::vector{errc::unit_mismatch});
  CHECK(read(time_unit::seconds, coordinate::clock_name("upload")) == std::vector{errc::unit_mismatch});
}

TEST_CASE("incompatible checkpoint", "[failure_lab]") {
  // By name and extent, before a number is read.
  const auto report = contract::report_load({.wanted = {{"position.weight", {512, 8}}, {"relative.bias", {32, 4}}},
                                             .recomputable = {},
                                             .checkpoint = {{"position.weight", {514, 8}}},
                                             .renamed = {}});
  CHECK(report.missing == std::vector<std::string>{"relative.bias"});
  CHECK(report.shape_changed == std::vector<std::string>{"position.weight"});
  CHECK(refusal([&] { contract::require_loadable(report); }).code() == errc::checkpoint_tensors);
  // A table of Shaw's 2k + 1 rows where DeBERTa wants 2k, and the other way round.
  CHECK(refusal([] {
          (void)content::deberta<double>(content::deberta_terms::c2p(), coordinate::deberta_span::exact(4),
                                         {.position_keys = random_tables(9, 4, 137)});
        }).code() == errc::table_rows);
  CHECK(refusal([] {
          (void)content::shaw_key<double>(random_tables(8, 4, 138), coordinate::clipped::symmetric(4));
        }).code() == errc::table_rows);
  // A [head, bucket] table where [bucket, head] is meant, and one for other heads.
  const coordinate::t5_bucket bucket(
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::causal});
  CHECK(refusal([&] { (void)bias::t5<double>(random_table(4, 32, 145), bucket); }).code() == errc::table_rows);
  const attention four_heads{heads{.query = 4, .key_value = 4, .dim = 2}, scale::none{},
                             bias::t5<double>(random_table(32, 8, 146), bucket), visible::causal{}};
  CHECK(refusal([&] { (void)four_heads.compile<double>(call_at({0, 1})); }).code() == errc::head_count);
  // A padding row that was trained, where the mechanism reads zeros.
  const std::vector<coordinate::graph_edge> edges{{0, 1}};
  const std::vector<index_t> attributes{1};
  const coordinate::graph_rows graphs({coordinate::graph::directed(2, edges, attributes)},
                                      coordinate::graph_token::none());
  CHECK(refusal([&] {
          (void)bias::edge_path<double>(
              random_table(3, 2, 147), random_table(2, 1, 148), graphs,
              {.rows = {.first = 1, .stride = 2}, .hops = 1, .longer = bias::longer_paths::cut});
        }).code() == errc::special_row);
  // Projections of another rotary layout: no shape tells, a score does, and the conversion gives it back.
  using transform::pairing;
  const heads one_head{.query = 1, .key_value = 1, .dim = 4};
  const contract::rotary_conversion to_halves{.from = pairing::adjacent, .to = pairing::halves, .rotary_dim = 4};
  const auto query = random_values<double>(4, 149);
  const auto key = random_values<double>(4, 150);
  const auto score = [](pairing pairs, std::vector<double> q, std::vector<double> k) {
    const transform::rotary turn(frequency::geometric({.base = 100.0, .rotary_dim = 4}), {.pairs = pairs});
    turn.rotate(position{9}, std::span<double>(q));
    turn.rotate(position{4}, std::span<double>(k));
    return dot(q, k);
  };
  const double trained = score(pairing::adjacent, query, key);
  CHECK(std::abs(score(pairing::halves, query, key) - trained) > 0.01);
  CHECK_THAT(score(pairing::halves, contract::rotary_rows::of_queries(one_head, to_halves).moved(query),
                   contract::rotary_rows::of_keys(one_head, to_halves).moved(key)),
             WithinAbs(trained, 1e-14));
}

}  // namespace classes_lab
