// SPDX-License-Identifier: MIT
#include <posgeo/core/error.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace {

using namespace posgeo;
using posgeo::test::codes;

TEST_CASE("a violation names object, axis, expected and actual", "[error]") {
  violations found;
  found.expect(false, errc::table_rows, "key table", "rows", 33, 32);
  REQUIRE(found.size() == 1);
  CHECK(found.front().code == errc::table_rows);
  CHECK(found.front().message == "key table, rows: expected 33, got 32");
}

TEST_CASE("violations list every broken rule in order and no kept one", "[error]") {
  violations found;
  found.expect(true, errc::head_count, "heads", "query heads", 1, 1);
  CHECK(found.empty());
  CHECK_NOTHROW(found.throw_if_any());
  found.expect(false, errc::odd_width, "a", "width", "even", 7);
  found.expect(true, errc::head_count, "b", "heads", 2, 2);
  found.expect(false, errc::shape_mismatch, "c", "rows", std::string("at least 1"), -1);
  CHECK(codes(found) == std::vector{errc::odd_width, errc::shape_mismatch});
}

TEST_CASE("throwing joins all sentences under the first code", "[error]") {
  violations found;
  found.expect(false, errc::odd_width, "a", "width", "even", 7);
  found.expect(false, errc::shape_mismatch, "c", "rows", 4, 5);
  found.expect(false, errc::head_count, "h", "heads", 2, 3);
  try {
    found.throw_if_any();
    FAIL("nothing was thrown");
  } catch (const error& e) {
    CHECK(e.code() == errc::odd_width);
    CHECK(std::string(e.what()) ==
          "a, width: expected even, got 7; c, rows: expected 4, got 5; h, heads: expected 2, got 3");
  }
}

TEST_CASE("require throws one sentence or nothing", "[error]") {
  CHECK_NOTHROW(require(true, errc::slope_count, "alibi", "slopes", 8, 8));
  try {
    require(false, errc::slope_count, "alibi", "slopes", 8, 6);
    FAIL("nothing was thrown");
  } catch (const std::runtime_error& e) {
    CHECK(std::string(e.what()) == "alibi, slopes: expected 8, got 6");
  }
}

TEST_CASE("error codes keep their numbers", "[error]") {
  int number = 0;
  for (const errc code : {errc::shape_mismatch,
                          errc::head_count,
                          errc::empty_batch,
                          errc::row_count,
                          errc::negative_offset,
                          errc::position_overflow,
                          errc::position_precision,
                          errc::position_reused,
                          errc::committed_length,
                          errc::frame_mismatch,
                          errc::segment_isolation,
                          errc::padding_visible,
                          errc::future_visible,
                          errc::window_bounds,
                          errc::odd_width,
                          errc::frequency_settings,
                          errc::bucket_settings,
                          errc::table_rows,
                          errc::position_out_of_table,
                          errc::slope_count,
                          errc::non_finite,
                          errc::scale_settings,
                          errc::position_family,
                          errc::label_length,
                          errc::memory_overlap,
                          errc::row_identity,
                          errc::layer_mismatch,
                          errc::memory_mismatch,
                          errc::unit_mismatch,
                          errc::missing_value,
                          errc::grid_bounds,
                          errc::graph_structure,
                          errc::term_set,
                          errc::sequence_length,
                          errc::special_row,
                          errc::checkpoint_tensors,
                          errc::cache_identity,
                          errc::offset_out_of_table,
                          errc::position_rule,
                          errc::merge_frames,
                          errc::executor_refusal,
                          errc::cancelled,
                          errc::workspace_size,
                          errc::description,
                          errc::manifest,
                          errc::cache_operation,
                          errc::geometry_cache,
                          errc::checkpoint_contract,
                          errc::conversion,
                          errc::head_partition,
                          errc::admission,
                          errc::table_migration,
                          errc::release_step,
                          errc::coverage,
                          errc::report,
                          errc::card}) {
    CHECK(static_cast<int>(code) == ++number);
  }
}

TEST_CASE("violations keep sixteen sentences and count the rest", "[error]") {
  violations found;
  for (int n = 0; n < 100; ++n) found.expect(false, errc::row_count, "object", "axis", n, -n);
  CHECK(found.size() == 100);
  CHECK(std::distance(found.begin(), found.end()) == 16);
  const std::string what = posgeo::test::refusal([&] { found.throw_if_any(); }).what();
  CHECK(what.find("expected 15, got -15; and 84 more") != std::string::npos);
}

TEST_CASE("a sentence that is broken twice is said once", "[error]") {
  violations found;
  for (const errc code : {errc::row_count, errc::row_count, errc::table_rows}) {
    found.expect(false, code, "object", "axis", 1, 2);
  }
  found.expect(false, errc::row_count, "object", "other axis", 1, 2);
  CHECK(codes(found) == std::vector{errc::row_count, errc::table_rows, errc::row_count});
}

}  // namespace
