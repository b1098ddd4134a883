// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/contract/cached_call.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/window.hpp>

#include <functional>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"
#include "support/toy_identity.hpp"

namespace cached_call_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;

using ids = std::vector<index_t>;

inline const heads layout{.query = 4, .key_value = 2, .dim = 6};

template <class... More>
auto model(More... more) {
  return attention{
      layout,
      scale::inverse_sqrt_head_dim{},
      transform::rotary(frequency::geometric({.base = 100.0, .rotary_dim = 4}), {.pairs = transform::pairing::halves}),
      bias::alibi(bias::alibi_slopes::reference(layout.query), bias::alibi_direction::symmetric),
      visible::causal{},
      visible::active{},
      more...};
}

/// The rows of one sequence, all of them, by position from `start` on.
struct sequence {
  index_t start;
  tensor<double, 4> query;
  tensor<double, 4> key;
  tensor<double, 4> value;

  sequence(index_t first, index_t length, unsigned seed)
      : start(first),
        query(random_tensor<double, 4>({1, layout.query, length, layout.dim}, seed)),
        key(random_tensor<double, 4>({1, layout.key_value, length, layout.dim}, seed + 1)),
        value(random_tensor<double, 4>({1, layout.key_value, length, 3}, seed + 2)) {}
  [[nodiscard]] index_t length() const { return query.extent(2); }
};

/// Fills row `to` of entry b from the row of a position.
void put(const tensor<double, 4>& all, index_t from, tensor<double, 4>& out, index_t b, index_t to) {
  for (index_t h = 0; h < out.extent(1); ++h) {
    const auto row = all.view().row(0, h, from);
    std::copy(row.begin(), row.end(), out.view().row(b, h, to).begin());
  }
}

/// Attention over a call whose rows are those of the sequences that stand at its positions, moved back by `shift`.
template <class Model>
attention_result<double> run(const Model& m, const position_call& call, const std::vector<const sequence*>& from,
                             index_t shift = 0) {
  tensor<double, 4> query({call.batch(), layout.query, call.queries(), layout.dim});
  tensor<double, 4> key({call.batch(), layout.key_value, call.keys(), layout.dim});
  tensor<double, 4> value({call.batch(), layout.key_value, call.keys(), 3});
  for (const batch_index b : indices<batch_index>(call.batch())) {
    const sequence& of = *from[static_cast<std::size_t>(b.value())];
    for (const query_index i : indices<query_index>(call.queries())) {
      if (call.active(b, i)) put(of.query, call.at(b, i).value() - shift - of.start, query, b.value(), i.value());
    }
    for (const key_index j : indices<key_index>(call.keys())) {
      if (!call.active(b, j)) continue;
      put(of.key, call.at(b, j).value() - shift - of.start, key, b.value(), j.value());
      put(of.value, call.at(b, j).value() - shift - of.start, value, b.value(), j.value());
    }
  }
  return attend(eager{}, m.template compile<double>(call), {query.view(), key.view(), value.view()}, also::everything);
}

/// The largest difference of a query row of two runs: output, log-sum-exp and the scores of keys at equal positions.
double apart(const attention_result<double>& a, const position_call& in_a, index_t b, index_t i,
             const attention_result<double>& other, const position_call& in_other, index_t ob, index_t oi) {
  double largest = 0.0;
  for (index_t h = 0; h < layout.query; ++h) {
    const auto grow = [&](double by) { largest = std::max(largest, by); };
    grow(largest_difference(a.output.view().row(b, h, i), other.output.view().row(ob, h, oi)));
    grow(difference(a.log_sum_exp(b, h, i), other.log_sum_exp(ob, h, oi)));
    for (const key_index j : indices<key_index>(in_a.keys())) {
      if (!in_a.active(batch_index{b}, j)) continue;
      for (const key_index k : indices<key_index>(in_other.keys())) {
        if (!in_other.active(batch_index{ob}, k)) continue;
        if (in_a.at(batch_index{b}, j) != in_other.at(batch_index{ob}, k)) continue;
        grow(difference(a.scores(b, h, i, j.value()), other.scores(ob, h, oi, k.value())));
      }
    }
  }
  return largest;
}

kv_cache cache_of(index_t slots, index_t start, full_cache when_full = full_cache::refuse, index_t sequence = 0) {
  auto identity = empty_identity(model().describe(), start);
  identity.sequence = sequence;
  return {identity, {.slots = slots, .when_full = when_full}};
}
ids some(index_t count) { return ids(static_cast<std::size_t>(count), 7); }

position_call whole_call(const sequence& of) {
  const call::prefill_entry entry{.committed_length = of.start, .first_position = of.start, .length = of.length()};
  return call::prefill_chunk({.entries = {&entry, 1}, .query_rows = of.length(), .key_rows = of.length()});
}

void expect_refused(const std::function<void()>& action, errc code, const std::string& words) {
  CAPTURE(words);
  const error refused = refusal(action);
  CHECK(refused.code() == code);
  CHECK(std::string(refused.what()).find(words) != std::string::npos);
}

TEST_CASE("decoding over a cache equals the whole call row by row", "[cached_call]") {
  const sequence all(5, 11, 200);
  const auto m = model();
  const auto whole = whole_call(all);
  const auto expected = run(m, whole, {&all});
  auto cache = cache_of(11, 5);
  for (const index_t rows : {3, 1, 1, 4, 1, 1}) {
    const auto call = next_call({cache, cache.identity(), rows});
    CHECK(call.kind() == (rows == 1 ? call_kind::decode_step : call_kind::prefill_chunk));
    CHECK(call.query_space().affine());
    CHECK(call.key_space().affine());
    CHECK(call.past_length(batch_index{0}) == cache.size());
    CHECK(call.committed_length(batch_index{0}) == cache.committed_length());
    const auto result = run(m, call, {&all});
    for (index_t i = 0; i < rows; ++i) {
      CHECK(apart(result, call, 0, i, expected, whole, 0, cache.size() + i) < 1e-13);
    }
    cache.append(some(rows));
    const auto in_place = stored_call({cache, cache.identity(), rows});
    CHECK(in_place.keys() == 11);
    const auto stored = run(m, in_place, {&all});
    for (index_t i = 0; i < rows; ++i) {
      CHECK(apart(stored, in_place, 0, i, expected, whole, 0, cache.size() - rows + i) < 1e-13);
    }
  }
}

TEST_CASE("decoding after eviction equals attention over the explicit positions", "[cached_call]") {
  const sequence all(2, 9, 210);
  const auto m = model();
  auto cache = cache_of(9, 2);
  cache.append(some(7));
  cache.evict(position{3}, position{5});
  cache.evict(position{7}, position{8});
  const auto call = next_call({cache, cache.identity(), 2});
  CHECK(call.past_length(batch_index{0}) == 4);
  CHECK(call.committed_length(batch_index{0}) == 9);
  const auto plain = call_at({9, 10}, {2, 5, 6, 8, 9, 10});
  const auto result = run(m, call, {&all});
  const auto expected = run(m, plain, {&all});
  for (const index_t i : {0, 1}) CHECK(apart(result, call, 0, i, expected, plain, 0, i) == 0.0);
  // Keys that are taken for the last ones before the query are those of other positions.
  const auto by_length = call_at({9, 10}, {5, 6, 7, 8, 9, 10});
  const auto mistaken = run(m, by_length, {&all});
  CHECK(largest_difference(result.scores.values(), mistaken.scores.values()) > 0.01);

  cache.append(some(1));
  const auto stored = stored_call({cache, cache.identity(), 1});
  const auto last = call_at({9}, {2, 5, 6, 8, 9});
  CHECK(apart(run(m, stored, {&all}), stored, 0, 0, run(m, last, {&all}), last, 0, 0) < 1e-13);
}

TEST_CASE("a ring of c slots is a window of c keys", "[cached_call]") {
  const index_t c = 4;
  const sequence all(3, 13, 220);
  const auto m = model(visible::window::counting_own_key(c));
  const auto whole = whole_call(all);
  const auto expected = run(m, whole, {&all});
  auto cache = cache_of(c, 3, full_cache::overwrite_oldest);
  for (index_t n = 0; n < all.length(); ++n) {
    const auto before = next_call({cache, cache.identity(), 1});
    CHECK(apart(run(m, before, {&all}), before, 0, 0, expected, whole, 0, n) < 1e-13);
    cache.append(some(1));
    const auto in_place = stored_call({cache, cache.identity(), 1});
    CHECK(in_place.keys() == c);
    // Without the window: the ring has nothing else.
    CHECK(apart(run(model(), in_place, {&all}), in_place, 0, 0, expected, whole, 0, n) < 1e-13);
  }
}

TEST_CASE("a batch of caches is each of them alone", "[cached_call]") {
  const sequence first(0, 8, 230);
  const sequence second(6, 9, 240);
  const sequence third(2, 4, 250);
  const auto m = model();
  auto a = cache_of(8, 0, full_cache::refuse, 1);
  auto b = cache_of(9, 6, full_cache::refuse, 2);
  auto c = cache_of(4, 2, full_cache::refuse, 9);
  a.append(some(5));
  b.append(some(6));
  const std::vector<const sequence*> sequences{&first, &second, &third};
  for (const bool holes : {false, true}) {
    if (holes) b.evict(position{7}, position{10});
    for (const ids& rows : {ids{1, 1, 1}, ids{2, 3, 1}}) {
      const std::vector<cached_request> uses{
          {a, a.identity(), rows[0]}, {b, b.identity(), rows[1]}, {c, c.identity(), rows[2]}};
      const auto call = next_call(uses);
      CHECK(call.key_space().affine() == !holes);
      CHECK(call.kind() == (rows[1] == 1 ? call_kind::decode_step : call_kind::prefill_chunk));
      CHECK(call.sequence(batch_index{2}, key_index{0}) == 9);
      const auto together = run(m, call, sequences);
      for (std::size_t n = 0; n < uses.size(); ++n) {
        const auto alone_call = next_call(uses[n]);
        const auto alone = run(m, alone_call, {sequences[n]});
        for (index_t i = 0; i < rows[n]; ++i) {
          CHECK(apart(together, call, static_cast<index_t>(n), i, alone, alone_call, 0, i) < 1e-13);
        }
      }
    }
  }
}

TEST_CASE("scores stay when a cache of differences moves", "[cached_call]") {
  const sequence all(4, 8, 260);
  const auto m = model();
  auto cache = cache_of(8, 4);
  cache.append(some(6));
  cache.evict(position{4}, position{6});
  const auto before = next_call({cache, cache.identity(), 2});
  cache.reanchor(relative_offset{-6});
  const auto after = next_call({cache, cache.identity(), 2});
  CHECK(after.at(batch_index{0}, key_index{0}) == position{0});
  CHECK(after.at(batch_index{0}, query_index{0}) == position{4});
  const auto a = run(m, before, {&all});
  const auto b = run(m, after, {&all}, -6);
  CHECK(largest_difference(a.scores.values(), b.scores.values()) < 1e-13);
  CHECK(largest_difference(a.output.values(), b.output.values()) < 1e-13);
}

TEST_CASE("a reused prefix answers as the request's own would", "[cached_call]") {
  const sequence all(0, 7, 270);
  auto cache = cache_of(7, 0);
  cache.append(some(5));
  auto wanted = cache.identity();
  wanted.request = request_id("r8");
  wanted.sequence = 3;
  auto taken = cache.prefix(4, wanted);
  auto own = cache_of(7, 0, full_cache::refuse, 3);
  own.append(some(4));
  const auto call = next_call({taken, taken.identity(), 2});
  const auto expected = next_call({own, own.identity(), 2});
  CHECK(call.sequence(batch_index{0}, key_index{1}) == 3);
  const auto a = run(model(), call, {&all});
  const auto b = run(model(), expected, {&all});
  CHECK(largest_difference(a.scores.values(), b.scores.values()) == 0.0);
  expect_refused(
      [&] {
        (void)next_call({taken, own.identity(), 2});
      },
      errc::cache_identity, "cache, request: expected r7, got r8");
}

TEST_CASE("a cache that does not fit its request is refused", "[cached_call]") {
  auto cache = cache_of(4, 0, full_cache::overwrite_oldest);
  cache.append(some(3));
  auto other = cache.identity();
  other.release = release_id("13");
  expect_refused(
      [&] {
        (void)next_call({cache, other, 1});
      },
      errc::cache_identity, "cache, release: expected 13, got 12");
  expect_refused([&] { (void)stored_call({cache, other, 1}); }, errc::cache_identity, "cache, release");
  expect_refused(
      [&] {
        (void)next_call({cache, cache.identity(), 0});
      },
      errc::cache_operation, "next call, new rows: expected from 1");
  expect_refused([&] { (void)next_call(std::span<const cached_request>{}); }, errc::empty_batch, "next call, caches");
  expect_refused(
      [&] {
        (void)stored_call({cache, cache.identity(), 4});
      },
      errc::cache_operation, "at most 3 stored rows");
  auto of_source = empty_identity(model().describe());
  of_source.frame = coordinate_frame("source");
  const kv_cache source(of_source, {.slots = 2, .when_full = full_cache::refuse});
  const std::vector<cached_request> mixed{{cache, cache.identity(), 1}, {source, source.identity(), 1}};
  expect_refused([&] { (void)next_call(mixed); }, errc::frame_mismatch, "expected sequence, got source");
  cache.append(some(2));
  expect_refused(
      [&] {
        (void)stored_call({cache, cache.identity(), 2});
      },
      errc::cache_operation, "the ring buffer has overwritten rows");
  CHECK_NOTHROW(stored_call({cache, cache.identity(), 1}));
  cache.evict(position{4}, position{5});
  expect_refused(
      [&] {
        (void)stored_call({cache, cache.identity(), 1});
      },
      errc::cache_operation, "last row: expected stored at position 4, got 3");

  auto identity = empty_identity(model().describe());
  identity.baked =
      baked_transform{.transform = transform::rotary(frequency::geometric({.base = 100.0, .rotary_dim = 4}),
                                                     {.pairs = transform::pairing::halves})
                                       .describe(),
                      .offset = 0};
  kv_cache owing(identity, {.slots = 2, .when_full = full_cache::refuse});
  owing.append(some(1));
  owing.reanchor(relative_offset{3});
  expect_refused(
      [&] {
        (void)next_call({owing, owing.identity(), 1});
      },
      errc::cache_operation, "keys that owe a shift of 3");
  owing.keys_are_turned();
  CHECK(next_call({owing, owing.identity(), 1}).at(batch_index{0}, query_index{0}) == position{4});
}

}  // namespace cached_call_test
