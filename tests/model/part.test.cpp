// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace part_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr heads layout{.query = 4, .key_value = 2, .dim = 3};
const head_slice slice(layout, {2, 3});

template <class Policy>
auto model_of(const Policy& policy) {
  return attention(layout, scale::none{}, visible::everything{}, policy);
}
std::string refused(const auto& action) {
  const error thrown = refusal(action);
  CHECK(thrown.code() == errc::head_partition);
  return thrown.what();
}
bias::alibi slopes(index_t count) { return {bias::alibi_slopes::reference(count), bias::alibi_direction::symmetric}; }

TEST_CASE("a part has the layout of its heads and knows which they are", "[part]") {
  const auto whole = model_of(slopes(4));
  CHECK_FALSE(whole.slice());
  const auto part = whole.part(slice);
  CHECK((part.layout().query == 2 && part.layout().key_value == 1 && part.layout().dim == 3));
  REQUIRE(part.slice());
  CHECK(*part.slice() == slice);
}

TEST_CASE("the slopes of a part keep the name of their rule", "[part]") {
  const auto all = bias::alibi_slopes::reference(4);
  const auto part = all.part(slice);
  CHECK(part.generator() == all.generator());
  REQUIRE(part.size() == 2);
  CHECK((part[head_index{0}] == all[head_index{2}] && part[head_index{1}] == all[head_index{3}]));
}

TEST_CASE("a part of another layout, or of a part, is refused", "[part]") {
  const auto whole = model_of(slopes(4));
  for (const heads& other : {heads{.query = 8, .key_value = 2, .dim = 3}, heads{.query = 4, .key_value = 4, .dim = 3},
                             heads{.query = 4, .key_value = 2, .dim = 5}}) {
    CHECK(refused([&] { (void)whole.part(head_slice(other, {0})); }) ==
          fmt::format("attention, whole of the slice: expected 4 query heads, 2 key heads, head_dim 3, got {} query "
                      "heads, {} key heads, head_dim {}",
                      other.query, other.key_value, other.dim));
  }
  const auto part = whole.part(slice);
  CHECK(refused([&] {
          (void)part.part(head_slice(part.layout(), {0, 1}));
        }) == "attention, heads to take a part of: expected those of the whole, got those of a part");
}

TEST_CASE("a policy of another number of heads is not cut", "[part]") {
  CHECK(refused([] { (void)model_of(slopes(8)).part(slice); }) ==
        "alibi slopes, query heads: expected 4 of the whole, got 8");
  const coordinate::t5_bucket buckets(
      {.num_buckets = 8, .max_distance = 10, .direction = coordinate::bucket_direction::bidirectional});
  CHECK(refused([&] { (void)model_of(bias::t5<double>(random_table(8, 3, 1), buckets)).part(slice); }) ==
        "t5 bias, query heads: expected 4 of the whole, got 3");
  const content::transformer_xl<double> relative(
      {.content = random_table(4, 3, 2), .position = random_table(4, 3, 3)},
      {random_table(13, 4, 4),
       {.reach = content::distance_reach::back_only, .clamp = content::clamp_len::unlimited()}});
  CHECK(refused([&] { (void)model_of(relative).part(slice); }) ==
        "position projection, rows: expected whole heads of 3, got 13");
}

TEST_CASE("a dense bias is cut where a view of the same memory has the heads", "[part]") {
  const heads seven{.query = 7, .key_value = 7, .dim = 3};
  const auto memory = random_tensor<float, 4>({1, 7, 2, 5}, 5);
  const bias::pair whole(memory.view());
  const auto cut = [&](std::vector<index_t> query_heads) {
    return whole.part(head_slice(seven, std::move(query_heads)));
  };
  CHECK(refused([&] {
          (void)cut({0, 2, 5});
        }) == "pair bias, local head 2: expected head 4, 2 from the one before it, as a view has, got 5");
  CHECK(refused([&] {
          (void)cut({4, 3, 5});
        }) == "pair bias, local head 2: expected head 2, -1 from the one before it, as a view has, got 5");
  const auto other = random_tensor<float, 4>({1, 6, 2, 5}, 6);
  CHECK(refused([&] {
          (void)bias::pair(other.view()).part(head_slice(seven, {0, 2, 4}));
        }) == "pair bias, query heads: expected 7 of the whole, got 6");
  const auto empty = random_tensor<float, 4>({1, 7, 0, 5}, 7);
  CHECK_NOTHROW(bias::pair(empty.view()).part(head_slice(seven, {6, 3, 0})));
}

/// A scale that counts heads: a part would have another.
struct counts_heads {
  using family = posgeo::family::score_scale;
  [[nodiscard]] double factor(const heads& of, index_t) const noexcept { return 1.0 / static_cast<double>(of.query); }
};

TEST_CASE("a score scale that counts heads has no part", "[part]") {
  const attention whole(layout, counts_heads{}, visible::everything{}, slopes(4));
  CHECK(refused([&] { (void)whole.part(slice); }) == "attention, score scale of the part: expected 0.25, got 0.5");
}

}  // namespace part_test
