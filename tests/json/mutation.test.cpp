// SPDX-License-Identifier: MIT
#include <posgeo/json/manifest.hpp>

#include <cstdlib>
#include <new>
#include <random>

#include "json/every_policy.hpp"
#include "support/catch.hpp"
#include "support/manifests.hpp"
#include "support/random_calls.hpp"

namespace mutation_test {

using namespace posgeo;
using namespace posgeo::test;

/// Random damage to a text.
class vandal {
 public:
  explicit vandal(unsigned seed) : engine_(seed) {}
  [[nodiscard]] std::string damaged(std::string text) {
    for (std::size_t blows = 1 + below(3); blows > 0 && !text.empty(); --blows) strike(text);
    return text;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(engine_);
  }
  void strike(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(text.size() - at, 60));
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.resize(at);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        swap_number(text, at);
        break;
      default:
        text.insert(below(text.size()), text.substr(at, length));
    }
  }
  /// Puts another number in the place of the next one, by which the text stays JSON.
  void swap_number(std::string& text, std::size_t at) {
    static constexpr std::array numbers{"0",
                                        "-1",
                                        "1",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-4611686018427387904",
                                        "1e3",
                                        "1e999",
                                        "0.5",
                                        "\"7\"",
                                        "null",
                                        "[]",
                                        "{}",
                                        "NaN",
                                        "true",
                                        "18446744073709551616"};
    const std::size_t begin = text.find_first_of("0123456789", at);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789", begin));
    text.replace(begin, end - begin, numbers[below(numbers.size())]);
  }
  std::mt19937_64 engine_;
};

TEST_CASE("ten thousand damaged manifests are read as a record or refused", "[json]") {
  dice roll(8921);
  std::vector<std::string> whole;
  const auto policies = every_policy();
  for (const auto make :
       {random_padded, random_masked, random_packed, random_decode, random_prefill, random_explicit, random_cross}) {
    const position_call call = make(roll);
    const auto any = [&] {
      return policies[static_cast<std::size_t>(roll.between(0, static_cast<index_t>(policies.size()) - 1))];
    };
    whole.push_back(json::write(manifest::of(call, {.query = 6, .key_value = 2, .dim = 4}, {any(), any()},
                                             manifest::element_type::float32, stated_for(call), json::xxh3{})));
  }
  vandal hand(8922);
  int equal = 0;
  int others = 0;
  int refused = 0;
  for (int n = 0; n < 10000; ++n) {
    const std::string& before = whole[static_cast<std::size_t>(n) % whole.size()];
    const std::string after = hand.damaged(before);
    try {
      const auto record = json::read(after);
      const std::string again = json::write(record);
      REQUIRE(json::read(again) == record);
      (again == before ? equal : others) += 1;
    } catch (const error& e) {
      REQUIRE(e.code() == errc::manifest);
      ++refused;
    }
  }
  CAPTURE(equal, others, refused);
  CHECK(equal > 0);
  CHECK(others > 100);
  CHECK(refused > 5000);
}

TEST_CASE("a text of huge counts takes little memory", "[json]") {
  // A count of rows is a number: no row is made of it.
  const position_call call = call::decode_step(3, 3);
  const auto record = manifest::of(call, {.query = 1, .key_value = 1, .dim = 4}, {}, manifest::element_type::float32,
                                   stated_for(call), json::xxh3{});
  auto huge = record;
  constexpr index_t rows = index_t{1} << 61;
  auto& table = huge.row_space.key;
  table.storage_rows = rows;
  table.entries[0].sequence_id_per_row[0].count = rows;
  table.entries[0].stream_per_row[0].count = rows;
  table.entries[0].logical_position_per_row[0].count = rows;
  table.entries[0].active_token_per_row[0].count = rows;
  CHECK(json::read(json::write(huge)) == huge);
}

}  // namespace mutation_test
