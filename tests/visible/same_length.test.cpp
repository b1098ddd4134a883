// SPDX-License-Identifier: MIT
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/visible/same_length.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace same_length_test {

using namespace posgeo;
using namespace posgeo::test;

/// The released mask: triu(1 + mlen) + tril(-shift) over [qlen, mlen + qlen].
bool released_shows(index_t i, index_t j, index_t mem_len, index_t mlen, index_t qlen) {
  const index_t mask_len = mlen + qlen - mem_len;
  const index_t shift = mask_len > 0 ? qlen - mask_len : qlen;
  return !(j - i >= 1 + mlen || j - i <= -shift);
}

/// The other released mask: the upper triangle behind the memory, and the lower triangle of the first qlen columns.
bool tensorflow_shows(index_t i, index_t j, index_t mlen, index_t qlen) {
  const bool future = j - mlen > i;
  const bool too_old = j < qlen && j < i;
  return !future && !too_old;
}

constexpr auto pytorch = visible::same_length_rule::pytorch_release;
constexpr auto tensorflow = visible::same_length_rule::tensorflow_release;

TEST_CASE("same length is the TensorFlow mask for every stored memory", "[same_length]") {
  for (const index_t mlen : {1, 2, 5, 7}) {
    for (const index_t qlen : {1, 2, 3, 6}) {
      const auto call = call::prefill_chunk(mlen, qlen);
      const auto sees = visible::same_length(mlen, tensorflow).compile<float>(call, heads{});
      for (const query_index i : indices<query_index>(qlen)) {
        index_t seen = 0;
        for (const key_index j : indices<key_index>(mlen + qlen)) {
          CAPTURE(mlen, qlen, i.value(), j.value());
          REQUIRE(sees(batch_index{0}, i, j) == tensorflow_shows(i.value(), j.value(), mlen, qlen));
          seen += sees(batch_index{0}, i, j) ? 1 : 0;
        }
        CHECK(seen == mlen + 1);
      }
    }
  }
}

TEST_CASE("same length is the released mask for every length of memory and segment", "[same_length]") {
  for (const index_t mem_len : {1, 2, 5, 7}) {
    for (index_t mlen = 0; mlen <= mem_len; ++mlen) {
      for (const index_t qlen : {1, 2, 3, 6}) {
        const auto call = call::prefill_chunk(mlen, qlen);
        const auto sees = visible::same_length(mem_len, pytorch).compile<float>(call, heads{});
        for (const query_index i : indices<query_index>(qlen)) {
          for (const key_index j : indices<key_index>(mlen + qlen)) {
            CAPTURE(mem_len, mlen, qlen, i.value(), j.value());
            REQUIRE(sees(batch_index{0}, i, j) == released_shows(i.value(), j.value(), mem_len, mlen, qlen));
          }
        }
      }
    }
  }
}

TEST_CASE("with a full memory every query sees as many keys", "[same_length]") {
  const auto call = call::prefill_chunk(4, 3);
  const auto sees = visible::same_length(4, pytorch).compile<float>(call, heads{});
  for (const query_index i : indices<query_index>(3)) {
    index_t seen = 0;
    for (const key_index j : indices<key_index>(7)) seen += sees(batch_index{0}, i, j) ? 1 : 0;
    CHECK(seen == 4);
  }
  for (const auto rule : {pytorch, tensorflow}) {
    CHECK(refusal([&] { return visible::same_length(0, rule); }).code() == errc::window_bounds);
  }
}

}  // namespace same_length_test
