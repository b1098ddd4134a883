// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/prefill_chunk.hpp>

#include "agreement/placed_rows.hpp"

namespace agreement_exactness_test {

using namespace posgeo;
using namespace posgeo::test;
using Eigen::bfloat16;

constexpr index_t all = visible::window::unbounded;

/// Number 31 is a scene whose parameters fit every call: its pair bias is broadcast over all axes but the heads.
scene sequence_scene(const heads& layout, index_t value_dim, index_t length, const visible::window& see) {
  return {"a sequence", layout, value_dim, call::prefill_chunk(0, length), see, 31};
}

std::vector<scene> sequence_scenes() {
  return {sequence_scene({2, 1, 20}, 24, 37, {.behind = all, .ahead = all}),
          sequence_scene({4, 2, 64}, 40, 41, {.behind = all, .ahead = 0}),
          sequence_scene({2, 2, 20}, 7, 61, {.behind = 20, .ahead = 3}),
          sequence_scene({1, 1, 8}, 16, 601, {.behind = all, .ahead = 0}),
          sequence_scene({7, 1, 80}, 80, 5, {.behind = all, .ahead = all})};
}

template <class E, class Family>
void expect_same_bits_anywhere(const Family& family) {
  for (const scene& where : sequence_scenes()) {
    const index_t length = where.call.keys();
    const auto member = family(where);
    const stored_inputs<E> sequence(where, 301);
    const auto places = whole_sequences(length);
    const auto run = [&](const auto& executor, const placement& at) {
      return placed_rows(executor, member.model, where, at, sequence, length);
    };
    const auto alone = run(executor_under_test{}, places.front());
    CHECK(std::ranges::none_of(alone, [](double x) { return std::isnan(x); }));
    for (const placement& at : places) {
      CAPTURE(at.name, length, sizeof(E));
      CHECK(same_bits(alone, run(executor_under_test{}, at)));
    }
    for (const std::size_t n : {std::size_t{0}, std::size_t{4}, places.size() - 1}) {
      for (const index_t threads : {1, 2, 3}) {
        CAPTURE(places[n].name, threads, length, sizeof(E));
        CHECK(same_bits(alone, run(executor_with<order::fastest>(some_threads{threads}), places[n])));
      }
    }
  }
}

TEST_CASE("the bits of a row are the same in any batch and padding and packing and with any number of threads",
          "[exactness]") {
  if constexpr (promises_exact_rows) {
    expect_same_bits_anywhere<float>(t5_shaw_rotary_member);
    expect_same_bits_anywhere<bfloat16>(t5_shaw_rotary_member);
    expect_same_bits_anywhere<float>(everything_member);
    expect_same_bits_anywhere<double>(everything_member);
  }
}

/// The tokens [from, from + count) as the new rows of a call whose cache holds all before them, behind `padding` rows.
placement cached(index_t from, index_t count) {
  return {fmt::format("{} tokens after {}", count, from), call::prefill_chunk(from, count), 0, 0, 0, from, 0};
}
placement decoding(index_t at, index_t padding) {
  const std::vector<call::decode_entry> entries{
      {.committed_length = 70, .query_position = 70, .past_length = 30, .sequence = 6},
      {.committed_length = at, .query_position = at, .past_length = at, .padding = padding}};
  const index_t rows = std::max(index_t{31}, padding + at + 1);
  return {fmt::format("decoding {} behind {} rows of padding", at, padding),
          call::decode_step({.entries = entries, .key_rows = rows}),
          1,
          0,
          padding,
          at,
          1};
}
std::vector<std::pair<placement, index_t>> cached_rows(index_t length) {
  return {{cached(0, length / 3), length / 3},
          {cached(length / 3, length / 2), length / 2},
          {cached(length - 3, 3), 3},
          {cached(length - 1, 1), 1},
          {decoding(0, 0), 1},
          {decoding(length / 2, 0), 1},
          {decoding(length - 1, 0), 1},
          {decoding(length - 1, 13), 1}};
}
std::vector<scene> causal_scenes() {
  return {sequence_scene({4, 2, 64}, 40, 41, {.behind = all, .ahead = 0}),
          sequence_scene({7, 1, 20}, 24, 67, {.behind = 20, .ahead = 0}),
          sequence_scene({2, 1, 8}, 16, 1061, {.behind = all, .ahead = 0}),
          sequence_scene({1, 1, 20}, 7, 613, {.behind = 520, .ahead = 0})};
}

/// The rows of queries [from, from + count) among those of the whole sequence.
std::vector<double> rows_of(const std::vector<double>& whole, index_t heads, index_t length, index_t from,
                            index_t count) {
  const index_t numbers = static_cast<index_t>(whole.size()) / (heads * length);
  std::vector<double> out;
  for (index_t h = 0; h < heads; ++h) {
    const auto begin = whole.begin() + (h * length + from) * numbers;
    out.insert(out.end(), begin, begin + count * numbers);
  }
  return out;
}

template <class E, class Family>
void expect_reproducible(const Family& family) {
  for (const scene& where : causal_scenes()) {
    const index_t length = where.call.keys();
    const auto member = family(where);
    const stored_inputs<E> sequence(where, 303);
    const auto executor = executor_with<order::reproducible>(threads::serial{});
    const auto whole = placed_rows(executor, member.model, where, cached(0, length), sequence, length);
    for (const auto& [at, count] : cached_rows(length)) {
      CAPTURE(at.name, length, sizeof(E));
      CHECK(same_bits(rows_of(whole, where.layout.query, length, at.from, count),
                      placed_rows(executor, member.model, where, at, sequence, count)));
    }
  }
}

TEST_CASE("under order reproducible cached rows have the bits of the full pass", "[exactness]") {
  if constexpr (promises_exact_rows) {
    expect_reproducible<float>(t5_shaw_rotary_member);
    expect_reproducible<bfloat16>(t5_shaw_rotary_member);
    expect_reproducible<float>(everything_member);
    expect_reproducible<float>([](const scene& where) { return family_member{model_of(where, alibi_of(where))}; });
  }
}

/// Rows of the full pass held against what eager in double says of the cached call.
template <class E, class Family>
void expect_full_pass_within_bound(const Family& family) {
  for (const scene& alone : causal_scenes()) {
    const index_t length = alone.call.keys();
    const auto member = family(alone);
    const stored_inputs<E> sequence(alone, 305);
    const auto whole = placed_rows(executor_under_test{}, member.model, alone, cached(0, length), sequence, length);
    for (const auto& [at, count] : cached_rows(length)) {
      if (at.call.batch() != 1) continue;
      CAPTURE(at.name, length, sizeof(E));
      scene where = alone;
      where.call = at.call;
      const auto exact_plan = member.model.template compile<double>(where.call);
      const roundings by = roundings_of<E, computed_in<E>>();
      const auto expected = expected_of(exact_plan, placed_inputs(where, at, sequence, 501), member.sizes, by);
      const auto rows = rows_of(whole, where.layout.query, length, at.from, count);
      tensor<double, 4> output(expected.exact.output.extents());
      tensor<double, 3> log_sum_exp(expected.exact.log_sum_exp.extents());
      const index_t numbers = where.value_dim + 1;
      for (index_t n = 0; n < where.layout.query * count; ++n) {
        const auto from = rows.begin() + n * numbers;
        std::copy(from, from + where.value_dim, output.values().begin() + n * where.value_dim);
        log_sum_exp.values()[static_cast<std::size_t>(n)] = from[where.value_dim];
      }
      CHECK(largest_output_error(where, expected, output, log_sum_exp, by) <= 1.0);
    }
  }
}

TEST_CASE("the full pass agrees with cached calls within the bound", "[exactness]") {
  expect_full_pass_within_bound<float>(t5_shaw_rotary_member);
  expect_full_pass_within_bound<float>(everything_member);
}

}  // namespace agreement_exactness_test
