// SPDX-License-Identifier: MIT
#include <posgeo/contract/cache_identity.hpp>

#include <functional>
#include <map>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace cache_identity_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;

description rotary(double base, std::string_view pairs = "halves") {
  return description("rotary").with("frequencies", description("geometric").with("base", base)).with("pairs", pairs);
}

cache_identity made() {
  return {.request = request_id("r1"),
          .sequence = 3,
          .checkpoint = checkpoint_id("m1"),
          .adapter = adapter_id("a1"),
          .release = release_id("12"),
          .salt = none,
          .tokens = token_ids({7, 8, 9}),
          .committed_length = 19,
          .frame = coordinate_frame("sequence"),
          .start = position{16},
          .sign = offset_sign::key_minus_query,
          .method = {rotary(10000.0), description("causal")},
          .mask = mask_id("causal"),
          .format = precision::bfloat16,
          .backend = backend_id("cpu"),
          .revision = implementation_revision("4"),
          .baked = baked_transform{.transform = rotary(10000.0), .offset = 0}};
}

struct change {
  std::string field;  ///< of cache_identity_fields
  std::string named;  ///< the words of the refusal
  std::function<void(cache_identity&)> make;
};

/// Changes of one field each, and the words that the refusal must have.
std::vector<change> changes() {
  const auto tokens = [](std::vector<index_t> ids) { return [ids](cache_identity& c) { c.tokens = token_ids(ids); }; };
  const auto method = [](std::vector<description> policies) {
    return [policies](cache_identity& c) { c.method = policies; };
  };
  const auto baked = [](const description& transform, index_t offset) {
    return [=](cache_identity& c) { c.baked = baked_transform{.transform = transform, .offset = offset}; };
  };
  const description causal("causal");
  return {
      {"request", "request", [](auto& c) { c.request = request_id("r2"); }},
      {"sequence", "sequence", [](auto& c) { c.sequence = 4; }},
      {"checkpoint", "checkpoint", [](auto& c) { c.checkpoint = checkpoint_id("m2"); }},
      {"adapter", "adapter", [](auto& c) { c.adapter = adapter_id("a2"); }},
      {"adapter", "adapter", [](auto& c) { c.adapter = none; }},
      {"release", "release", [](auto& c) { c.release = release_id("13"); }},
      {"salt", "salt", [](auto& c) { c.salt = cache_salt("a1"); }},
      {"token", "token 2", tokens({7, 8, 10})},
      {"token", "token 1", tokens({7, 9, 8})},
      {"token", "token 2", tokens({7, 8})},
      {"token", "token 3", tokens({7, 8, 9, 0})},
      {"committed length", "committed length", [](auto& c) { c.committed_length = 20; }},
      {"coordinate frame", "coordinate frame", [](auto& c) { c.frame = coordinate_frame("source"); }},
      {"start position", "start position", [](auto& c) { c.start = position{0}; }},
      {"start position", "start position", [](auto& c) { c.start = none; }},
      {"sign", "sign", [](auto& c) { c.sign = offset_sign::query_minus_key; }},
      {"sign", "sign", [](auto& c) { c.sign = none; }},
      {"method", "method, policy 0", method({description("alibi"), causal})},
      {"method", "method, rotary, frequencies, base", method({rotary(5e5), causal})},
      {"method", "method, rotary, pairs", method({rotary(10000.0, "adjacent"), causal})},
      {"method", "method, causal, later", method({rotary(10000.0), description("causal").with("later", 1)})},
      {"method", "method, policies", method({rotary(10000.0)})},
      {"mask", "mask", [](auto& c) { c.mask = mask_id("prefix 3"); }},
      {"number format", "number format", [](auto& c) { c.format = precision::binary16; }},
      {"backend", "backend", [](auto& c) { c.backend = backend_id("other"); }},
      {"implementation revision", "implementation revision",
       [](auto& c) { c.revision = implementation_revision("5"); }},
      {"baked", "baked transform", [](auto& c) { c.baked = none; }},
      {"baked", "baked, mechanism", baked(description("xpos"), 0)},
      {"baked", "baked, rotary, frequencies, base", baked(rotary(500.0), 0)},
      {"baked", "baked offset", baked(rotary(10000.0), -5)},
  };
}

TEST_CASE("a cache made under the same identity is used", "[cache_identity]") {
  CHECK(made() == made());
  CHECK(differences(made(), made()).empty());
  CHECK_NOTHROW(require_same(made(), made()));
}

TEST_CASE("a change of any one field is refused and named", "[cache_identity]") {
  std::map<std::string, int, std::less<>> changed;
  for (const change& one : changes()) {
    CAPTURE(one.named);
    ++changed[one.field];
    auto wanted = made();
    one.make(wanted);
    CHECK_FALSE(wanted == made());
    const auto found = differences(made(), wanted);
    CHECK(found.size() == 1);
    CHECK(differences(wanted, made()).size() == 1);
    const error refused = refusal([&] { require_same(made(), wanted); });
    CHECK(refused.code() == errc::cache_identity);
    CHECK(std::string(refused.what()).starts_with("cache, " + one.named + ": "));
  }
  for (const std::string_view field : cache_identity_fields) {
    CAPTURE(field);
    CHECK(changed.contains(field));  // the table goes through every field
  }
  CHECK(changed.size() == cache_identity_fields.size());
}

TEST_CASE("differences come in the order of the fields and say both sides", "[cache_identity]") {
  auto wanted = made();
  wanted.baked = none;
  wanted.method = {rotary(500000.0), description("causal")};
  wanted.sign = none;
  wanted.start = position{0};
  wanted.salt = cache_salt("none");
  wanted.sequence = 8;
  std::vector<std::string> said;
  for (const violation& v : differences(made(), wanted)) said.push_back(v.message);
  CHECK(said == std::vector<std::string>{"cache, sequence: expected 8, got 3", "cache, salt: expected 'none', got none",
                                         "cache, start position: expected 0, got 16",
                                         "cache, sign: expected none, got key_minus_query",
                                         "cache, method, rotary, frequencies, base: expected 500000, got 10000",
                                         "cache, baked transform: expected none, got rotary"});
}

TEST_CASE("more differences than are kept are still counted", "[cache_identity]") {
  auto wanted = made();
  std::map<std::string, int> changed;
  for (const change& one : changes()) {
    if (++changed[one.field] == 1) one.make(wanted);
  }
  CHECK(differences(made(), wanted).size() == cache_identity_fields.size());
}

TEST_CASE("a method without a policy is refused", "[cache_identity]") {
  const error refused = refusal([] { return method_configuration(std::vector<description>{}); });
  CHECK(refused.code() == errc::cache_identity);
  CHECK(std::string(refused.what()) == "cache identity, policies of the method: expected at least 1, got 0");
}

}  // namespace cache_identity_test
