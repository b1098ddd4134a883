// SPDX-License-Identifier: MIT
#include <posgeo/json/audit.hpp>

#include <fstream>
#include <limits>
#include <set>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace json_audit_test {

using namespace posgeo;
using namespace posgeo::audit;
using json::value;
using keys = std::set<std::string>;

report sample() {
  report out{.name = "mine", .method = {description("alibi").with("slopes", std::vector<double>{0.5, 0.25})}};
  finding moved{.kind = intervention::shift_all,
                .what = "all positions +17",
                .expected = verdict::invariant,
                .reference = verdict::invariant,
                .found = verdict::changes,
                .tolerance = 0.125,
                .from_reference = std::numeric_limits<double>::infinity()};
  moved.measured = {.score_differences = std::nullopt,
                    .log_sum_exp = 0.5,
                    .weights = 1.75,
                    .outputs = std::numeric_limits<double>::infinity()};
  out.findings.push_back(moved);
  out.findings.push_back({.kind = intervention::out_of_range,
                          .what = "far away",
                          .expected = verdict::refused,
                          .reference = verdict::refused,
                          .found = verdict::refused,
                          .message = "a table of 8 rows"});
  out.debts.push_back({debt::procedure, "a finite range"});
  out.from_reference = 0.25;
  out.tolerance = 0.5;
  return out;
}
keys keys_of(const value& object) {
  keys all;
  for (const auto& [key, inner] : object.items()) all.insert(key);
  return all;
}
/// An object has exactly the keys that its schema requires and lists.
void check_object(const value& schema, const value& object) {
  CHECK(keys_of(schema.at("properties")) == keys_of(object));
  CHECK(keys(schema.at("required").begin(), schema.at("required").end()) == keys_of(object));
  CHECK(schema.at("additionalProperties") == false);
}
keys listed(const value& schema) { return {schema.at("enum").begin(), schema.at("enum").end()}; }

TEST_CASE("a report is written in one text", "[audit]") {
  const std::string text = json::write_report(sample());
  CHECK(text.find(R"("debts":[{"because":"a finite range","kind":"procedure"}],"faults":1,"findings":[{)") !=
        std::string::npos);
  CHECK(text.find(R"("found":"changes","from_reference":"infinity","intervention":"shift_all","log_sum_exp":0.5,)"
                  R"("message":"","outcome":"fault","outputs":"infinity","reference":"invariant",)"
                  R"("score_differences":null,"tolerance":0.125,"weights":1.75,"what":"all positions +17"})") !=
        std::string::npos);
  CHECK(text.find(R"("message":"a table of 8 rows","outcome":"ok","outputs":null)") != std::string::npos);
  CHECK(text.find(R"("method":[{"name":"alibi","settings":{"slopes":{"numbers":[0.5,0.25]}}}])") != std::string::npos);
  CHECK(text == json::write_report(sample()));
  report other = sample();
  other.findings[0].measured.weights = 1.5;
  CHECK(text != json::write_report(other));
}

TEST_CASE("a report has the keys and names of its schema", "[audit]") {
  std::ifstream file(POSGEO_AUDIT_SCHEMA);
  const value schema = value::parse(file);
  const value& definitions = schema.at("$defs");
  const value written = json::report_value(sample());
  check_object(schema, written);
  check_object(definitions.at("finding"), written.at("findings").at(0));
  check_object(definitions.at("debt"), written.at("debts").at(0));
  check_object(definitions.at("policy"), written.at("method").at(0));
  CHECK(schema.at("properties").at("schema").at("const") == written.at("schema"));

  keys kinds;
  for (int n = 0; n <= static_cast<int>(intervention::cached); ++n) {
    kinds.insert(std::string(name_of(static_cast<intervention>(n))));
  }
  CHECK(listed(definitions.at("finding").at("properties").at("intervention")) == kinds);
  keys verdicts;
  for (int n = 0; n <= static_cast<int>(verdict::not_applicable); ++n) {
    verdicts.insert(std::string(name_of(static_cast<verdict>(n))));
  }
  CHECK(listed(definitions.at("verdict")) == verdicts);
  keys outcomes;
  for (int n = 0; n <= static_cast<int>(outcome::none); ++n) {
    outcomes.insert(std::string(name_of(static_cast<outcome>(n))));
  }
  CHECK(listed(definitions.at("finding").at("properties").at("outcome")) == outcomes);
}

TEST_CASE("a report whose texts are not UTF-8 is refused", "[audit]") {
  report given = sample();
  given.name = "\xff";
  const error got = posgeo::test::refusal([&given] { (void)json::write_report(given); });
  CHECK(got.code() == errc::manifest);
  CHECK(std::string(got.what()) == "audit report, texts: expected UTF-8, got other bytes");
}

}  // namespace json_audit_test
