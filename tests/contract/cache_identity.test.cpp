// SPDX-License-Identifier: MIT
#include <posgeo/contract/cache_identity.hpp>

#include <functional>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace cache_identity_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;

cache_identity made() {
  return {.model = model_digest("m1"),
          .adapter = adapter_digest("a1"),
          .salt = none,
          .tokens = token_ids({7, 8, 9}),
          .start = position{16},
          .mechanism = {"rotary", {{"base", 10000.0}, {"rotary_dim", 64}, {"pairing", "halves"}}},
          .mask = mask_kind("causal"),
          .format = precision::bfloat16};
}

struct change {
  std::string field;
  std::function<void(cache_identity&)> make;
};

/// One change of each field, by the words that the refusal must have.
std::vector<change> changes() {
  const auto mechanism = [](const std::string& name, position_mechanism::named_parameters parameters) {
    return [=](cache_identity& c) { c.mechanism = {name, parameters}; };
  };
  return {
      {"model digest", [](auto& c) { c.model = model_digest("m2"); }},
      {"adapter digest", [](auto& c) { c.adapter = adapter_digest("a2"); }},
      {"adapter digest", [](auto& c) { c.adapter = none; }},
      {"salt", [](auto& c) { c.salt = cache_salt("a1"); }},
      {"token 2",
       [](auto& c) {
         c.tokens = token_ids({7, 8, 10});
       }},
      {"token 1",
       [](auto& c) {
         c.tokens = token_ids({7, 9, 8});
       }},
      {"token 2",
       [](auto& c) {
         c.tokens = token_ids({7, 8});
       }},
      {"token 3",
       [](auto& c) {
         c.tokens = token_ids({7, 8, 9, 0});
       }},
      {"start position", [](auto& c) { c.start = position{0}; }},
      {"start position", [](auto& c) { c.start = none; }},
      {"position mechanism", mechanism("xpos", {{"base", 10000.0}, {"rotary_dim", 64}, {"pairing", "halves"}})},
      {"parameter base", mechanism("rotary", {{"base", 5e5}, {"rotary_dim", 64}, {"pairing", "halves"}})},
      {"parameter base", mechanism("rotary", {{"base", 10000}, {"rotary_dim", 64}, {"pairing", "halves"}})},
      {"parameter pairing", mechanism("rotary", {{"base", 10000.0}, {"rotary_dim", 64}, {"pairing", "adjacent"}})},
      {"parameter rotary_dim", mechanism("rotary", {{"base", 10000.0}, {"pairing", "halves"}})},
      {"parameter scaling",
       mechanism("rotary", {{"base", 10000.0}, {"rotary_dim", 64}, {"pairing", "halves"}, {"scaling", 2.0}})},
      {"mask kind", [](auto& c) { c.mask = mask_kind("prefix 3"); }},
      {"number format", [](auto& c) { c.format = precision::binary16; }},
  };
}

TEST_CASE("a cache made under the same identity is used", "[cache_identity]") {
  CHECK(made() == made());
  CHECK(differences(made(), made()).empty());
  CHECK_NOTHROW(require_same(made(), made()));
}

TEST_CASE("a change of any one field is refused and named", "[cache_identity]") {
  for (const change& one : changes()) {
    CAPTURE(one.field);
    auto wanted = made();
    one.make(wanted);
    CHECK_FALSE(wanted == made());
    const auto found = differences(made(), wanted);
    CHECK(found.size() == 1);
    CHECK(differences(wanted, made()).size() == 1);
    const error refused = refusal([&] { require_same(made(), wanted); });
    CHECK(refused.code() == errc::cache_identity);
    CHECK(std::string(refused.what()).starts_with("cache, " + one.field + ": "));
  }
}

TEST_CASE("the first difference comes first and says both sides", "[cache_identity]") {
  auto wanted = made();
  wanted.start = position{0};
  wanted.salt = cache_salt("tenant 4");
  const auto found = differences(made(), wanted);
  REQUIRE(found.size() == 2);
  CHECK(found.front().message == "cache, salt: expected 'tenant 4', got none");
}

TEST_CASE("a mechanism without a name or with a parameter that is no number is refused", "[cache_identity]") {
  CHECK(refusal([] { return position_mechanism("", {{"base", 500.0}}); }).code() == errc::cache_identity);
  const error refused = refusal([] { return position_mechanism("rotary", {{"base", NAN}, {"rotary_dim", 64}}); });
  CHECK(refused.code() == errc::cache_identity);
  CHECK(std::string(refused.what()).starts_with("cache identity, parameter base: "));
  CHECK_NOTHROW(position_mechanism("none", {}));
  CHECK_NOTHROW(position_mechanism("window", {{"behind", INFINITY}}));
}

TEST_CASE("an empty digest is refused", "[cache_identity]") {
  CHECK(refusal([] { return model_digest(""); }).code() == errc::cache_identity);
  CHECK(refusal([] { return cache_salt(""); }).code() == errc::cache_identity);
}

}  // namespace cache_identity_test
