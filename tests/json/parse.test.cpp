// SPDX-License-Identifier: MIT
#include <posgeo/json/parse.hpp>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace json_parse_test {

using posgeo::errc;
using posgeo::json::limits;
using posgeo::json::parse;
using posgeo::json::value;

std::string complaint(const std::string& text, const limits& most = {}) {
  const posgeo::error thrown = posgeo::test::refusal([&] { (void)parse(text, most); });
  CHECK(thrown.code() == errc::manifest);
  return thrown.what();
}

TEST_CASE("what is JSON is parsed as by the library", "[json]") {
  for (const char* const text : {"null", " true ", "-3", "18446744073709551615", "1.5e3", R"("a\u00e9\"")", "[]", "{}",
                                 R"({"a":[1,{"b":[[],{},"x"]},false],"":{"a":null}})", "[[1,2],[3,[4]]]"}) {
    CHECK(parse(text, {}) == value::parse(text));
  }
}

TEST_CASE("a key twice is refused where it stands", "[json]") {
  CHECK(complaint(R"({"a":1,"b":[0,{"c":1,"d":2,"c":1}]})") ==
        "manifest, $.b[1].c: expected each key once, got this one twice");
  CHECK(complaint(R"({"a":{},"a":1})") == "manifest, $.a: expected each key once, got this one twice");
  CHECK_NOTHROW(parse(R"([{"a":1},{"a":1}])", {}));
}

TEST_CASE("a text that is no JSON is refused where it stops", "[json]") {
  CHECK(complaint("") == "manifest, $: expected JSON, got something else at byte 1");
  CHECK(complaint(R"({"a":[1,NaN]})") == "manifest, $.a[1]: expected JSON, got something else at byte 9");
  CHECK(complaint(R"({"a":[1,2)") == "manifest, $.a[2]: expected JSON, got something else at byte 10");
  CHECK(complaint("1 2") == "manifest, $: expected JSON, got something else at byte 3");
  CHECK(complaint("// none\n1") == "manifest, $: expected JSON, got something else at byte 1");
  CHECK(complaint("\"\xFF\"") == "manifest, $: expected JSON, got something else at byte 2");
  CHECK(complaint("[1e999]") == "manifest, $[0]: expected a number within the doubles, got something else at byte 6");
  CHECK(complaint("'a'") == "manifest, $: expected JSON, got something else at byte 1");
}

TEST_CASE("too deep a nesting is refused before it is built", "[json]") {
  const limits most{.most_bytes = 100, .most_values = 100, .deepest = 3};
  CHECK_NOTHROW(parse("[[[1]]]", most));
  CHECK(complaint("[[[[1]]]]", most) == "manifest, $[0][0][0]: expected at most 3 levels, got more");
  CHECK(complaint(R"({"a":{"b":[{}]}})", most) == "manifest, $.a.b[0]: expected at most 3 levels, got more");
  const std::string hostile(10 << 20, '[');
  CHECK_THROWS_AS(parse(hostile, {}), posgeo::error);
}

TEST_CASE("too many values and too long a text are refused", "[json]") {
  const limits most{.most_bytes = 20, .most_values = 4, .deepest = 3};
  CHECK_NOTHROW(parse("[1,2,3]", most));
  CHECK(complaint("[1,2,3,4]", most) == "manifest, $[3]: expected at most 4 values, got more");
  CHECK_NOTHROW(parse(std::string(19, ' ') + "1", most));
  CHECK(complaint(std::string(20, ' ') + "1", most) == "manifest, $: expected at most 20 bytes, got 21");
}

}  // namespace json_parse_test
