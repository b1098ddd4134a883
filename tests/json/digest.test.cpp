// SPDX-License-Identifier: MIT
#include <posgeo/json/digest.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace digest_test {

using posgeo::json::xxh3;

TEST_CASE("the digest is XXH3 of 128 bits in its canonical form", "[json]") {
  // Published test vectors: the empty text and "abc", seed 0.
  CHECK(xxh3{}(std::string_view()).text() == "99aa06d3014798d86001c324468d497f");
  CHECK(xxh3{}(std::string_view("abc")).text() == "06b05ab6733a618578af5f94892f3950");
}

TEST_CASE("the digest of a table reads every number in its place", "[json]") {
  const auto digest = [](const posgeo::table<float>& numbers) {
    return posgeo::manifest::record_of(posgeo::described_table(numbers), xxh3{}).digest;
  };
  const auto values = posgeo::test::random_values<float>(15, 8901);
  const posgeo::table<float> whole(values, 3, 5);
  CHECK(digest(whole) == digest(posgeo::table<float>(values, 3, 5)));
  CHECK(digest(whole) == xxh3{}(std::as_bytes(std::span(values))));
  for (std::size_t n = 0; n < values.size(); ++n) {
    auto other = values;
    other[n] += 0.5F;
    CHECK_FALSE(digest(whole) == digest(posgeo::table<float>(other, 3, 5)));
    if (n == 0) continue;
    other = values;
    std::swap(other[n - 1], other[n]);
    CHECK_FALSE(digest(whole) == digest(posgeo::table<float>(other, 3, 5)));
  }
}

}  // namespace digest_test
