// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

#include <limits>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace pair_test {

using namespace posgeo;
using namespace posgeo::test;
using bias::pair;

static_assert(score_bias<pair<float>, double> && score_bias<pair<double>, float>);

constexpr heads layout{.query = 4, .key_value = 2, .dim = 3};
constexpr std::array<index_t, 4> full{2, 4, 3, 5};  // batch, query heads, queries, keys

position_call rectangle() {
  const std::vector<index_t> queries{0, 1, 2, 0, 1, 2};
  const std::vector<index_t> keys{0, 1, 2, 3, 4, 0, 1, 2, 3, 4};
  return call::explicit_positions(
      {.entries = 2, .query = {.positions = queries, .rows = 3}, .key = {.positions = keys, .rows = 5}});
}

TEST_CASE("a pair bias is read where it has an axis and repeated where it has none", "[pair]") {
  const auto call = rectangle();
  for (unsigned broadcast = 0; broadcast < 16; ++broadcast) {
    CAPTURE(broadcast);
    std::array<index_t, 4> extents = full;
    for (unsigned axis = 0; axis < 4; ++axis) {
      if ((broadcast >> axis & 1) != 0) extents[axis] = 1;
    }
    const auto values = random_tensor<float, 4>(extents, 121);
    const auto term = pair<float>(values.view()).compile<double>(call, layout);
    for (index_t b = 0; b < full[0]; ++b) {
      for (index_t h = 0; h < full[1]; ++h) {
        for (index_t i = 0; i < full[2]; ++i) {
          for (index_t j = 0; j < full[3]; ++j) {
            const float expected =
                values(b % extents[0], h % extents[1], i % extents[2], j % extents[3]);  // x % 1 is 0
            REQUIRE(term(batch_index{b}, head_index{h}, query_index{i}, key_index{j}) == static_cast<double>(expected));
          }
        }
      }
    }
  }
}

TEST_CASE("a pair bias may have strides", "[pair]") {
  const auto values = random_tensor<double, 4>({3, 4, 2, 5}, 122);  // [queries, heads, batch, keys]
  const tensor_view<const double, 4> view(values.values().data(), full, {5, 10, 40});
  const auto term = pair<double>(view).compile<double>(rectangle(), layout);
  CHECK(term(batch_index{1}, head_index{2}, query_index{0}, key_index{4}) == values(0, 2, 1, 4));
  CHECK(term(batch_index{0}, head_index{3}, query_index{2}, key_index{1}) == values(2, 3, 0, 1));
}

TEST_CASE("minus infinity removes exactly its key", "[pair]") {
  constexpr double removed = -std::numeric_limits<double>::infinity();
  const auto call = rectangle();
  attention_inputs<double> in(layout, call, 2, 123);
  for (double& x : in.value.view().row(0, 0, 3)) x = std::nan("");
  tensor<double, 4> values({1, 1, 3, 5});
  for (index_t i = 0; i < 3; ++i) values(0, 0, i, 3) = removed;
  values(0, 0, 1, 0) = removed;
  for (index_t j = 0; j < 5; ++j) values(0, 0, 2, j) = removed;
  const attention model{layout, scale::none{}, visible::everything{}, pair<double>(values.view())};
  const auto out = attend(eager{}, model.compile<double>(call), in.view(), also::everything);
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 5; ++j) {
      const bool gone = values(0, 0, i, j) == removed;
      CHECK((out.scores(0, 1, i, j) == removed) == gone);
      CHECK((out.probabilities(0, 1, i, j) == 0.0) == gone);
    }
    for (index_t d = 0; d < 2; ++d) CHECK(std::isfinite(out.output(0, 1, i, d)));
  }
  CHECK(out.log_sum_exp(0, 0, 2) == removed);
  CHECK(out.output(0, 0, 2, 0) == 0.0);
}

TEST_CASE("a pair bias refuses other extents and NaN and plus infinity", "[pair]") {
  const auto check = [](const tensor<float, 4>& values) {
    violations found;
    pair<float>(values.view()).check(rectangle(), layout, found);
    return codes(found);
  };
  for (std::size_t axis = 0; axis < 4; ++axis) {
    for (const index_t by : {-1, 1}) {
      std::array<index_t, 4> extents = full;
      extents[axis] += by;
      if (extents[axis] == 1) continue;
      CHECK(check(tensor<float, 4>(extents)) == std::vector{errc::shape_mismatch});
    }
  }
  CHECK(check(tensor<float, 4>({2, 2, 3, 3})).size() == 2);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    tensor<float, 4> values({1, 4, 1, 5});
    values(0, 3, 0, 4) = bad;
    CHECK(check(values) == std::vector{errc::non_finite});
    CHECK(refusal([&] { return pair<float>(values.view()).compile<float>(rectangle(), layout); }).code() ==
          errc::non_finite);
  }
}

}  // namespace pair_test
