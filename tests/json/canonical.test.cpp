// SPDX-License-Identifier: MIT
#include <posgeo/json/canonical.hpp>

#include <bit>
#include <random>

#include "support/catch.hpp"

namespace canonical_test {

using posgeo::json::canonical;
using posgeo::json::value;

TEST_CASE("numbers are written as RFC 8785 writes them", "[json]") {
  const std::pair<double, const char*> known[] = {{0.0, "0"},
                                                  {-0.0, "0"},
                                                  {5e-324, "5e-324"},
                                                  {-5e-324, "-5e-324"},
                                                  {1.7976931348623157e308, "1.7976931348623157e+308"},
                                                  {9007199254740992.0, "9007199254740992"},
                                                  {295147905179352830000.0, "295147905179352830000"},
                                                  {9.999999999999997e22, "9.999999999999997e+22"},
                                                  {1e23, "1e+23"},
                                                  {999999999999999900000.0, "999999999999999900000"},
                                                  {1e21, "1e+21"},
                                                  {0.000001, "0.000001"},
                                                  {9.999999999999997e-7, "9.999999999999997e-7"},
                                                  {333333333.33333329, "333333333.3333333"},
                                                  {1e-27, "1e-27"},
                                                  {4.5, "4.5"},
                                                  {-2e-3, "-0.002"},
                                                  {10000.0, "10000"}};
  for (const auto& [number, text] : known) CHECK(canonical(value(number)) == text);
}

TEST_CASE("a number comes back from its text bit for bit", "[json]") {
  std::mt19937_64 engine(8911);
  for (int n = 0; n < 20000; ++n) {
    const auto number = std::bit_cast<double>(engine());
    if (!std::isfinite(number)) continue;
    const std::string text = canonical(value(number));
    REQUIRE(value::parse(text).get<double>() == number);
  }
}

TEST_CASE("integers keep 64 bits", "[json]") {
  CHECK(canonical(value(std::numeric_limits<std::int64_t>::min())) == "-9223372036854775808");
  CHECK(canonical(value(std::numeric_limits<std::int64_t>::max())) == "9223372036854775807");
  CHECK(canonical(value(9007199254740993)) == "9007199254740993");
}

TEST_CASE("keys are sorted and nothing is between", "[json]") {
  const auto given = value::parse(R"( { "b" : [ ] , "a" : { "z" : null, "y" : [1 , {"x" : -0.5}] }, "B": {} } )");
  CHECK(canonical(given) == R"({"B":{},"a":{"y":[1,{"x":-0.5}],"z":null},"b":[]})");
}

TEST_CASE("texts have the shortest escapes", "[json]") {
  CHECK(canonical(value("\"\\/\b\f\n\r\t\x01\x1f\x7f \xC3\xA9 \xF0\x9F\x98\x80")) ==
        "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f \xC3\xA9 \xF0\x9F\x98\x80\"");
}

}  // namespace canonical_test
