// SPDX-License-Identifier: MIT
#include <posgeo/json/manifest.hpp>

#include <fstream>

#include "json/compare_schema.hpp"
#include "support/catch.hpp"

namespace json_schema_test {

using namespace posgeo;
using json::value;
using test::schema::compare_record;
using keys = std::set<std::string>;

value schema() {
  std::ifstream file(POSGEO_MANIFEST_SCHEMA);
  return value::parse(file);
}
TEST_CASE("the schema and the writer have the same keys and enumerators", "[json]") {
  const value root = schema();
  compare_record<manifest::position_call_record>(root, root, "$", {"schema"});
  CHECK(root.at("properties").at("schema").at("const") == manifest::schema_name);
}

TEST_CASE("the schema and the writer have the same kinds of settings", "[json]") {
  const value root = schema();
  keys of_schema;
  for (const value& kind : root.at("$defs").at("setting").at("anyOf")) {
    if (kind.contains("properties")) of_schema.insert(kind.at("properties").begin().key());
  }
  keys of_writer(json::detail::setting_kinds.begin() + 1, json::detail::setting_kinds.end());
  CHECK(of_schema == of_writer);
  const value& policy = root.at("$defs").at("policy");
  CHECK(keys(policy.at("required").begin(), policy.at("required").end()) == keys{"name", "settings"});
}

}  // namespace json_schema_test
