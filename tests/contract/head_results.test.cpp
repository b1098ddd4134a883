// SPDX-License-Identifier: MIT
#include <posgeo/contract/head_results.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace head_results_test {

using namespace posgeo;
using contract::head_partition;
using contract::key_head_rule;
using contract::part_result;
using posgeo::test::random_tensor;
using posgeo::test::refusal;

constexpr heads whole{.query = 4, .key_value = 2, .dim = 3};
const head_partition parts(whole, {{2, 0}, {3, 1}}, key_head_rule::replicated);

TEST_CASE("the heads of a part are cut in its order", "[head_results]") {
  const auto queries = random_tensor<float, 4>({2, 4, 5, 3}, 1);
  const auto keys = random_tensor<double, 4>({2, 2, 7, 3}, 2);
  const auto query = contract::query_heads_of(queries.view(), parts.part(0));
  const auto key = contract::key_heads_of(keys.view(), parts.part(0));
  REQUIRE(
      (query.extents() == std::array<index_t, 4>{2, 2, 5, 3} && key.extents() == std::array<index_t, 4>{2, 2, 7, 3}));
  for (index_t b = 0; b < 2; ++b) {
    for (index_t d = 0; d < 3; ++d) {
      CHECK(query(b, 0, 4, d) == queries(b, 2, 4, d));
      CHECK(query(b, 1, 3, d) == queries(b, 0, 3, d));
      CHECK(key(b, 0, 6, d) == keys(b, 1, 6, d));
      CHECK(key(b, 1, 2, d) == keys(b, 0, 2, d));
    }
  }
}

TEST_CASE("cutting other heads than the whole's is refused", "[head_results]") {
  const auto queries = random_tensor<double, 4>({2, 4, 5, 3}, 3);
  const error thrown = refusal([&] { (void)contract::key_heads_of(queries.view(), parts.part(0)); });
  CHECK(thrown.code() == errc::head_partition);
  CHECK(std::string(thrown.what()) == "keys or values, heads: expected 2 of the whole, got 4");
  const auto keys = random_tensor<double, 4>({2, 2, 5, 3}, 3);
  CHECK(refusal([&] { (void)contract::query_heads_of(keys.view(), parts.part(0)); }).code() == errc::head_partition);
}

/// Results of two parts, made up.
struct results {
  std::array<tensor<double, 4>, 2> output = {random_tensor<double, 4>({2, 2, 5, 6}, 11),
                                             random_tensor<double, 4>({2, 2, 5, 6}, 12)};
  std::array<tensor<double, 3>, 2> log_sum_exp = {random_tensor<double, 3>({2, 2, 5}, 13),
                                                  random_tensor<double, 3>({2, 2, 5}, 14)};
  std::vector<head_slice> heads = parts.parts();

  [[nodiscard]] attention_result<double> joined() const {
    std::vector<part_result<double>> all;
    for (std::size_t p = 0; p < heads.size(); ++p) all.push_back({heads[p], output[p].view(), log_sum_exp[p].view()});
    return contract::joined<double>(parts, all);
  }
};

TEST_CASE("joined parts stand at their global heads", "[head_results]") {
  const results made;
  const auto all = made.joined();
  REQUIRE(all.output.extents() == std::array<index_t, 4>{2, 4, 5, 6});
  for (index_t p = 0; p < 2; ++p) {
    for (index_t n = 0; n < 2; ++n) {
      const index_t head = parts.part(p).global(head_index{n});
      const auto at = static_cast<std::size_t>(p);
      for (index_t row = 0; row < 5; ++row) {
        CHECK(all.log_sum_exp(1, head, row) == made.log_sum_exp[at](1, n, row));
        for (index_t d = 0; d < 6; ++d) CHECK(all.output(1, head, row, d) == made.output[at](1, n, row, d));
      }
    }
  }
}

TEST_CASE("parts that were computed for other heads are refused", "[head_results]") {
  const auto refused = [](const auto& change) {
    results made;
    change(made);
    const error thrown = refusal([&] { (void)made.joined(); });
    CHECK(thrown.code() == errc::head_partition);
    return std::string(thrown.what());
  };
  CHECK(refused([](results& r) { std::swap(r.heads[0], r.heads[1]); }) ==
        "part 0, global head of local head 0: expected 2, got 3");
  CHECK(refused([](results& r) {
          r.heads[1] = head_slice(whole, {1, 3});
        }) == "part 1, global head of local head 0: expected 3, got 1");
  CHECK(refused([](results& r) { r.heads.pop_back(); }) == "joined parts, parts: expected 2, got 1");
  CHECK(refused([](results& r) { r.heads.clear(); }) == "joined parts, parts: expected 2, got 0");
}

TEST_CASE("parts of two calls are refused", "[head_results]") {
  const auto refused = [](const std::array<index_t, 4>& output, const std::array<index_t, 3>& log_sum_exp) {
    results made;
    made.output[1] = random_tensor<double, 4>(output, 21);
    made.log_sum_exp[1] = random_tensor<double, 3>(log_sum_exp, 22);
    const error thrown = refusal([&] { (void)made.joined(); });
    CHECK(thrown.code() == errc::shape_mismatch);
    return std::string(thrown.what());
  };
  CHECK(refused({3, 2, 5, 6}, {2, 2, 5}) == "joined parts, batch of part 1: expected 2, got 3");
  CHECK(refused({2, 3, 5, 6}, {2, 2, 5}) == "joined parts, heads of part 1: expected 2, got 3");
  CHECK(refused({2, 2, 4, 6}, {2, 2, 5}) == "joined parts, rows of part 1: expected 5, got 4");
  CHECK(refused({2, 2, 5, 7}, {2, 2, 5}) == "joined parts, value dim of part 1: expected 6, got 7");
  CHECK(refused({2, 2, 5, 6}, {1, 2, 5}) == "joined parts, batch of the log_sum_exp of part 1: expected 2, got 1");
  CHECK(refused({2, 2, 5, 6}, {2, 1, 5}) == "joined parts, heads of the log_sum_exp of part 1: expected 2, got 1");
  CHECK(refused({2, 2, 5, 6}, {2, 2, 6}) == "joined parts, rows of the log_sum_exp of part 1: expected 5, got 6");
}

}  // namespace head_results_test
