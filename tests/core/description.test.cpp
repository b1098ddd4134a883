// SPDX-License-Identifier: MIT
#include <posgeo/core/description.hpp>

#include <array>
#include <limits>
#include <optional>

#include "support/catch.hpp"
#include "support/described.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace description_test {

using namespace posgeo;
using namespace posgeo::test;

static_assert(std::copyable<description> && std::copyable<described_table>);

struct says_nothing {};
struct says_what_it_is {
  [[nodiscard]] description describe() const { return description("toy"); }
};
static_assert(described_policy<says_what_it_is> && !described_policy<says_nothing>);

/// Twelve whole numbers in an order that no ramp has.
template <class T>
std::vector<T> twelve() {
  std::vector<T> out;
  for (const int value : {3, -7, 0, 11, 2, -5, 8, -1, 6, -9, 4, 10})
    out.push_back(static_cast<T>(static_cast<float>(value)));
  return out;
}
template <class T>
table<T> four_by_three(std::vector<T> values = twelve<T>()) {
  return {values, 4, 3};
}

template <class T>
void check_equal_by_value() {
  const described_table one(four_by_three<T>());
  CHECK(one == described_table(four_by_three<T>()));  // another memory, the same numbers
  CHECK(one == one);
  CHECK(one.size() == 12);
  CHECK(one.extents() == std::vector<index_t>{4, 3});
  for (std::size_t n = 0; n < 12; ++n) {
    auto values = twelve<T>();
    values[n] = static_cast<T>(static_cast<float>(values[n]) + 1.0F);
    CHECK_FALSE(one == described_table(four_by_three<T>(values)));
  }
  CHECK_FALSE(one == described_table(table<T>(twelve<T>(), 3, 4)));
  CHECK_FALSE(one == described_table(four_by_three<T>(), {2, 2, 3}));
  CHECK(described_table(four_by_three<T>(), {2, 2, 3}) == described_table(table<T>(twelve<T>(), 6, 2), {2, 2, 3}));
}

TEST_CASE("described tables of every element type are equal by their numbers and extents", "[description]") {
  check_equal_by_value<double>();
  check_equal_by_value<float>();
  check_equal_by_value<Eigen::half>();
  check_equal_by_value<Eigen::bfloat16>();
  check_equal_by_value<index_t>();
}

TEST_CASE("the same numbers in another element type are another table", "[description]") {
  const std::vector<described_table> all{
      described_table(four_by_three<double>()), described_table(four_by_three<float>()),
      described_table(four_by_three<Eigen::half>()), described_table(four_by_three<Eigen::bfloat16>()),
      described_table(four_by_three<index_t>())};
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) CHECK((all[a] == all[b]) == (a == b));
  }
}

TEST_CASE("a described table shares the numbers of the policy", "[description]") {
  const auto numbers = random_table(5, 3, 4401);
  const described_table described(numbers);
  CHECK(std::get<table<double>>(described.values()).values().data() == numbers.values().data());
}

TEST_CASE("a described table refuses extents that do not count its numbers", "[description]") {
  for (const auto& extents : {std::vector<index_t>{4, 2}, {13}, {2, 2, 2, 2}, {}}) {
    CHECK(refusal([&] { return described_table(four_by_three<float>(), extents); }).code() == errc::shape_mismatch);
  }
}

TEST_CASE("a field keeps the kind of value that it was given", "[description]") {
  const auto made = description("toy")
                        .with("count", 7)
                        .with("number", 7.0)
                        .with("text", std::string("seven"))
                        .with("view", std::string_view("seven"))
                        .with("list", std::vector<index_t>{7, 7})
                        .with("numbers", std::vector<double>{7.0, 7.0})
                        .with("rule", description("inner").with("far", index_t{-7}))
                        .with("parts", std::vector<description>{description("a"), description("b")})
                        .with("one", std::optional(7))
                        .with("none", std::optional<double>());
  CHECK(made.name() == "toy");
  CHECK(std::get<index_t>(*made.find("count")) == 7);
  CHECK(std::get<double>(*made.find("number")) == 7.0);
  CHECK(*made.find("text") == *made.find("view"));
  CHECK(std::get<std::vector<index_t>>(*made.find("list")).size() == 2);
  CHECK(std::get<std::vector<double>>(*made.find("numbers")).size() == 2);
  CHECK(std::get<index_t>(*std::get<description>(*made.find("rule")).find("far")) == -7);
  CHECK(std::get<std::vector<description>>(*made.find("parts"))[1].name() == "b");
  CHECK(*made.find("one") == *made.find("count"));
  CHECK(*made.find("none") == description::value(description::absent));
  CHECK(made.find("nowhere") == nullptr);
  CHECK(made.fields().size() == 10);
  CHECK(made.fields().front().name == "count");
  CHECK(made.fields().back().name == "none");
}

TEST_CASE("descriptions are equal if the name and every field is", "[description]") {
  const auto make = [](std::string_view name, index_t count, double number, std::string_view text,
                       std::optional<index_t> maybe, index_t inner) {
    return description(name)
        .with("count", count)
        .with("number", number)
        .with("text", text)
        .with("maybe", maybe)
        .with("rule", description("inner").with("far", inner))
        .with("parts", std::vector<description>{description("a"), description("b").with("far", inner)});
  };
  const auto base = make("toy", 3, 0.25, "left", 5, 9);
  CHECK(base == make("toy", 3, 0.25, "left", 5, 9));
  const std::vector<description> others{
      make("boy", 3, 0.25, "left", 5, 9),  make("toy", 4, 0.25, "left", 5, 9),
      make("toy", 3, -0.25, "left", 5, 9), make("toy", 3, 0.25, "right", 5, 9),
      make("toy", 3, 0.25, "left", 6, 9),  make("toy", 3, 0.25, "left", std::nullopt, 9),
      make("toy", 3, 0.25, "left", 5, 8)};
  for (std::size_t a = 0; a < others.size(); ++a) {
    CHECK_FALSE(base == others[a]);
    for (std::size_t b = 0; b < a; ++b) CHECK_FALSE(others[a] == others[b]);
  }
}

TEST_CASE("the kind, the order and the number of fields count", "[description]") {
  const auto base = description("toy").with("a", 1).with("b", 2);
  CHECK_FALSE(base == description("toy").with("b", 2).with("a", 1));
  CHECK_FALSE(base == description("toy").with("a", 1));
  CHECK_FALSE(base == description("toy").with("a", 1).with("b", 2).with("c", description::absent));
  CHECK_FALSE(base == description("toy").with("a", 1).with("b", 2.0));
  CHECK_FALSE(base == description("toy").with("a", 1).with("c", 2));
  CHECK_FALSE(description("toy").with("rule", description("x")) == description("toy").with("rule", "x"));
}

TEST_CASE("a description refuses names that are empty or there already", "[description]") {
  CHECK(refusal([] { return description(""); }).code() == errc::description);
  CHECK(refusal([] { return description("toy").with("", 1); }).code() == errc::description);
  const auto twice = refusal([] { return description("toy").with("far", 1).with("far", 2); });
  CHECK(twice.code() == errc::description);
  CHECK(std::string(twice.what()) == "toy, name of a field: expected one that is not there yet, got far");
}

TEST_CASE("a description refuses NaN, which would make it unequal to itself", "[description]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto alone = refusal([&] { return description("toy").with("far", nan); });
  CHECK(alone.code() == errc::description);
  CHECK(std::string(alone.what()) == "toy, far: expected a number, which equals itself, got NaN");
  CHECK(refusal([&] { return description("toy").with("far", std::optional(nan)); }).code() == errc::description);
  CHECK(refusal([&] { return description("toy").with("all", std::vector{1.0, nan}); }).code() == errc::description);
  const auto infinite = description("toy").with("far", std::numeric_limits<double>::infinity());
  CHECK(infinite == description("toy").with("far", std::numeric_limits<double>::infinity()));
}

TEST_CASE("a field that was taken from a description goes into another unchanged", "[description]") {
  const auto from =
      description("toy").with("table", described_table(random_table(3, 2, 4402))).with("none", description::absent);
  auto to = description("toy");
  for (const description::field& field : from.fields()) to = std::move(to).with(field.name, field.what);
  CHECK(to == from);
}

}  // namespace description_test
