// SPDX-License-Identifier: MIT
#include "agreement/families.hpp"

namespace agreement_contents_test {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("agreement of the key vectors of shaw", "[agreement]") {
  const auto family = [](const scene& where) {
    const auto shaw = shaw_key_of(where);
    return family_member{model_of(where, shaw), {.of_query = longest_of(shaw)}};
  };
  expect_agreement<float, double>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of the key and value vectors of shaw", "[agreement]") {
  const auto family = [](const scene& where) {
    const auto keys = shaw_key_of(where);
    const auto values = shaw_value_of(where);
    return family_member{model_of(where, keys, values), {.of_query = longest_of(keys), .of_value = largest_of(values)}};
  };
  expect_agreement<float, double>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of the value vectors of shaw", "[agreement]") {
  const auto family = [](const scene& where) {
    const auto values = shaw_value_of(where);
    return family_member{model_of(where, values), {.of_value = largest_of(values)}};
  };
  expect_agreement<float>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of one table for query and key", "[agreement]") {
  const auto family = [](const scene& where) {
    const index_t embeddings = farthest(where) + 1;
    const auto rows = numbers(2 * embeddings - 1, where.layout.dim, 61);
    const double size = longest(rows.values(), where.layout.dim);
    return family_member{model_of(where, content::relative_key_query<float>(rows, embeddings)),
                         {.of_query = size, .of_key = size}};
  };
  expect_agreement<float>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of transformer-xl", "[agreement]") {
  const auto family = [](const scene& where) {
    const auto parts = transformer_xl_of(where);
    return family_member{model_of(where, parts.policy), parts.sizes};
  };
  expect_agreement<float, double>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of deberta", "[agreement]") {
  const auto family = [](const scene& where) {
    const auto parts = deberta_of(where);
    return family_member{model_of(where, parts.policy), parts.sizes};
  };
  expect_agreement<float, double>(small_scenes(), family, 22);
  expect_agreement<float>(long_scenes(), family, 5);
}

TEST_CASE("agreement of tupe", "[agreement]") {
  const auto family = [](const scene& where) {
    const auto cls = where.number % 2 == 0 ? content::tupe_cls::untouched() : content::tupe_cls::released(position{0});
    const auto parts = tupe_of(where, cls);
    return family_member{model_of(where, parts.policy), parts.sizes};
  };
  expect_agreement<float, double>(small_scenes(), family, 21);  // not far from zero, where no row is
  expect_agreement<float>(long_scenes(), family, 5);
}

}  // namespace agreement_contents_test
