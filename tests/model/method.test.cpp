// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/core/named.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"
#include "support/toy_policies.hpp"

namespace method_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr heads layout{.query = 2, .key_value = 1, .dim = 4};

bias::alibi slopes() { return {bias::alibi_slopes::custom({0.5, 0.125}), bias::alibi_direction::causal}; }
/// The table and columns that every head reads.
bias::t5<double> learned(unsigned seed) {
  return {
      random_table(8, 2, seed),
      coordinate::t5_bucket({.num_buckets = 8, .max_distance = 20, .direction = coordinate::bucket_direction::causal})};
}
constexpr auto sees_even = [](const position_call& call, batch_index b, query_index i, key_index j) {
  return call.offset(b, i, j).value() <= 0 && call.offset(b, i, j).value() % 2 == 0;
};

std::vector<std::string> names_in(const std::vector<description>& all) {
  std::vector<std::string> names;
  for (const description& one : all) names.push_back(one.name());
  return names;
}
std::vector<std::string> families_in(const std::vector<description>& all) {
  std::vector<std::string> names;
  for (const description& one : all) {
    REQUIRE(!one.fields().empty());
    REQUIRE(one.fields().front().name == "family");
    names.push_back(std::get<std::string>(one.fields().front().what));
  }
  return names;
}

/// A bias whose own description claims the attention's field.
struct claims_a_family {
  using family = posgeo::family::score_bias;
  [[nodiscard]] description describe() const { return description("toy").with("family", "score_bias"); }
  template <class T>
  struct term {
    T operator()(batch_index, head_index, query_index, key_index) const noexcept { return T{0}; }
  };
  template <class T>
  [[nodiscard]] term<T> compile(const position_call&, const heads&) const {
    return {};
  }
};

TEST_CASE("an attention describes each policy in its order with the tag of its family", "[method]") {
  const coordinate::clipped classes = coordinate::clipped::symmetric(2);
  const auto rows = head_tables<double>::shared(random_table(5, 4, 4471));
  const attention model{layout,
                        visible::causal{},
                        slopes(),
                        content::shaw_key<double>(rows, classes),
                        scale::softcap({.cap = 30.0, .place = scale::softcap_place::after_bias}),
                        scale::sink({0.25, -1.0}),
                        scale::inverse_sqrt_head_dim{},
                        value::shaw_value<double>(rows, classes),
                        named("even keys", visible::custom(sees_even))};
  const auto all = model.describe();
  CHECK(names_in(all) == std::vector<std::string>{"causal", "alibi", "shaw_key", "softcap", "sink",
                                                  "inverse_sqrt_head_dim", "shaw_value", "custom"});
  CHECK(families_in(all) == std::vector<std::string>{"visibility", "score_bias", "content_term", "softcap",
                                                     "softmax_sink", "score_scale", "value_term", "visibility"});
}

TEST_CASE("what follows the family is the policy's own description", "[method]") {
  const attention model{layout, scale::none{}, visible::causal{}, learned(4472)};
  const auto own = learned(4472).describe();
  const auto whole = model.describe()[2];
  REQUIRE(whole.fields().size() == own.fields().size() + 1);
  for (std::size_t n = 0; n < own.fields().size(); ++n) CHECK(whole.fields()[n + 1] == own.fields()[n]);
  CHECK(whole.name() == own.name());
}

TEST_CASE("the order, the parameters and the presence of policies count, the head layout does not", "[method]") {
  const auto base = attention(layout, scale::none{}, visible::causal{}, slopes()).describe();
  CHECK(base == attention(layout, scale::none{}, visible::causal{}, slopes()).describe());
  CHECK(base ==
        attention({.query = 2, .key_value = 2, .dim = 6}, scale::none{}, visible::causal{}, slopes()).describe());
  CHECK_FALSE(base == attention(layout, visible::causal{}, scale::none{}, slopes()).describe());
  CHECK_FALSE(base == attention(layout, scale::none{}, visible::causal{}).describe());
  CHECK_FALSE(base == attention(layout, scale::none{}, visible::causal{}, slopes(), slopes()).describe());
  CHECK_FALSE(attention(layout, scale::none{}, visible::causal{}, learned(4473)).describe() ==
              attention(layout, scale::none{}, visible::causal{}, learned(4474)).describe());
}

TEST_CASE("every plan of an attention shares its method", "[method]") {
  const attention model{layout, scale::none{}, visible::causal{}, learned(4475)};
  const auto first = model.compile<float>(call::prefill_chunk(3, 5));
  const auto copy = model;
  const auto second = copy.compile<double>(call::prefill_chunk(8, 1));
  CHECK(first.method() == model.describe());
  CHECK(&first.method() == &second.method());  // made once
  const auto copied_plan = first;
  CHECK(&copied_plan.method() == &first.method());
}

TEST_CASE("a plan's method shares the tables of its policies", "[method]") {
  const auto numbers = random_table(8, 2, 4476);
  const attention model{layout, scale::none{}, visible::causal{}, bias::t5<double>(numbers, learned(4476).bucket())};
  const auto plan = model.compile<double>(call::prefill_chunk(2, 3));
  const auto* const described = std::get_if<described_table>(plan.method()[2].find("table"));
  REQUIRE(described != nullptr);
  CHECK(std::get<table<double>>(described->values()).values().data() == numbers.values().data());
}

TEST_CASE("a method outlives its attention", "[method]") {
  const auto plan = [] {
    const attention model{layout, scale::none{}, visible::causal{}, learned(4477)};
    return model.compile<double>(call::prefill_chunk(0, 3));
  }();
  CHECK(plan.method() == attention(layout, scale::none{}, visible::causal{}, learned(4477)).describe());
}

TEST_CASE("a policy that cannot say what it is is refused by the name of its family", "[method]") {
  const tensor<double, 4> numbers({1, 1, 1, 5});
  const attention hidden{layout, scale::none{}, visible::custom(sees_even)};
  const attention added{layout, scale::none{}, visible::everything{}, bias::pair<double>(numbers.view())};
  const attention foreign{layout, scale::none{}, visible::everything{}, toy_content{}, toy_transform{}};
  const auto refused = [](const auto& model) {
    const auto described = refusal([&] { return model.describe(); });
    const auto plan = model.template compile<double>(call::prefill_chunk(2, 3));
    const auto asked = refusal([&] { return plan.method(); });
    CHECK(described.code() == errc::description);
    CHECK(std::string(described.what()) == asked.what());
    CHECK(asked.code() == errc::description);
    return std::string(asked.what());
  };
  CHECK(refused(hidden).find("description of its visibility policy") != std::string::npos);
  CHECK(refused(added).find("description of its score_bias policy") != std::string::npos);
  CHECK(refused(foreign).find("description of its content_term policy") != std::string::npos);  // the first of them
}

TEST_CASE("everything else of a plan without a method works", "[method]") {
  const auto numbers = random_tensor<double, 4>({1, 2, 3, 5}, 4478);
  const attention model{layout, scale::none{}, visible::custom(sees_even), bias::pair<double>(numbers.view())};
  const attention told{layout, scale::none{}, named("even keys", visible::custom(sees_even)),
                       named("numbers", bias::pair<double>(numbers.view()))};
  const auto plan = model.compile<double>(call::prefill_chunk(2, 3));
  const auto described = told.compile<double>(call::prefill_chunk(2, 3));
  CHECK(names_in(described.method()) == std::vector<std::string>{"none", "custom", "pair"});
  for (const head_index h : indices<head_index>(2)) {
    for (const query_index i : indices<query_index>(3)) {
      CHECK(plan.keys(batch_index{0}, i) == described.keys(batch_index{0}, i));
      for (const key_index j : indices<key_index>(5)) {
        CHECK(plan.bias(batch_index{0}, h, i, j) == numbers(0, h.value(), i.value(), j.value()));
        CHECK(described.bias(batch_index{0}, h, i, j) == numbers(0, h.value(), i.value(), j.value()));
        CHECK(plan.visible(batch_index{0}, i, j) == sees_even(plan.call(), batch_index{0}, i, j));
        CHECK(described.visible(batch_index{0}, i, j) == plan.visible(batch_index{0}, i, j));
      }
    }
  }
}

TEST_CASE("an attention refuses a policy that describes its own family", "[method]") {
  const auto refused =
      refusal([] { return attention(layout, scale::none{}, visible::everything{}, claims_a_family{}); });
  CHECK(refused.code() == errc::description);
  CHECK(std::string(refused.what()) == "toy, name of a field: expected one that is not there yet, got family");
}

}  // namespace method_test
