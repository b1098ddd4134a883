// SPDX-License-Identifier: MIT
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/annotated_rows.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/row_values.hpp>
#include <posgeo/call/segment_memory.hpp>
#include <posgeo/content/relation_schedule.hpp>
#include <posgeo/coordinate/pairwise_offsets.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>

#include <array>
#include <utility>
#include <vector>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/encoded.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

// One case for each row of docs/shape_ledger.md. B = 3 entries, n = 7 rows, width 10: no two alike.
namespace shape_ledger_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr index_t B = 3;
constexpr index_t n = 7;
constexpr index_t d_model = 10;

position_call batch() {
  const std::array<index_t, B> lengths{7, 4, 5};
  return call::padded_batch({.lengths = lengths,
                             .rows = n,
                             .side = call::padding_side::right,
                             .positions = call::padded_positions::contiguous()});
}
encode::sinusoidal waves() {
  return encode::sinusoidal(
      {.width = d_model, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper});
}
encode::learned_absolute<double> learned(index_t max_position_embeddings) {
  return encode::learned_absolute<double>(random_table(max_position_embeddings, d_model, 501), {.row_offset = 0});
}
using shape3 = std::array<index_t, 3>;

TEST_CASE("ledger input ids and their rows", "[laws]") {
  const auto call = batch();
  CHECK(call.batch() == B);
  CHECK(call.queries() == n);
  CHECK(call.keys() == n);
}

TEST_CASE("ledger content states and positioned states", "[laws]") {
  const auto content = random_tensor<double, 3>({B, n, d_model}, 502);
  auto states = content;
  encode::add_positions(waves(), batch(), states.view());
  CHECK(states.extents() == shape3{B, n, d_model});
  for (const shape3& wrong : {shape3{n, B, d_model}, shape3{B, n - 1, d_model}, shape3{B, n, d_model + 1}}) {
    tensor<double, 3> other(wrong);
    CHECK(refusal([&] { encode::add_positions(waves(), batch(), other.view()); }).code() == errc::shape_mismatch);
  }
}

TEST_CASE("ledger position column and frequency ladder", "[laws]") {
  CHECK(waves().frequencies().size() == d_model / 2);
  const auto call = call_at({4, 9, 2});
  CHECK(call.at(batch_index{0}, query_index{1}) == position{9});
}

TEST_CASE("ledger sinusoidal table and its slices", "[laws]") {
  // A table is the states of one entry, added onto zeros; a slice is the call of other positions.
  const auto whole = encoded(waves(), call_at({0, 1, 2, 3, 4, 5, 6, 7, 8}));
  const auto slice = encoded(waves(), call_at({3, 4, 5}));
  CHECK(whole.extents() == shape3{1, 9, d_model});
  CHECK(slice.extents() == shape3{1, 3, d_model});
  for (index_t row = 0; row < 3; ++row) {
    for (index_t d = 0; d < d_model; ++d) CHECK(slice(0, row, d) == whole(0, row + 3, d));
  }
}

TEST_CASE("ledger learned table and its lookup", "[laws]") {
  const index_t max_position_embeddings = 12;
  const auto encoder = learned(max_position_embeddings);
  CHECK(encoder.capacity() == max_position_embeddings);
  CHECK(encoder.width() == d_model);
  CHECK(encoded(encoder, call_at({11, 0, 5})).extents() == shape3{1, 3, d_model});
  CHECK(encoded(encoder, batch()).extents() == shape3{B, n, d_model});
}

TEST_CASE("ledger position ids and attention mask", "[laws]") {
  const auto call = batch();
  std::array<index_t, B> tokens{};
  for (const batch_index b : indices<batch_index>(B)) {
    for (const query_index i : indices<query_index>(n)) {
      CHECK(call.at(b, i) == position{i.value()});
      tokens[static_cast<std::size_t>(b.value())] += call.active(b, i) ? 1 : 0;
    }
  }
  CHECK(tokens == std::array<index_t, B>{7, 4, 5});
}

TEST_CASE("ledger query positions key positions and relative offsets", "[laws]") {
  const auto call = call_at({5, 6}, {2, 3, 4, 5, 6});
  CHECK(call.query_space().rows() == 2);
  CHECK(call.key_space().rows() == 5);
  const auto offsets = coordinate::pairwise_offsets(call, offset_sign::key_minus_query);
  CHECK(offsets.extents() == shape3{1, 2, 5});
  CHECK(offsets(0, 1, 0) == -4);
}

TEST_CASE("ledger bucket ids and scalar bias", "[laws]") {
  const index_t head_count = 4;
  const coordinate::t5_bucket bucket(
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional});
  const auto weights = random_table(32, head_count, 503);
  const attention model{heads{.query = head_count, .key_value = 2, .dim = 3}, scale::none{},
                        bias::t5<double>(weights, bucket), visible::active{}};
  const auto call = call_at({5, 6}, {2, 3, 4, 5, 6});
  const auto plan = model.compile<double>(call);
  for (const head_index h : indices<head_index>(head_count)) {
    for (const query_index i : indices<query_index>(2)) {
      for (const key_index j : indices<key_index>(5)) {
        const index_t id = bucket(call.offset(batch_index{0}, i, j));
        CHECK((id >= 0 && id < 32));
        CHECK(plan.bias(batch_index{0}, h, i, j) == weights(id, h.value()));
      }
    }
  }
}

TEST_CASE("ledger source and target states", "[laws]") {
  const std::array<index_t, B> target{3, 2, 4};
  const std::array<index_t, B> source{7, 6, 5};
  const auto call =
      call::cross_attention({.target_lengths = target, .source_lengths = source, .target_rows = 4, .source_rows = n});
  CHECK(call.batch() == B);
  CHECK(call.queries() == 4);
  CHECK(call.keys() == n);
  CHECK_FALSE(call.same_frame());
}

TEST_CASE("ledger materialised shaw rows", "[laws]") {
  const index_t d_head = 6;
  const index_t max_distance = 2;
  const auto relations = head_tables<double>::shared(random_table(2 * max_distance + 1, d_head, 504));
  const auto call = call_at({5, 6}, {2, 3, 4, 5, 6});
  const auto query = random_tensor<double, 4>({1, 4, 2, d_head}, 505);
  using content::relation_schedule;
  const content::relation_extents extents{
      .batch = 1, .heads = 4, .queries = 2, .keys = 5, .dim = d_head, .classes = relations.rows(), .tables = 1};
  CHECK(content::temporaries(relation_schedule::direct_gather, extents, sizeof(double)).alive ==
        index_t{2 * 5 * 6 * sizeof(double)});
  const auto scores =
      content::relation_scores(relation_schedule::direct_gather, relations,
                               coordinate::clipped::symmetric(max_distance), call, std::as_const(query).view());
  CHECK(scores.extents() == std::array<index_t, 4>{1, 4, 2, 5});
}

TEST_CASE("ledger segment memory", "[laws]") {
  const std::array<index_t, B> streams{0, 1, 2};
  const call::segment_memory<double> empty(
      {.layer = 0, .capacity = 5, .first_position = 0, .gradient = call::memory_gradient::detached}, streams);
  const auto states = random_tensor<double, 3>({B, n, d_model}, 506);
  const call::segment<double> first{.layer = 0, .first_position = 0, .streams = streams, .states = states.view()};
  const auto memory = empty.updated(first);
  CHECK(memory.states().extents() == shape3{B, 5, d_model});
  const call::segment<double> next{.layer = 0, .first_position = n, .streams = streams, .states = states.view()};
  const auto extended = memory.extended(next);
  CHECK(extended.states.extents() == shape3{B, 5 + n, d_model});
  CHECK(extended.call.queries() == n);
  CHECK(extended.call.keys() == 5 + n);
}

/// One column over the rows of batch().
template <class Value>
row_column<Value> column_of(const Value& value) {
  return {row_identity::of(batch().query_space()), std::vector<Value>(static_cast<std::size_t>(B * n), value)};
}

TEST_CASE("ledger columns of rows", "[laws]") {
  const auto expect_shape = [](const auto& column) {
    CHECK(column.rows().entries() == B);
    CHECK(column.rows().rows() == n);
    violations found;
    column.expect_of(batch().query_space(), "column", found);
    CHECK(found.empty());
    using column_type = std::remove_cvref_t<decltype(column)>;
    auto values = column.values();
    values.pop_back();
    CHECK(refusal([&] { (void)column_type(column.rows(), values); }).code() == errc::row_count);
  };
  expect_shape(column_of(document_box{0, 0, 1, 1}));
  expect_shape(column_of(image_cell{2, 3}));
  expect_shape(column_of(media_time{0.5, 0.25}));
  expect_shape(column_of(event{.order = 4}));
}

TEST_CASE("ledger joined rows", "[laws]") {
  using part = annotated_rows<double, row_column<image_cell>>;
  const auto make = [](index_t first, index_t count, unsigned seed) {
    std::vector<row_name> names;
    for (index_t row = 0; row < count; ++row) names.push_back({0, first + row, true});
    const row_identity rows(1, count, std::move(names));
    const auto content = random_tensor<double, 3>({1, count, d_model}, seed);
    return part(rows, content.view(),
                row_column<image_cell>(rows, std::vector<image_cell>(static_cast<std::size_t>(count))));
  };
  const std::vector<part> parts{make(0, 3, 507), make(3, 4, 508)};
  const auto joined = part::concatenated(parts, row_numbers::kept);
  CHECK(joined.content().extents() == shape3{1, 7, d_model});
  tensor<double, 3> states(joined.content().extents());
  encode::add_positions(waves(), joined.call(), states.view());
  CHECK(states.extents() == shape3{1, 7, d_model});
}

}  // namespace shape_ledger_test
