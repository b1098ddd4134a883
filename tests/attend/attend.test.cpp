// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/causal.hpp>

#include <string>

#include "support/attention_inputs.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"

namespace attend_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr heads layout{.query = 4, .key_value = 2, .dim = 3};
const position_call the_call = call::prefill_chunk(2, 3);
const auto the_plan = attention{layout, scale::none{}, visible::causal{}}.compile<float>(the_call);
constexpr float sentinel = -77.5f;

using shape4 = std::array<index_t, 4>;
using shape3 = std::array<index_t, 3>;

/// The extents of everything that attend is given; those of the fields' defaults fit.
struct extents {
  shape4 query{1, 4, 3, 3};
  shape4 key{1, 2, 5, 3};
  shape4 value{1, 2, 5, 6};
  shape4 output{1, 4, 3, 6};
  shape3 log_sum_exp{1, 4, 3};
  shape4 scores{1, 4, 3, 5};
  shape4 probabilities{1, 4, 3, 5};
};

template <std::size_t Rank>
tensor<float, Rank> untouched(const std::array<index_t, Rank>& shape) {
  tensor<float, Rank> out(shape);
  for (float& x : out.values()) x = sentinel;
  return out;
}

/// Runs attend with tensors of these extents; checks that a refusal writes nothing and returns its message.
std::string refused(const extents& e) {
  const auto query = random_tensor<float, 4>(e.query, 151);
  const auto key = random_tensor<float, 4>(e.key, 152);
  const auto value = random_tensor<float, 4>(e.value, 153);
  auto output = untouched(e.output);
  auto log_sum_exp = untouched(e.log_sum_exp);
  auto scores = untouched(e.scores);
  auto probabilities = untouched(e.probabilities);
  const error thrown = refusal([&] {
    attend(eager{}, the_plan, {query.view(), key.view(), value.view()},
           {output.view(), log_sum_exp.view(), scores.view(), probabilities.view()});
  });
  CHECK(thrown.code() == errc::shape_mismatch);
  CHECK(all_equal(output.values(), sentinel));
  CHECK(all_equal(log_sum_exp.values(), sentinel));
  CHECK(all_equal(scores.values(), sentinel));
  CHECK(all_equal(probabilities.values(), sentinel));
  return thrown.what();
}

TEST_CASE("every axis of every tensor is held against the plan", "[attend]") {
  const auto expect = [](auto extents::*field, std::size_t axis, const std::string& object) {
    for (const index_t by : {-1, 1}) {
      extents spoiled;
      (spoiled.*field)[axis] += by;
      CAPTURE(object, axis, by);
      CHECK(refused(spoiled).rfind(object, 0) == 0);
    }
  };
  for (const std::size_t axis : {0u, 1u, 2u, 3u}) {
    expect(&extents::query, axis, "query, ");
    expect(&extents::key, axis, "key, ");
    if (axis < 3) expect(&extents::value, axis, "value, ");
    expect(&extents::output, axis, "output, ");
    if (axis < 3) expect(&extents::log_sum_exp, axis, "log_sum_exp, ");
    expect(&extents::scores, axis, "scores, ");
    expect(&extents::probabilities, axis, "probabilities, ");
  }
  extents wide;
  wide.value[3] = 7;  // a value may have any width, and the output follows it
  CHECK(refused(wide).rfind("output, head_dim: expected 7, got 6", 0) == 0);
}

TEST_CASE("what an attend call writes shares no memory with anything else", "[attend]") {
  // six parts of one buffer, each large enough for any tensor of the call
  constexpr index_t part = 80;
  std::vector<float> memory(7 * part, sentinel);
  const auto fits = [&](std::array<index_t, 7> at) {
    const auto in = [&](std::size_t n, const shape4& shape) {
      return heads_view<const float>(memory.data() + at[n], shape);
    };
    const auto out = [&](std::size_t n, const shape4& shape) {
      return heads_view<float>(memory.data() + at[n], shape);
    };
    const extents e;
    const tensor_view<float, 3> log_sum_exp(memory.data() + at[4], e.log_sum_exp);
    try {
      attend(eager{}, the_plan, {in(0, e.query), in(1, e.key), in(2, e.value)},
             {out(3, e.output), log_sum_exp, out(5, e.scores), out(6, e.probabilities)});
      return true;
    } catch (const error& thrown) {
      CHECK(thrown.code() == errc::memory_overlap);
      CHECK(all_equal(memory, sentinel));
      return false;
    }
  };
  std::array<index_t, 7> apart{};
  for (std::size_t n = 0; n < 7; ++n) apart[n] = static_cast<index_t>(n) * part;
  for (std::size_t written = 3; written < 7; ++written) {
    for (std::size_t other = 0; other < 7; ++other) {
      if (other == written) continue;
      CAPTURE(written, other);
      auto shared = apart;
      shared[written] = shared[other];
      CHECK_FALSE(fits(shared));
    }
  }
  auto last_element = apart;
  last_element[3] = last_element[2] + 2 * 5 * 6 - 1;
  CHECK_FALSE(fits(last_element));
  auto same_input = apart;
  same_input[1] = same_input[0];
  CHECK(fits(same_input));
}

TEST_CASE("attend owns what was asked for and nothing else", "[attend]") {
  const attention_inputs<float> in(layout, the_call, 6, 154);
  const auto all = attend(eager{}, the_plan, in.view(), also::everything);
  const auto some = attend(eager{}, the_plan, in.view(), also::log_sum_exp | also::probabilities);
  const auto none = attend(eager{}, the_plan, in.view());
  CHECK(none.log_sum_exp.values().empty());
  CHECK(none.scores.values().empty());
  CHECK(none.probabilities.values().empty());
  CHECK(some.scores.values().empty());
  CHECK(largest_difference(some.log_sum_exp.values(), all.log_sum_exp.values()) == 0.0);
  CHECK(largest_difference(some.probabilities.values(), all.probabilities.values()) == 0.0);
  CHECK(largest_difference(some.output.values(), all.output.values()) == 0.0);
  CHECK(largest_difference(none.output.values(), all.output.values()) == 0.0);
}

TEST_CASE("an output may share memory neither with a bias nor with itself", "[attend]") {
  const auto call = call::prefill_chunk(0, 2);
  float pairs[4] = {};
  const float zeros[4] = {};
  const attention model{heads{.query = 2, .key_value = 1, .dim = 1}, scale::none{}, visible::causal{},
                        bias::pair(tensor_view<const float, 4>(pairs, {1, 1, 2, 2}))};
  const auto plan = model.compile(call);
  const qkv<float> in{heads_first(zeros, 1, 2, 2, 1), heads_first(zeros, 1, 1, 2, 1), heads_first(zeros, 1, 1, 2, 1)};
  CHECK(refusal([&] { attend(eager{}, plan, in, {heads_first(pairs, 1, 2, 2, 1)}); }).code() == errc::memory_overlap);
  float out[4] = {sentinel, sentinel, sentinel, sentinel};
  const heads_view<float> folded(out, {1, 2, 2, 1}, {4, 1, 1});
  CHECK(refusal([&] { attend(eager{}, plan, in, {folded}); }).code() == errc::memory_overlap);
  CHECK(out[1] == sentinel);
  CHECK_NOTHROW(attend(eager{}, plan, in, {heads_first(out, 1, 2, 2, 1)}));
}

}  // namespace attend_test
