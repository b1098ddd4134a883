// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::active;
using posgeo::test::numbers;
using posgeo::test::positions;
using posgeo::test::refusal;
using posgeo::test::sequences;

TEST_CASE("cross-attention counts target and source in frames of their own", "[cross_attention]") {
  const numbers targets{2, 3};
  const numbers sources{5, 1};
  const position_call call = call::cross_attention({.target_lengths = targets,
                                                    .source_lengths = sources,
                                                    .target_rows = 3,
                                                    .source_rows = 5,
                                                    .first_target_position = 7});
  CHECK(call.kind() == call_kind::cross_attention);
  CHECK(call.batch() == 2);
  CHECK(call.queries() == 3);
  CHECK(call.keys() == 5);
  for (index_t b = 0; b < 2; ++b) {
    CHECK(positions<query_index>(call, b) == numbers{7, 8, 9});
    CHECK(positions<key_index>(call, b) == numbers{0, 1, 2, 3, 4});
    CHECK(sequences<query_index>(call, b) == numbers(3, b));
    CHECK(sequences<key_index>(call, b) == numbers(5, b));
    CHECK(call.committed_length(batch_index{b}) == 0);
  }
  CHECK(active<query_index>(call, 0) == numbers{1, 1, 0});
  CHECK(active<query_index>(call, 1) == numbers{1, 1, 1});
  CHECK(active<key_index>(call, 0) == numbers{1, 1, 1, 1, 1});
  CHECK(active<key_index>(call, 1) == numbers{1, 0, 0, 0, 0});
  CHECK_FALSE(call.same_frame());
  CHECK(call.query_space().frame().name() == "target");
  CHECK(call.key_space().frame().name() == "source");
  CHECK(call.query_space().origin() == stream::decoder);
  CHECK(call.key_space().origin() == stream::encoder);
}

TEST_CASE("cross-attention refuses one frame for both sides", "[cross_attention]") {
  const numbers lengths{2};
  CHECK(refusal([&] {
          return call::cross_attention({.target_lengths = lengths,
                                        .source_lengths = lengths,
                                        .target_rows = 2,
                                        .source_rows = 2,
                                        .target_frame = coordinate_frame{"text"},
                                        .source_frame = coordinate_frame{"text"}});
        }).code() == errc::frame_mismatch);
}

TEST_CASE("cross-attention refuses sides that do not fit", "[cross_attention]") {
  const auto refused = [](const numbers& targets, const numbers& sources) {
    return refusal([&] {
             return call::cross_attention(
                 {.target_lengths = targets, .source_lengths = sources, .target_rows = 3, .source_rows = 4});
           })
        .code();
  };
  CHECK(refused({3, 2}, {4}) == errc::shape_mismatch);
  CHECK(refused({4}, {4}) == errc::row_count);
  CHECK(refused({3}, {5}) == errc::row_count);
  CHECK(refused({3}, {-1}) == errc::row_count);
  CHECK(refused({}, {}) == errc::empty_batch);
}

}  // namespace
