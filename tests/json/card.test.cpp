// SPDX-License-Identifier: MIT
#include <posgeo/json/card.hpp>

#include <fstream>
#include <limits>
#include <set>

#include "json/compare_schema.hpp"
#include "support/card_changes.hpp"
#include "support/cards.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace json_card_test {

using namespace posgeo;
using namespace posgeo::test;
using audit::positional_card;
using json::value;

std::vector<positional_card> every_card() {
  return {t5_card(), alibi_card(), yarn_card(), learned_absolute_card(), shaw_card()};
}
bool contains(const std::string& all, std::string_view part) { return all.find(part) != std::string::npos; }

TEST_CASE("positional cards read back as they were", "[card]") {
  for (const positional_card& card : every_card()) {
    const std::string text = json::write_card(card);
    CHECK(json::read_card(text) == card);
    CHECK(json::write_card(json::read_card(text)) == text);
    CHECK(check(json::read_card(text)).empty());
    CHECK(json::card_from(value::parse(json::card_value(card).dump(2))) == card);
  }
}

TEST_CASE("each number of a card stands under its key", "[card]") {
  const value yarn = json::card_value(yarn_card());
  CHECK(yarn["conventions"] == value::parse(R"j({"first_position": 0, "origin": "irrelevant", "padding_side": "never",
    "padding_positions": "none", "padding_keys": "hidden", "packed_positions": "restart",
    "keys_of_other_sequences": "hidden", "causal": "by_position", "reach_behind": 31, "reach_ahead": 0,
    "cached_call_begins_at": "committed_length"})j"));
  CHECK(yarn["method"] == value::parse(R"j({"reference": "relative", "resized": null,
    "scaling": {"policy": "rotary", "rule": "yarn", "factor": 4.0, "original_length": 32}})j"));
  const value alibi = json::card_value(alibi_card());
  CHECK(alibi["lengths"]["trained"] == 64);
  CHECK(alibi["lengths"]["configured"] == 4096);
  CHECK(alibi["lengths"]["evaluated"][1] == value::parse(R"j({"length": 256, "kind": "retrieval",
    "task": "one of 64 names", "placement": "answers at 16 depths", "metric": "accuracy", "value": 0.375,
    "range": "beyond_trained"})j"));
  CHECK(alibi["audit"]["findings"][1] == value::parse(R"j({"intervention": "cached", "what": "one query at a time",
    "expected": "equivariant", "reference": "equivariant", "found": "changes", "outputs": 0.25, "tolerance": 1e-6,
    "from_reference": 0.25, "message": ""})j"));
  CHECK(alibi["heads"] == value::parse(R"j({"query": 6, "key_value": 3, "dim": 4})j"));
  const value taught = json::card_value(t5_card())["coverage"];
  CHECK(taught["lowest_offset"] == -63);
  CHECK(taught["highest_offset"] == 0);
  CHECK(taught["highest_position"] == 63);
  CHECK(json::card_value(learned_absolute_card())["policies"][0]["range"] ==
        value::parse(R"j({"lowest_position": 0, "highest_position": 63, "lowest_offset": null,
    "highest_offset": null})j"));
  CHECK(json::card_value(shaw_card())["policies"][2]["range"]["lowest_offset"] == -70);
}

TEST_CASE("a changed field changes the text of a card and reads back", "[card]") {
  std::set<std::string> paths;
  for (const positional_card& card : every_card()) {
    const std::string text = json::write_card(card);
    for (const changed_card& other : every_change(card)) {
      CAPTURE(other.path);
      CHECK_FALSE(other.card == card);
      const std::string changed = json::write_card(other.card);
      CHECK(changed != text);
      CHECK(json::read_card(changed) == other.card);
      paths.insert(other.path);
    }
  }
  CHECK(paths.size() > 100);
  for (const char* path :
       {"$.checkpoint_id", "$.heads.dim", "$.policies[0].range.highest_position", "$.policies[0].policy.table.digest",
        "$.method.scaling.original_length", "$.method.resized.rule", "$.conventions.cached_call_begins_at",
        "$.lengths.evaluated[1].range", "$.coverage.tables[0].below_enough", "$.audit.findings[2].message",
        "$.audit.debts[0].because", "$.not_claimed[0]"}) {
    CAPTURE(std::string(path));
    CHECK(paths.count(path) == 1);
  }
}

/// Calls visit(way to an object, path) for every object of a card whose keys are fixed.
template <class Visit>
void each_object(const value& at, const value::json_pointer& way, const std::string& path, const Visit& visit) {
  if (at.is_object()) {
    if (!path.ends_with(".settings")) visit(way, path);
    for (const auto& [key, inner] : at.items()) each_object(inner, way / key, path + "." + key, visit);
  } else if (at.is_array()) {
    for (std::size_t n = 0; n < at.size(); ++n) each_object(at[n], way / n, fmt::format("{}[{}]", path, n), visit);
  }
}

std::string refused(const value& given) {
  const error thrown = refusal([&] { static_cast<void>(json::read_card(given.dump())); });
  CHECK(thrown.code() == errc::manifest);
  return thrown.what();
}

TEST_CASE("unknown and missing keys of a card are refused with their path", "[card]") {
  int missing = 0;
  for (const positional_card& card : {t5_card(), alibi_card(), learned_absolute_card()}) {
    const value whole = json::card_value(card);
    each_object(whole, value::json_pointer(), "$", [&](const value::json_pointer& way, const std::string& path) {
      value more = whole;
      more[way]["more"] = 1;
      const bool of_setting = path.find(".settings.") != std::string::npos;
      const std::string said = refused(more);
      CAPTURE(path, said);
      CHECK(contains(said, of_setting ? path : path + ".more: expected no such key"));
      for (const auto& [key, inner] : whole[way].items()) {
        value less = whole;
        less[way].erase(key);
        CAPTURE(key);
        const std::string complaint = refused(less);
        CHECK(contains(complaint,
                       of_setting ? path : fmt::format("{}.{}: expected a value, got no such key", path, key)));
        ++missing;
      }
    });
  }
  CHECK(missing > 200);
}

TEST_CASE("values of another type or name are refused with their path", "[card]") {
  const value whole = json::card_value(alibi_card());
  int refusals = 0;
  each_object(whole, value::json_pointer(), "$", [&](const value::json_pointer& way, const std::string& path) {
    if (path.find(".settings") != std::string::npos) return;
    for (const auto& [key, inner] : whole[way].items()) {
      value other = whole;
      other[way][key] = true;
      CAPTURE(path, key);
      CHECK(contains(refused(other), fmt::format("{}.{}: expected ", path, key)));
      ++refusals;
    }
  });
  CHECK(refusals > 60);
  const auto with = [&](const char* way, const value& what) {
    value other = whole;
    other[value::json_pointer(way)] = what;
    return refused(other);
  };
  CHECK(contains(with("/schema", "posgeo.positional-card.v2"), "$.schema: expected posgeo.positional-card.v1"));
  CHECK(contains(with("/checkpoint_id", ""), "$.checkpoint_id: expected at least one character"));
  CHECK(contains(with("/lengths/trained", 64.5), "$.lengths.trained: expected an integer"));
  CHECK(contains(with("/lengths/trained", 9223372036854775808U), "$.lengths.trained: expected an integer of 64 bits"));
  CHECK(contains(with("/lengths/evaluated/1/range", "beyond"),
                 "$.lengths.evaluated[1].range: expected one of within_trained, beyond_trained"));
  CHECK(
      contains(with("/audit/findings/0/expected", "same"), "$.audit.findings[0].expected: expected one of invariant"));
  CHECK(contains(with("/heads/query", 5), "$.heads.query: expected a multiple of key_value 3"));
  CHECK(contains(with("/not_claimed", "nothing"), "$.not_claimed: expected a list"));
  CHECK(contains(with("/policies/0/policy/name", ""), "$.policies[0].policy.name: expected at least one character"));
}

TEST_CASE("texts that are no card or beyond the limits are refused", "[card]") {
  const std::string whole = json::write_card(yarn_card());
  const auto code = [](const std::string& text, const json::limits& most) {
    return refusal([&] { static_cast<void>(json::read_card(text, most)); }).code();
  };
  CHECK(code("[]", {}) == errc::manifest);
  CHECK(code(whole.substr(0, whole.size() - 1), {}) == errc::manifest);
  CHECK(code(whole, {.most_bytes = whole.size() - 1}) == errc::manifest);
  CHECK(code(whole, {.most_bytes = whole.size(), .most_values = 40}) == errc::manifest);
  CHECK(code(whole, {.most_bytes = whole.size(), .most_values = 4000, .deepest = 4}) == errc::manifest);
  CHECK(code("{\"checkpoint_id\":\"twice\"," + whole.substr(1), {}) == errc::manifest);
}

TEST_CASE("a card that would not read back is not written", "[card]") {
  const auto refuses = [](const auto& change) {
    positional_card card = alibi_card();
    change(card);
    CHECK(refusal([&] { static_cast<void>(json::write_card(card)); }).code() == errc::manifest);
  };
  refuses([](positional_card& c) { c.lengths.evaluated[0].value = std::numeric_limits<double>::quiet_NaN(); });
  refuses([](positional_card& c) { c.not_claimed[0] = "\xff"; });
  refuses([](positional_card& c) { c.heads.query = 5; });
}

TEST_CASE("a card of the component has the digests of XXH3", "[card]") {
  const encode::learned_absolute<double> positions(random_table(66, 8, 62), {.row_offset = 2});
  const attention method({.query = 2, .key_value = 2, .dim = 4}, scale::none{}, visible::causal{});
  const positional_card card = json::card_of(method, plainly_stated(), positions);
  CHECK(card == audit::card_of(method, plainly_stated(), json::xxh3{}, positions));
  CHECK_FALSE(card == audit::card_of(method, plainly_stated(), toy_hash{}, positions));
  CHECK(json::read_card(json::write_card(card)) == card);
}

TEST_CASE("the schema of cards and the writer have the same keys and enumerators", "[card]") {
  std::ifstream file(POSGEO_CARD_SCHEMA);
  const value root = value::parse(file);
  test::schema::compare_record<positional_card>(root, root, "$", {"schema"});
  CHECK(root.at("properties").at("schema").at("const") == json::card_schema);
  std::ifstream of_manifests(POSGEO_MANIFEST_SCHEMA);
  const value manifests = value::parse(of_manifests);
  for (const char* shared : {"identifier", "integer", "element_type", "table", "setting", "policy"}) {
    CHECK(root.at("$defs").at(shared) == manifests.at("$defs").at(shared));
  }
}

}  // namespace json_card_test
