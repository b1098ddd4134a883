// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/attend/merge.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>

#include <algorithm>
#include <string>

#include "support/attention_inputs.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"

namespace merge_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr heads layout{.query = 4, .key_value = 2, .dim = 5};
constexpr index_t value_dim = 3;
constexpr double nothing = -std::numeric_limits<double>::infinity();

const std::vector<index_t> query_positions{2, 0, 9, 5, 5, 1};  // two entries of three queries
const std::vector<index_t> query_sequences{0, 0, 0, 1, 2, 1};
const std::vector<index_t> key_positions{0, 4, 2, 7, 1, 3, 8, 0, 5, 6, 2, 4, 1, 9};  // seven keys each, in no order
const std::vector<index_t> key_sequences{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1};

/// The call of the keys [begin, end) of each entry.
position_call call_of(index_t begin, index_t end) {
  std::vector<index_t> positions;
  std::vector<index_t> sequences;
  for (index_t b = 0; b < 2; ++b) {
    for (index_t j = begin; j < end; ++j) {
      positions.push_back(key_positions[static_cast<std::size_t>(7 * b + j)]);
      sequences.push_back(key_sequences[static_cast<std::size_t>(7 * b + j)]);
    }
  }
  return call::explicit_positions({.entries = 2,
                                   .query = {.positions = query_positions, .sequences = query_sequences, .rows = 3},
                                   .key = {.positions = positions, .sequences = sequences, .rows = end - begin}});
}

tensor<double, 4> keys_of(const tensor<double, 4>& all, index_t begin, index_t end) {
  tensor<double, 4> part({2, 2, end - begin, all.extent(3)});
  for (index_t b = 0; b < 2; ++b) {
    for (index_t h = 0; h < 2; ++h) {
      for (index_t j = begin; j < end; ++j) {
        const auto from = all.view().row(b, h, j);
        std::copy(from.begin(), from.end(), part.view().row(b, h, j - begin).begin());
      }
    }
  }
  return part;
}

/// Causal attention with ALiBi over the keys [begin, end) alone. Query 1 of entry 1 belongs to no key's sequence.
template <class... More>
partial_attention<double> over(index_t begin, index_t end, const More&... more) {
  const auto call = call_of(begin, end);
  const attention_inputs<double> in(layout, call_of(0, 7), value_dim, 71);
  const attention model{layout,
                        scale::inverse_sqrt_head_dim{},
                        visible::causal{},
                        visible::segments{},
                        bias::alibi(bias::alibi_slopes::reference(4), bias::alibi_direction::causal),
                        more...};
  const auto plan = model.template compile<double>(call);
  const auto key = keys_of(in.key, begin, end);
  const auto value = keys_of(in.value, begin, end);
  return part_of(plan, attend(eager{}, plan, {in.query.view(), key.view(), value.view()}, also::log_sum_exp));
}

void check_same(const partial_attention<double>& a, const partial_attention<double>& b) {
  CHECK(largest_difference(a.output.values(), b.output.values()) < 1e-14);
  CHECK(largest_difference(a.log_sum_exp.values(), b.log_sum_exp.values()) < 1e-14);
}

TEST_CASE("keys split anywhere and merged are all keys", "[merge]") {
  const auto whole = over(0, 7);
  for (index_t cut = 0; cut <= 7; ++cut) check_same(merge(over(0, cut), over(cut, 7)), whole);
  const auto first = over(0, 3);
  CHECK(largest_difference(first.output.values(), whole.output.values()) > 0.1);
}

TEST_CASE("three parts merge to the whole in every order and grouping", "[merge]") {
  const auto whole = over(0, 7);
  std::vector parts{over(0, 2), over(2, 3), over(3, 7)};
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    const auto& [a, b, c] = order;
    check_same(merge(merge(parts[a], parts[b]), parts[c]), whole);
    check_same(merge(parts[a], merge(parts[b], parts[c])), whole);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("rows that see nothing on one side or on both keep the other side or nothing", "[merge]") {
  const auto first = over(0, 2);  // positions 0 and 4, 0 and 5
  const auto last = over(3, 5);
  const auto both = merge(first, last);
  int empty_on_one_side = 0;
  for (index_t b = 0; b < 2; ++b) {
    for (index_t h = 0; h < 4; ++h) {
      for (index_t i = 0; i < 3; ++i) {
        const bool seen_first = first.log_sum_exp(b, h, i) != nothing;
        const bool seen_last = last.log_sum_exp(b, h, i) != nothing;
        if (seen_first && seen_last) continue;
        const auto& only = seen_last ? last : first;
        CHECK(both.log_sum_exp(b, h, i) == only.log_sum_exp(b, h, i));
        CHECK(largest_difference(both.output.view().row(b, h, i), only.output.view().row(b, h, i)) == 0.0);
        empty_on_one_side += seen_first != seen_last ? 1 : 0;
        if (b == 1 && i == 1) CHECK(both.log_sum_exp(b, h, i) == nothing);
      }
    }
  }
  CHECK(empty_on_one_side > 0);
}

TEST_CASE("a sink that one part counts is the sink of the whole", "[merge]") {
  const scale::sink sink({0.4, -1.2, 2.5, 0.0});
  const auto whole = over(0, 7, sink);
  CHECK(whole.sink == sink_share::counted);
  const auto without = over(0, 7);
  CHECK(largest_difference(whole.output.values(), without.output.values()) > 0.1);
  for (index_t cut = 0; cut <= 7; ++cut) {
    for (const auto& merged : {merge(over(0, cut, sink), over(cut, 7)), merge(over(0, cut), over(cut, 7, sink))}) {
      CHECK(merged.sink == sink_share::counted);
      check_same(merged, whole);
    }
    CHECK(merge(over(0, cut), over(cut, 7)).sink == sink_share::left_out);
    const error twice = refusal([&] { return merge(over(0, cut, sink), over(cut, 7, sink)); });
    CHECK(twice.code() == errc::merge_frames);
    CHECK(std::string(twice.what()) ==
          "merge, softmax sink: expected counted in one part at most, got counted in both");
  }
  CHECK(whole.log_sum_exp(1, 2, 1) == 2.5);  // sees no key
}

TEST_CASE("single rows count a sink once", "[merge]") {
  const partial_row<double> keys{.output = {3.0, -1.0}, .log_sum_exp = 1.5, .frame = label("f")};
  const partial_row<double> sink{
      .output = {0.0, 0.0}, .log_sum_exp = 0.25, .frame = label("f"), .sink = sink_share::counted};
  const double share = 1.0 / (1.0 + std::exp(0.25 - 1.5));
  for (const auto& merged : {merge(keys, sink), merge(sink, keys)}) {
    CHECK(merged.sink == sink_share::counted);
    CHECK_THAT(merged.output[0], WithinRel(3.0 * share, 1e-15));
    CHECK_THAT(merged.log_sum_exp, WithinRel(1.5 - std::log(share), 1e-15));
    CHECK(refusal([&] { return merge(merged, sink); }).code() == errc::merge_frames);
    CHECK(merge(merged, keys).sink == sink_share::counted);
  }
}

TEST_CASE("a row that saw nothing is neutral whatever memory it left", "[merge]") {
  const partial_row<double> seen{.output = {2.5, -1.0}, .log_sum_exp = 40.0, .frame = label("f")};
  const partial_row<double> empty{.output = {NAN, 7.0}, .log_sum_exp = nothing, .frame = label("f")};
  for (const auto& merged : {merge(seen, empty), merge(empty, seen)}) {
    CHECK(merged.output == seen.output);
    CHECK(merged.log_sum_exp == 40.0);
  }
  const partial_row<double> zero{.output = {0.0, 0.0}, .log_sum_exp = nothing, .frame = label("f")};
  CHECK(merge(zero, zero).output == zero.output);
  CHECK(merge(zero, zero).log_sum_exp == nothing);
}

TEST_CASE("single rows merge by their shares however far apart their scores are", "[merge]") {
  const auto row = [](double out, double log_sum_exp) {
    return partial_row<double>{.output = {out}, .log_sum_exp = log_sum_exp, .frame = label("f")};
  };
  // weights e^3 and e^2 of the values 10 and -6
  const auto merged = merge(row(10.0, 3.0), row(-6.0, 2.0));
  const double share = 1.0 / (1.0 + std::exp(-1.0));
  CHECK_THAT(merged.output[0], WithinRel(10.0 * share - 6.0 * (1.0 - share), 1e-14));
  CHECK_THAT(merged.log_sum_exp, WithinRel(3.0 - std::log(share), 1e-15));
  CHECK(merge(row(10.0, 5000.0), row(-6.0, -5000.0)).output[0] == 10.0);
  CHECK(merge(row(10.0, -5000.0), row(-6.0, 5000.0)).log_sum_exp == 5000.0);
}

template <class T>
partial_row<T> one_value(T out, T log_sum_exp) {
  return {.output = {out}, .log_sum_exp = log_sum_exp, .frame = label("f")};
}

TEST_CASE("shares sum to one at any size of the log-sum-exps", "[merge]") {
  for (const float size : {1e30f, -1e30f, 3e38f}) {
    const auto merged = merge(one_value(2.0f, size), one_value(-6.0f, size));
    CHECK(merged.output[0] == -2.0f);
    CHECK(merged.log_sum_exp == size);
  }
  for (const double size : {1e6, -1e6, 4e15}) {
    const auto merged = merge(one_value(0.7, size), one_value(0.7, size + 0.3));
    CHECK_THAT(merged.output[0], WithinRel(0.7, 1e-15));
  }
  const double share = 1.0 / (1.0 + std::exp(0.25));
  CHECK_THAT(merge(one_value(1.0, 1e6), one_value(0.0, 1e6 + 0.25)).output[0], WithinRel(share, 1e-15));
  CHECK_THAT(merge(one_value(0.0, 1e6 + 0.25), one_value(1.0, 1e6)).output[0], WithinRel(share, 1e-15));
}

TEST_CASE("three parts of large log-sum-exps merge alike in every order", "[merge]") {
  constexpr double size = 1e6;
  const std::array parts{one_value(0.7, size + 0.25), one_value(-1.9, size), one_value(4.0, size - 0.5)};
  const double e0 = std::exp(0.25);
  const double e2 = std::exp(-0.5);
  const double expected = (0.7 * e0 - 1.9 + 4.0 * e2) / (e0 + 1.0 + e2);
  // half a unit in the last place of a stored log-sum-exp near 1e6 is an error of as much in a share of at most 1 / 4
  const double allowed = (4.0 + 1.9) / 4.0 * std::ldexp(1.0, -34) + 1e-14;
  std::array<std::size_t, 3> order{0, 1, 2};
  do {
    const auto& [a, b, c] = order;
    CHECK_THAT(merge(merge(parts[a], parts[b]), parts[c]).output[0], WithinAbs(expected, allowed));
    const auto alike = [&](std::size_t n) { return one_value(0.7, parts[n].log_sum_exp); };
    CHECK_THAT(merge(merge(alike(a), alike(b)), alike(c)).output[0], WithinRel(0.7, 1e-15));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a part must be the result of its plan", "[merge]") {
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{}, visible::segments{}};
  const auto plan = model.compile<double>(call_of(0, 3));
  const auto refused = [&](const std::array<index_t, 4>& output, const std::array<index_t, 3>& rows) {
    return refusal([&] {
             return part_of(plan, {.output = tensor<double, 4>(output),
                                   .log_sum_exp = tensor<double, 3>(rows),
                                   .scores = {},
                                   .probabilities = {}});
           })
        .code();
  };
  CHECK(refused({1, 4, 3, 5}, {1, 4, 3}) == errc::shape_mismatch);
  CHECK(refused({2, 2, 3, 5}, {2, 2, 3}) == errc::shape_mismatch);
  CHECK(refused({2, 4, 7, 5}, {2, 4, 7}) == errc::shape_mismatch);
  CHECK(refused({2, 4, 3, 5}, {0, 0, 0}) == errc::shape_mismatch);  // not asked for
  CHECK(refused({2, 4, 3, 5}, {2, 4, 2}) == errc::shape_mismatch);
  const auto part = part_of(plan, {.output = tensor<double, 4>({2, 4, 3, 5}),
                                   .log_sum_exp = tensor<double, 3>({2, 4, 3}),
                                   .scores = {},
                                   .probabilities = {}});
  CHECK(part.frame == label("sequence"));
}

TEST_CASE("merge refuses two frames, two shapes and a log-sum-exp that is none", "[merge]") {
  const partial_row<float> row{.output = {1.0f, 2.0f}, .log_sum_exp = 0.5f, .frame = label("source")};
  const auto refused = [&row](const auto& change) {
    auto other = row;
    change(other);
    const errc code = refusal([&] { return merge(row, other); }).code();
    CHECK(refusal([&] { return merge(other, row); }).code() == code);
    return code;
  };
  CHECK(refused([](auto& r) { r.frame = label("target"); }) == errc::merge_frames);
  CHECK(refused([](auto& r) { r.output.pop_back(); }) == errc::shape_mismatch);
  CHECK(refused([](auto& r) { r.log_sum_exp = NAN; }) == errc::non_finite);
  CHECK(refused([](auto& r) { r.log_sum_exp = INFINITY; }) == errc::non_finite);

  const auto part = over(0, 3);
  const auto refused_part = [&part](const auto& change) {
    auto other = part;
    change(other);
    return refusal([&] { return merge(part, other); }).code();
  };
  CHECK(part.frame == label("sequence"));
  CHECK(refused_part([](auto& p) { p.frame = label("shard"); }) == errc::merge_frames);
  CHECK(refused_part([](auto& p) { p.output = tensor<double, 4>({2, 4, 3, 2}); }) == errc::shape_mismatch);
  CHECK(refused_part([](auto& p) { p.log_sum_exp = {}; }) == errc::shape_mismatch);
  CHECK(refused_part([](auto& p) { p.log_sum_exp(1, 2, 0) = NAN; }) == errc::non_finite);
}

}  // namespace merge_test
