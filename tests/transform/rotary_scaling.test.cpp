// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/frequency/dynamic_ntk.hpp>
#include <posgeo/frequency/linear_interpolated.hpp>
#include <posgeo/frequency/llama3.hpp>
#include <posgeo/frequency/longrope.hpp>
#include <posgeo/frequency/yarn.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <array>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/frequencies.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace rotary_scaling_test {

using namespace posgeo;
using namespace posgeo::test;
using transform::pairing;
using transform::rotary;

constexpr std::array<double, 3> short_list{1.0, 1.4, 2.2};
constexpr std::array<double, 3> long_list{1.0, 5.0, 12.0};

frequency::dynamic_ntk dynamic_ntk(index_t sequence_length) {
  return frequency::dynamic_ntk(
      {.base = 300.0, .rotary_dim = 6, .factor = 4.0, .original_max_position = 64, .sequence_length = sequence_length});
}
frequency::longrope longrope(index_t sequence_length) {
  return frequency::longrope({.base = 300.0,
                              .rotary_dim = 6,
                              .short_factor = short_list,
                              .long_factor = long_list,
                              .original_max_position = 64,
                              .max_position = 1024,
                              .sequence_length = sequence_length});
}
frequency::yarn yarn(std::optional<double> attention_factor = {}) {
  return frequency::yarn({.base = 300.0,
                          .rotary_dim = 6,
                          .factor = 4.0,
                          .original_max_position = 64,
                          .ramp = frequency::yarn_ramp::turns,
                          .beta_fast = 5.0,
                          .attention_factor = attention_factor});
}
frequency::llama3 llama3() {
  return frequency::llama3({.base = 300.0,
                            .rotary_dim = 6,
                            .factor = 4.0,
                            .low_freq_factor = 1.0,
                            .high_freq_factor = 4.0,
                            .original_max_position = 64});
}

/// Calls use(rule) with one rule of each kind; all hold for 500 positions.
template <class Use>
void each_rule(const Use& use) {
  use(frequency::linear_interpolated({.base = 300.0, .rotary_dim = 6, .factor = 4.0}));
  use(frequency::ntk_aware({.base = 300.0, .rotary_dim = 6, .factor = 4.0}));
  use(dynamic_ntk(500));
  use(yarn());
  use(llama3());
  use(longrope(500));
}

template <class Rotary>
std::vector<double> turned(const Rotary& policy, index_t p, std::vector<double> row) {
  policy.rotate(position{p}, std::span<double>(row));
  return row;
}

/// Raw scores and log-sum-exp of two query heads over one key head.
template <class Frequency>
attention_result<double> attended(const Frequency& rule, const position_call& call, unsigned seed) {
  const heads layout{.query = 2, .key_value = 1, .dim = 7};
  const attention model{layout, scale::none{}, rotary(rule, {.pairs = pairing::halves}), visible::everything{}};
  return attend(eager{}, model.template compile<double>(call), attention_inputs<double>(layout, call, 3, seed).view(),
                also::everything);
}

TEST_CASE("rotations compose and multiply the norm under every scaling", "[rotary_scaling]") {
  each_rule([](const auto& rule) {
    for (const pairing pairs : {pairing::adjacent, pairing::halves}) {
      const rotary policy(rule, {.pairs = pairs});
      const double factor = attention_factor_of(rule);
      CHECK(policy.attention_factor() == factor);
      const auto row = random_values<double>(7, 71);
      const auto once = turned(policy, 23, row);
      for (std::size_t pair = 0; pair < 3; ++pair) {
        const std::size_t x = pairs == pairing::adjacent ? 2 * pair : pair;
        const std::size_t y = pairs == pairing::adjacent ? 2 * pair + 1 : pair + 3;
        CHECK_THAT(std::hypot(once[x], once[y]), WithinRel(factor * std::hypot(row[x], row[y]), 1e-14));
      }
      CHECK(once[6] == row[6]);  // neither turned nor multiplied
      auto twice = turned(policy, 18, once);
      for (std::size_t d = 0; d < 6; ++d) twice[d] /= factor;
      CHECK(largest_difference(twice, turned(policy, 41, row)) < 1e-13);
    }
  });
}

TEST_CASE("scores depend on the displacement only under every scaling", "[rotary_scaling]") {
  const std::vector<index_t> queries{30, 111, 5};
  const std::vector<index_t> keys{7, 0, 90, 31};
  const auto shifted = [](std::vector<index_t> rows) {
    for (index_t& p : rows) p += 301;
    return rows;
  };
  each_rule([&](const auto& rule) {
    const auto here = attended(rule, call_at(queries, keys), 72);
    const auto there = attended(rule, call_at(shifted(queries), shifted(keys)), 72);
    CHECK(largest_difference(here.scores.values(), there.scores.values()) < 1e-12);
    CHECK(largest_difference(here.log_sum_exp.values(), there.log_sum_exp.values()) < 1e-12);
    const auto apart = attended(rule, call_at(queries, shifted(keys)), 72);
    CHECK(largest_difference(here.scores.values(), apart.scores.values()) > 0.1);
  });
}

TEST_CASE("an attention factor multiplies rotated scores by its square", "[rotary_scaling]") {
  const heads layout{.query = 3, .key_value = 3, .dim = 6};  // every dimension turns
  const auto call = call_at({40, 9}, {3, 77, 12});
  const attention_inputs<double> inputs(layout, call, 2, 73);
  const auto scores = [&](double factor) {
    const attention model{layout, scale::inverse_sqrt_head_dim{}, rotary(yarn(factor), {.pairs = pairing::adjacent}),
                          visible::everything{}};
    const auto all = attend(eager{}, model.compile<double>(call), inputs.view(), also::scores).scores;
    return std::vector<double>(all.values().begin(), all.values().end());
  };
  const auto plain = scores(1.0);
  const auto multiplied = scores(1.3);
  for (std::size_t n = 0; n < plain.size(); ++n) CHECK_THAT(multiplied[n], WithinAbs(1.69 * plain[n], 1e-13));
}

TEST_CASE("single precision rounds cosine times factor once", "[rotary_scaling]") {
  const rotary policy(yarn(), {.pairs = pairing::halves});
  std::vector<float> row{1.0f, 1.0f, 1.0f, 0.0f, 0.0f, 0.0f};
  policy.rotate(position{61}, std::span<float>(row));
  for (std::size_t pair = 0; pair < 3; ++pair) {
    const double angle = 61.0 * policy.speeds()[pair];
    CHECK(row[pair] == static_cast<float>(yarn().attention_factor() * std::cos(angle)));
    CHECK(row[pair + 3] == static_cast<float>(yarn().attention_factor() * std::sin(angle)));
  }
}

TEST_CASE("speeds made for a length refuse rows beyond it", "[rotary_scaling]") {
  const heads layout{.dim = 6};
  const auto refused = [&](const auto& rule, const position_call& call, index_t offset) {
    const rotary policy(rule, {.pairs = pairing::halves, .offset = offset});
    return refusal([&] { return policy.template compile<float>(call, layout); }).code();
  };
  const auto accepted = [&](const auto& rule, const position_call& call) {
    CHECK_NOTHROW(rotary(rule, {.pairs = pairing::halves}).template compile<float>(call, layout));
  };
  const auto each_declared = [&](index_t length, const auto& use) {
    use(dynamic_ntk(length));
    use(longrope(length));
  };
  each_declared(100, [&](const auto& rule) {
    accepted(rule, call_at({99}, {12, 99, 0}));
    accepted(rule, call_at({3}));  // an early chunk of a sequence that will have 100 rows
    CHECK(refused(rule, call_at({100}, {5}), 0) == errc::sequence_length);
    CHECK(refused(rule, call_at({5}, {7, 100}), 0) == errc::sequence_length);
    CHECK(refused(rule, call_at({99}), 1) == errc::sequence_length);
    CHECK(refused(rule, call::prefill_chunk(90, 11), 0) == errc::sequence_length);
    accepted(rule, call::prefill_chunk(90, 10));
  });
  each_declared(20, [&](const auto& rule) {  // the trained length is 64
    accepted(rule, call_at({63}));
    CHECK(refused(rule, call_at({64}), 0) == errc::sequence_length);
  });
  each_rule([&](const auto& rule) {
    if (!sequence_length_of(rule)) accepted(rule, call_at({index_t{1} << 40}));
  });
}

TEST_CASE("padding beyond the length is not counted", "[rotary_scaling]") {
  const heads layout{.dim = 6};
  const auto compile = [&](index_t rows, const std::vector<index_t>& active) {
    const auto call = call::padded_batch({.lengths = active,
                                          .rows = rows,
                                          .side = call::padding_side::right,
                                          .positions = call::padded_positions::contiguous()});
    return rotary(dynamic_ntk(100), {.pairs = pairing::halves}).compile<float>(call, layout);
  };
  CHECK_NOTHROW(compile(130, {100, 3}));
  CHECK_NOTHROW(compile(130, {0, 0}));
  CHECK(refusal([&] { return compile(130, {3, 101}); }).code() == errc::sequence_length);

  const std::vector<index_t> positions{99, 400, 7};
  const std::vector<std::uint8_t> active{1, 0, 1};
  const call::explicit_side side{.positions = positions, .active = active, .rows = 3};
  CHECK_NOTHROW(rotary(dynamic_ntk(100), {.pairs = pairing::halves})
                    .compile<float>(call::explicit_positions({.query = side, .key = side}), layout));
}

TEST_CASE("a declared length makes chunks agree with the whole, two tables do not", "[rotary_scaling]") {
  constexpr index_t rows = 90;
  const heads layout{.query = 2, .key_value = 1, .dim = 6};
  const auto whole = call::prefill_chunk(0, rows);
  const auto last = call::prefill_chunk(60, 30);
  const attention_inputs<double> inputs(layout, whole, 3, 74);
  const auto scores = [&](const auto& rule, const position_call& call, const heads_view<const double>& query) {
    const attention model{layout, scale::none{}, rotary(rule, {.pairs = pairing::adjacent}), visible::causal{}};
    return attend(eager{}, model.template compile<double>(call), {query, inputs.key.view(), inputs.value.view()},
                  also::scores)
        .scores;
  };
  const heads_view<const double> tail{
      inputs.query.view().row(0, 0, 60).data(), {1, 2, 30, 6}, inputs.query.view().strides()};
  const auto largest = [&](const auto& of_whole, const auto& of_chunk) {
    double most = 0.0;
    for (index_t h = 0; h < 2; ++h) {
      for (index_t i = 0; i < 30; ++i) {
        for (index_t j = 0; j <= 60 + i; ++j) {
          most = std::max(most, difference(of_whole(0, h, 60 + i, j), of_chunk(0, h, i, j)));
        }
      }
    }
    return most;
  };
  CHECK(largest(scores(longrope(rows), whole, inputs.query.view()), scores(longrope(rows), last, tail)) == 0.0);
  CHECK(largest(scores(dynamic_ntk(rows), whole, inputs.query.view()), scores(dynamic_ntk(rows), last, tail)) == 0.0);
  // a sequence declared longer is another function, even over the same rows
  CHECK(largest(scores(dynamic_ntk(rows), whole, inputs.query.view()), scores(dynamic_ntk(500), last, tail)) > 1e-2);
}

TEST_CASE("rotary refuses an attention factor that is no number", "[rotary_scaling]") {
  struct broken {
    [[nodiscard]] index_t pairs() const { return 2; }
    [[nodiscard]] double at(index_t) const { return 1.0; }
    [[nodiscard]] double attention_factor() const { return std::nan(""); }
  };
  CHECK(refusal([] { return rotary(broken{}, {.pairs = pairing::halves}); }).code() == errc::frequency_settings);
}

}  // namespace rotary_scaling_test
