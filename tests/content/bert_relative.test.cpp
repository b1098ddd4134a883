// SPDX-License-Identifier: MIT
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/active.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include "support/score_error.hpp"
#include "support/uneven_call.hpp"

namespace bert_relative_test {

using namespace posgeo;
using namespace posgeo::test;

static_assert(content_term<content::relative_key_query<float>, double>);

constexpr heads two{.query = 2, .key_value = 2, .dim = 3};
constexpr index_t P = 8;  // the furthest distance in uneven_call is 7

table<double> embedding(index_t rows = 2 * P - 1) { return random_table(rows, 3, 91); }

template <class Policy, class Extra>
double error_of(const Policy& policy, const Extra& extra) {
  const auto call = uneven_call();
  const attention_inputs<double> in(two, call, 4, 92);
  const attention model{two, scale::inverse_sqrt_head_dim{}, visible::active{}, policy};
  return score_error(model, call, in, 1.0 / std::sqrt(3.0),
                     [&](batch_index b, head_index, query_index i, key_index j, auto q, auto k) {
                       return extra(call.at(b, i).value() - call.at(b, j).value(), q, k);
                     });
}

TEST_CASE("relative key counts query minus key from the middle of 2P - 1 rows", "[bert_relative]") {
  const auto rows = embedding();
  CHECK(error_of(content::relative_key(rows, P),
                 [&](index_t distance, auto q, auto) { return dot(q, rows.row(distance + P - 1)); }) < 1e-13);
}

TEST_CASE("relative key query adds the same row times the key", "[bert_relative]") {
  const auto rows = embedding();
  CHECK(error_of(content::relative_key_query(rows, P), [&](index_t distance, auto q, auto k) {
          return dot(q, rows.row(distance + P - 1)) + dot(k, rows.row(distance + P - 1));
        }) < 1e-13);
}

TEST_CASE("a distance of P or more is refused and not clipped", "[bert_relative]") {
  const auto refused = [](const auto& policy, index_t query, index_t key) {
    return refusal([&] { return policy.template compile<double>(call_at({query}, {key}), two); }).code();
  };
  const auto key_only = content::relative_key(embedding(), P);
  const content::relative_key_query both(embedding(), P);
  CHECK_NOTHROW(key_only.compile<double>(call_at({P - 1, 0}, {0, P - 1}), two));
  for (const auto& [query, key] : {std::pair<index_t, index_t>{P, 0}, {0, P}}) {
    CHECK(refused(key_only, query, key) == errc::offset_out_of_table);
    CHECK(refused(both, query, key) == errc::offset_out_of_table);
  }
}

TEST_CASE("relative keys refuse a table of other rows", "[bert_relative]") {
  CHECK(refusal([] { return content::relative_key(embedding(2 * P), P); }).code() == errc::table_rows);
  CHECK(refusal([] { return content::relative_key_query(embedding(2 * P), P); }).code() == errc::table_rows);
  const auto none = refusal([] { return content::relative_key(embedding(), 0); });
  CHECK(none.code() == errc::bucket_settings);
  CHECK(none.what() == std::string("relative key, max_position_embeddings: expected from 1 to 2^31, got 0"));
}

}  // namespace bert_relative_test
