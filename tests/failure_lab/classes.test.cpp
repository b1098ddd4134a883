// SPDX-License-Identifier: MIT
#include <posgeo/call/annotated_rows.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/contract/load_report.hpp>
#include <posgeo/coordinate/grid.hpp>
#include <posgeo/encode/precision_sweep.hpp>
#include <posgeo/model/nope.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

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
  const auto fixture = encoded_row(waves(layout::interleaved, 10000.0, 0), 5);
  CHECK(largest_difference(encoded_row(waves(layout::interleaved, 10000.0, 1), 5), fixture) > 0.1);
  CHECK(largest_difference(encoded_row(waves(layout::interleaved, 500.0, 0), 5), fixture) > 0.1);
  const auto concatenated = encoded_row(waves(layout::concatenated, 10000.0, 0), 5);
  CHECK(largest_difference(concatenated, fixture) > 0.1);
  // The conversion between the layouts is a permutation, and an offset is a shift: nothing else may differ.
  for (std::size_t pair = 0; pair < 4; ++pair) {
    CHECK(concatenated[pair] == fixture[2 * pair]);
    CHECK(concatenated[pair + 4] == fixture[2 * pair + 1]);
  }
  CHECK(largest_difference(encoded_row(waves(layout::interleaved, 10000.0, 1), 4), fixture) == 0.0);
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
  }
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
  const auto values = random_values<double>(static_cast<std::size_t>(rows * dim), seed);
  return head_tables<double>::shared(table<double>(values, rows, dim));
}

coordinate::clipped classes(offset_sign sign) {
  return coordinate::clipped({.behind = 3, .ahead = 3, .sign = sign, .beyond = coordinate::beyond_ends::clipped});
}

/// What the model's content terms add to each pair of a lopsided rectangle, for given rows.
template <class Policy>
std::vector<double> content_terms(const Policy& policy) {
  const heads layout{.query = 1, .key_value = 1, .dim = 4};
  const auto call = call_at({5, 9}, {2, 4, 6});
  const attention_inputs<double> in(layout, call, 4, 131);
  const attention model{layout, scale::none{}, policy, visible::everything{}};
  const auto plan = model.template compile<double>(call);
  std::vector<double> added;
  for (const query_index i : indices<query_index>(2)) {
    for (const key_index j : indices<key_index>(3)) {
      added.push_back(plan.content(batch_index{0}, head_index{0}, i, j, in.query.view().row(0, 0, i.value()),
                                   in.key.view().row(0, 0, j.value())));
    }
  }
  return added;
}

TEST_CASE("relative sign reversed in every family", "[failure_lab]") {
  const auto shaw = [](offset_sign sign) {
    return content_terms(content::shaw_key<double>(random_tables(7, 4, 132), classes(sign)));
  };
  const auto deberta = [](content::p2c_index index) {
    return content_terms(content::deberta<double>(content::deberta_terms::p2c(index),
                                                  coordinate::deberta_span::exact(4),
                                                  {.position_queries = random_tables(8, 4, 133)}));
  };
  const auto right = shaw(offset_sign::key_minus_query);
  const auto reversed = shaw(offset_sign::query_minus_key);
  const auto released = deberta(content::p2c_index::released_code);
  const auto paper = deberta(content::p2c_index::paper);
  for (std::size_t pair = 0; pair < right.size(); ++pair) {
    CHECK(std::abs(right[pair] - reversed[pair]) > 1e-3);
    CHECK(std::abs(released[pair] - paper[pair]) > 1e-3);
  }
}

TEST_CASE("shaw value term or deberta direction left out", "[failure_lab]") {
  // Two keys hold one value. Whatever scalar bias is chosen, the output without the value term is that value; with it
  // the output moves by the mixture of the relations.
  const heads layout{.query = 1, .key_value = 1, .dim = 4};
  const auto call = call_at({4}, {3, 6});
  attention_inputs<double> in(layout, call, 3, 134);
  for (index_t d = 0; d < 3; ++d) in.value(0, 0, 1, d) = in.value(0, 0, 0, d);
  const auto relations = random_tables(7, 3, 135);
  const auto output = [&](const auto&... policy) {
    const attention model{layout, scale::none{}, visible::everything{}, policy...};
    const auto result = attend(eager{}, model.template compile<double>(call), in.view());
    return std::vector<double>(result.output.values().begin(), result.output.values().end());
  };
  const auto value = in.value.view().row(0, 0, 0);
  for (const double slope : {0.0, 0.7, -2.0, 40.0}) {
    const bias::alibi any(bias::alibi_slopes::custom({slope}), bias::alibi_direction::symmetric);
    CHECK(largest_difference(output(any), value) < 1e-14);
  }
  const value::shaw_value<double> term(relations, classes(offset_sign::key_minus_query));
  CHECK(largest_difference(output(term), value) > 0.1);

  // A direction of DeBERTa left out changes the count of the terms with it; a scale that does not count is refused.
  const content::deberta<double> c2p(content::deberta_terms::c2p(), coordinate::deberta_span::exact(4),
                                     {.position_keys = random_tables(8, 4, 136)});
  const attention uncounted{layout, scale::inverse_sqrt_head_dim{}, c2p, visible::everything{}};
  CHECK(refusal([&] { (void)uncounted.compile<double>(call); }).code() == errc::scale_settings);
  const attention counted_terms{layout, scale::inverse_sqrt_terms{}, c2p, visible::everything{}};
  CHECK_THAT(counted_terms.compile<double>(call).scale(), WithinAbs(1.0 / std::sqrt(2.0 * 4.0), 1e-15));
}

TEST_CASE("stale metadata of grid time and graph", "[failure_lab]") {
  // One guard for all of them: what belongs to rows carries their identity.
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
}

TEST_CASE("incompatible checkpoint", "[failure_lab]") {
  // A table of Shaw's 2k + 1 rows where DeBERTa wants 2k, and the other way round.
  CHECK(refusal([] {
          (void)content::deberta<double>(content::deberta_terms::c2p(), coordinate::deberta_span::exact(4),
                                         {.position_keys = random_tables(9, 4, 137)});
        }).code() == errc::table_rows);
  CHECK(refusal([] {
          (void)content::shaw_key<double>(random_tables(8, 4, 138), coordinate::clipped::symmetric(4));
        }).code() == errc::table_rows);
  // A [head, bucket] table where [bucket, head] is meant.
  const std::vector<double> values(32 * 4);
  const coordinate::t5_bucket bucket(
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::causal});
  CHECK(refusal([&] { (void)bias::t5<double>(table<double>(values, 4, 32), bucket); }).code() == errc::table_rows);
}

}  // namespace classes_lab
