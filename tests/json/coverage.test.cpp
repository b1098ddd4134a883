// SPDX-License-Identifier: MIT
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/json/coverage.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace json_coverage_test {

using namespace posgeo;
using audit::coverage;
using json::value;
using test::refusal;

auto method() {
  return attention(
      heads{}, scale::none{}, visible::segments{}, visible::causal{},
      bias::t5<double>(test::random_table(8, 1, 3),
                       coordinate::t5_bucket(
                           {.num_buckets = 8, .max_distance = 16, .direction = coordinate::bucket_direction::causal})));
}
coverage small() {
  const std::vector<index_t> lengths{3, 2};
  coverage taught;
  taught.observe(
      method().compile<double>(call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart})),
      encode::learned_absolute<double>(test::random_table(9, 2, 4), {.row_offset = 1}));
  return taught;
}

TEST_CASE("a coverage is one text", "[coverage]") {
  CHECK(json::write_coverage(small()) ==
        R"j({"key_frame":"sequence","keys":[[0,2,5,-2]],"lengths":[[2,3,1,0]],"memory":[[0,0,2,0]],"not_counted":[],)j"
        R"j("offsets":[[-2,0,1,2]],"queries":[[0,1,2,0],[2,2,1,0]],"query_frame":"sequence",)j"
        R"j("schema":"posgeo.coverage.v1","tables":[{"number":0,"policy":"learned_absolute",)j"
        R"j("reads":[[1,2,2,0],[3,3,1,0]],"rows":9,"rule":"row_offset 1, padding )j"
        R"j(padded_rows(rule by_position, row none)",)j"
        R"j("table":"table"},{"number":0,"policy":"t5","reads":[[0,2,5,-2]],"rows":8,)j"
        R"j("rule":"rule t5_bucket(num_buckets 8, max_distance 16, direction causal, odd refused, )j"
        R"j(sign key_minus_query)",)j"
        R"j("table":"table"}]})j");
}

TEST_CASE("coverages read back as they were", "[coverage]") {
  for (const position_call& call : test::random_calls(20)) {
    coverage taught;
    taught.observe(method().compile<double>(call));
    const std::string text = json::write_coverage(taught);
    CHECK(json::read_coverage(text) == taught);
    CHECK(json::write_coverage(json::read_coverage(text)) == text);
  }
  test::dice roll(9);
  for (int round = 0; round < 10; ++round) {
    coverage taught;
    taught.observe(attention(heads{}, scale::none{}, visible::active{}).compile<double>(test::random_cross(roll)));
    CHECK(json::read_coverage(json::write_coverage(taught)) == taught);
  }
}

TEST_CASE("coverages of workers merge through their texts", "[coverage]") {
  coverage whole;
  coverage merged;
  for (const position_call& call : test::random_calls(3)) {
    coverage part;
    part.observe(method().compile<double>(call));
    whole.observe(method().compile<double>(call));
    merged.merge(json::read_coverage(json::write_coverage(part)));
  }
  CHECK(json::write_coverage(merged) == json::write_coverage(whole));
}

TEST_CASE("a text that is no coverage is refused with its path", "[coverage]") {
  const auto message = [](const auto& change) {
    value given = json::coverage_value(small());
    change(given);
    const error thrown = refusal([&] { static_cast<void>(json::read_coverage(given.dump())); });
    CHECK(thrown.code() == errc::manifest);
    return std::string(thrown.what());
  };
  const auto contains = [](const std::string& all, std::string_view part) {
    CAPTURE(all, std::string(part));
    return all.find(part) != std::string::npos;
  };
  for (const char* key : {"schema", "query_frame", "key_frame", "queries", "keys", "offsets", "lengths", "memory",
                          "tables", "not_counted"}) {
    CHECK(contains(message([key](value& v) { v.erase(key); }), fmt::format("$.{}:", key)));
    CHECK(contains(message([key](value& v) { v[key] = 3; }), fmt::format("$.{}:", key)));
  }
  for (const char* key : {"policy", "number", "table", "rule", "rows", "reads"}) {
    CHECK(contains(message([key](value& v) { v["tables"][1].erase(key); }), fmt::format("$.tables[1].{}:", key)));
    CHECK(contains(message([key](value& v) { v["tables"][1][key] = value::object(); }),
                   fmt::format("$.tables[1].{}:", key)));
  }
  CHECK(contains(message([](value& v) { v["more"] = 1; }), "$.more:"));
  CHECK(contains(message([](value& v) { v["tables"][0]["more"] = 1; }), "$.tables[0].more:"));
  CHECK(contains(message([](value& v) { v["schema"] = "posgeo.coverage.v2"; }), "$.schema:"));
  CHECK(contains(message([](value& v) { v["keys"][0].push_back(1); }), "$.keys[0]:"));
  CHECK(contains(message([](value& v) { v["keys"][0] = 7; }), "$.keys[0]:"));
  CHECK(contains(message([](value& v) { v["keys"][0][2] = 1.5; }), "$.keys[0][2]:"));
  CHECK(contains(message([](value& v) { v["keys"][0][2] = 9223372036854775808U; }), "$.keys[0][2]:"));
  CHECK(contains(message([](value& v) { v["keys"][0][2] = -5; }), "$.keys:"));
  CHECK(contains(message([](value& v) { v["lengths"] = value::parse("[[2,2,1,0],[3,3,1,0]]"); }), "$.lengths:"));
  CHECK(contains(message([](value& v) { v["not_counted"] = {1}; }), "$.not_counted[0]:"));
  CHECK(contains(message([](value& v) { v["tables"] = {1}; }), "$.tables[0]:"));
  CHECK(refusal([] { static_cast<void>(json::read_coverage("[]")); }).code() == errc::manifest);
  CHECK(refusal([] { static_cast<void>(json::read_coverage("{\"schema\":")); }).code() == errc::manifest);
}

TEST_CASE("a text whose counts do not belong together is refused", "[coverage]") {
  value given = json::coverage_value(small());
  given["lengths"] = value::parse("[[2,2,1,0],[4,4,1,0]]");
  CHECK(refusal([&] { static_cast<void>(json::read_coverage(given.dump())); }).code() == errc::coverage);
  given = json::coverage_value(small());
  given["tables"][1]["rows"] = 2;
  CHECK(refusal([&] { static_cast<void>(json::read_coverage(given.dump())); }).code() == errc::coverage);
}

TEST_CASE("nothing observed and names that are no text are not written", "[coverage]") {
  CHECK(refusal([] { static_cast<void>(json::write_coverage(coverage())); }).code() == errc::coverage);
  audit::coverage_counts counts = small().counts();
  counts.tables[0].policy = "\xff";
  CHECK(refusal([&] { static_cast<void>(json::write_coverage(coverage(counts))); }).code() == errc::manifest);
}

TEST_CASE("a coverage text stays within the limits of a reader", "[coverage]") {
  const std::string text = json::write_coverage(small());
  CHECK(refusal([&] { static_cast<void>(json::read_coverage(text, {.most_bytes = text.size() - 1})); }).code() ==
        errc::manifest);
}

}  // namespace json_coverage_test
