// SPDX-License-Identifier: MIT
#include <posgeo/manifest/policy_record.hpp>

#include "support/catch.hpp"
#include "support/manifests.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace policy_record_test {

using namespace posgeo;
using namespace posgeo::test;
using manifest::element_type;
using manifest::policy_record;

description sample(double base, table<double> numbers) {
  return description("toy")
      .with("zeta", 3)
      .with("base", base)
      .with("sign", "key_minus_query")
      .with("gone", std::optional<index_t>{})
      .with("list", std::vector<index_t>{4, 2})
      .with("speeds", std::vector<double>{0.5, 0.25})
      .with("table", described_table(numbers))
      .with("rule", description("clipped").with("behind", 4))
      .with("parts", std::vector<description>{description("a"), description("b").with("x", 1)});
}

TEST_CASE("a policy record has every field of the description sorted by name", "[manifest]") {
  const auto numbers = random_table(3, 5, 8301);
  const policy_record policy = manifest::record_of(sample(100.0, numbers), plain_hash{});
  CHECK(policy.name() == "toy");
  std::vector<std::string> names;
  for (const auto& one : policy.settings()) names.push_back(one.name);
  CHECK(names == std::vector<std::string>{"base", "gone", "list", "parts", "rule", "sign", "speeds", "table", "zeta"});
  CHECK(std::get<index_t>(*policy.find("zeta")) == 3);
  CHECK(std::get<double>(*policy.find("base")) == 100.0);
  CHECK(std::holds_alternative<policy_record::absent_t>(*policy.find("gone")));
  CHECK(std::get<policy_record>(*policy.find("rule")).name() == "clipped");
  CHECK(std::get<std::vector<policy_record>>(*policy.find("parts"))[1].find("x") != nullptr);
  CHECK(policy.find("nothing") == nullptr);
  const auto& table = std::get<manifest::table_record>(*policy.find("table"));
  CHECK(table.extents == std::vector<index_t>{3, 5});
  CHECK(table.element_type == element_type::float64);
  CHECK(table.digest == plain_hash{}(std::as_bytes(numbers.values())));
}

TEST_CASE("records are equal exactly if descriptions are", "[manifest]") {
  const auto numbers = random_table(3, 5, 8302);
  const auto record = [](const description& d) { return manifest::record_of(d, plain_hash{}); };
  CHECK(record(sample(2.0, numbers)) == record(sample(2.0, numbers)));
  CHECK_FALSE(record(sample(2.0, numbers)) == record(sample(3.0, numbers)));
  CHECK_FALSE(record(sample(2.0, numbers)) == record(sample(2.0, random_table(3, 5, 8303))));
  CHECK_FALSE(record(description("a").with("n", 2)) == record(description("a").with("n", 2.0)));
  CHECK_FALSE(record(description("a").with("n", 2)) == record(description("b").with("n", 2)));
}

template <class T>
element_type written_as() {
  const auto numbers = random_values<T>(6, 8304);
  const described_table given{table<T>(numbers, 2, 3)};
  const auto record = manifest::record_of(given, plain_hash{});
  CHECK(record.digest.high == 6 * sizeof(T));  // plain_hash keeps the count of bytes
  return record.element_type;
}
TEST_CASE("a table keeps its element type", "[manifest]") {
  CHECK(written_as<double>() == element_type::float64);
  CHECK(written_as<float>() == element_type::float32);
  CHECK(written_as<Eigen::half>() == element_type::float16);
  CHECK(written_as<Eigen::bfloat16>() == element_type::bfloat16);
  CHECK(written_as<index_t>() == element_type::int64);
}

TEST_CASE("extents that count no numbers or too many are broken", "[manifest]") {
  manifest::table_record table{{3, 5}, element_type::float32, {1, 2}};
  CHECK_FALSE(broken(table));
  table.extents = {3, 0};
  CHECK(broken(table)->key == "extents");
  table.extents = {index_t{1} << 40, index_t{1} << 40};
  CHECK(broken(table)->key == "extents");
}

TEST_CASE("a policy record without a name or with a setting twice is refused", "[manifest]") {
  const auto code = [](std::string name, std::vector<policy_record::setting> settings) {
    return refusal([&] { (void)policy_record(std::move(name), std::move(settings)); }).code();
  };
  CHECK(code("", {}) == errc::manifest);
  CHECK(code("a", {{"x", index_t{1}}, {"y", index_t{1}}, {"x", 2.0}}) == errc::manifest);
  CHECK(code("a", {{"", index_t{1}}}) == errc::manifest);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(code("a", {{"x", nan}}) == errc::manifest);
  CHECK(code("a", {{"x", std::vector<double>{1.0, nan}}}) == errc::manifest);
}

}  // namespace policy_record_test
