// SPDX-License-Identifier: MIT
#include <posgeo/call/segment_memory.hpp>
#include <posgeo/json/manifest.hpp>
#include <posgeo/manifest/check.hpp>
#include <posgeo/manifest/diff.hpp>
#include <posgeo/model/attention.hpp>

#include <set>

#include "json/every_policy.hpp"
#include "support/catch.hpp"
#include "support/manifests.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace json_manifest_test {

using namespace posgeo;
using namespace posgeo::test;
using manifest::position_call_record;

constexpr heads layout{.query = 3, .key_value = 3, .dim = 4};

position_call_record record_of(const position_call& call, const std::vector<description>& method) {
  return manifest::of(call, layout, method, manifest::element_type::float32, stated_for(call), json::xxh3{});
}
/// A record with something in every field.
position_call_record full_record() {
  const std::vector<call::decode_entry> entries{
      {.committed_length = 9, .query_position = 9, .past_length = 4, .padding = 2, .sequence = 3},
      {.committed_length = 6, .query_position = 6, .past_length = 6, .padding = 0, .sequence = 1}};
  const position_call call = call::decode_step({.entries = entries, .key_rows = 8});
  auto caller = stated_for(call);
  caller.key_rows = manifest::key_rows::cache_slots({{8, 9, 3, 2, 1, 0, 30, 31}, {5, 5, 5, 5, 5, 5, 5, 7}});
  const std::vector<description> method{every_policy()[2], every_policy()[13], whole_of(visible::causal{})};
  return manifest::of(call, layout, method, manifest::element_type::float64, caller, json::xxh3{});
}

void check_round_trip(const position_call_record& record) {
  const std::string text = json::write(record);
  const position_call_record back = json::read(text);
  REQUIRE(back == record);
  REQUIRE(json::write(back) == text);
  REQUIRE(json::fingerprint(back) == json::fingerprint(record));
  REQUIRE(manifest::diff(back, record).empty());
  REQUIRE(json::value::parse(text).dump().size() > 0);  // as any other parser reads it
}

TEST_CASE("a record of every policy comes back equal", "[json]") {
  dice roll(8801);
  std::set<std::string> families;
  std::set<std::string> fingerprints;
  const position_call call = random_decode(roll);
  for (const description& policy : every_policy()) {
    CAPTURE(policy.name());
    const auto record = record_of(call, {policy});
    check_round_trip(record);
    fingerprints.insert(json::fingerprint(record));
    families.insert(std::get<std::string>(*policy.find("family")));
  }
  CHECK(fingerprints.size() == every_policy().size());
  CHECK(families == std::set<std::string>{"state_encoder", "qk_transform", "content_term", "score_bias", "value_term",
                                          "visibility", "score_scale", "softcap", "softmax_sink"});
  check_round_trip(record_of(call, every_policy()));
}

TEST_CASE("a record of every kind of call comes back equal", "[json]") {
  auto calls = random_calls(8802);
  dice roll(8803);
  for (int round = 0; round < 25; ++round) calls.push_back(random_cross(roll));
  const std::vector<index_t> streams{7, 3};
  call::segment_memory<float> memory(
      {.layer = 2, .capacity = 4, .first_position = 11, .gradient = call::memory_gradient::detached}, streams);
  const auto states = random_tensor<float, 3>({2, 5, 3}, 8804);
  memory = memory.updated({.layer = 2, .first_position = 11, .streams = streams, .states = states.view()});
  calls.push_back(
      memory.extended({.layer = 2, .first_position = 16, .streams = streams, .states = states.view()}).call);
  calls.push_back(call::prefill_chunk(1000, 33));
  std::set<call_kind> kinds;
  for (const position_call& call : calls) {
    const auto record = record_of(call, {whole_of(visible::causal{})});
    check_round_trip(record);
    kinds.insert(call.kind());
  }
  CHECK(kinds.size() == names_of(call_kind{}).size());
}

TEST_CASE("a record of a plan comes back equal", "[json]") {
  const coordinate::t5_bucket bucket(
      {.num_buckets = 8, .max_distance = 20, .direction = coordinate::bucket_direction::causal});
  const attention model{layout,
                        scale::inverse_sqrt_terms{},
                        transform::rotary(frequency::geometric({.base = 1e4, .rotary_dim = 4}),
                                          {.pairs = transform::pairing::halves, .offset = 0}),
                        content::shaw_key<double>(head_tables<double>::shared(random_table(5, 4, 8805)),
                                                  coordinate::clipped::symmetric(2)),
                        bias::t5<double>(random_table(8, 3, 8806), bucket),
                        visible::causal{},
                        visible::segments{},
                        visible::active{}};
  for (const position_call& call : random_calls(8807)) {
    if (call.kind() == call_kind::explicit_positions) continue;  // may stand too far out for exact angles
    const auto record = json::manifest_of(model.compile<double>(call), stated_for(call));
    REQUIRE(manifest::check(record).empty());
    check_round_trip(record);
  }
}

TEST_CASE("a long call with structure is written in bounded size", "[json]") {
  const auto size = [](const position_call& call) {
    return json::write(record_of(call, {whole_of(visible::causal{})})).size();
  };
  const auto few = size(call::prefill_chunk(50, 50));
  CHECK(size(call::prefill_chunk(50000, 50000)) < few + 100);
  const auto packed = [&](index_t each) {
    const std::vector<index_t> lengths(20, each);
    return size(call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart}));
  };
  CHECK(packed(5000) < packed(50) + 400);
  dice roll(8808);
  const auto anywhere = roll.row(20000, -1000000, 1000000);
  const position_call scattered = call::explicit_positions({.query = {.positions = anywhere, .rows = 20000},
                                                            .key = {.positions = anywhere, .rows = 20000},
                                                            .reuse = position_reuse::intended});
  check_round_trip(record_of(scattered, {}));
}

/// Where a JSON value has no other value inside.
void each_leaf(const json::value& value, const json::value::json_pointer& at,
               const std::function<void(const json::value::json_pointer&)>& visit) {
  if (value.is_primitive()) return visit(at);
  for (const auto& [key, inner] : value.items()) each_leaf(inner, at / key, visit);
}
/// Other values that a leaf might have.
std::vector<json::value> others(const json::value& leaf) {
  std::vector<json::value> all;
  if (leaf.is_number_integer()) {
    for (const int by : {1, -1, 3, -2}) all.emplace_back(leaf.get<index_t>() + by);
  } else if (leaf.is_number_float()) {
    all.emplace_back(leaf.get<double>() * 1.5);
  } else if (leaf.is_string()) {
    const auto& word = leaf.get_ref<const std::string&>();
    all.emplace_back(word + "x");
    if (word.size() == 32) all.emplace_back((word[0] == '0' ? "1" : "0") + word.substr(1));
    for (const auto* const name : {"padded_batch", "prefill_chunk", "encoder", "shared", "padding", "token",
                                   "row_indices", "bias", "none", "both", "true_is_hidden", "isolated", "float16"}) {
      if (word != name) all.emplace_back(name);
    }
  } else if (leaf.is_null()) {
    all.emplace_back("x");
    all.emplace_back(json::value::array({1, 2, 3, 4}));
    all.emplace_back(json::value::array());
    all.push_back({{"integer", 3}});
  }
  return all;
}

TEST_CASE("every field changed once is told by diff and by the fingerprint", "[json]") {
  const auto record = full_record();
  REQUIRE(manifest::check(record).empty());
  const json::value whole = record;
  const std::string fingerprint = json::fingerprint(record);
  std::set<std::string> changed;
  std::set<std::string> never;
  int leaves = 0;
  each_leaf(whole, json::value::json_pointer(), [&](const json::value::json_pointer& at) {
    ++leaves;
    const std::string key = at.back();
    bool told = false;
    for (const json::value& other : others(whole.at(at))) {
      json::value altered = whole;
      altered.at(at) = other;
      position_call_record second = record;
      try {
        second = json::read(altered.dump());
      } catch (const error& e) {
        REQUIRE(e.code() == errc::manifest);
        continue;
      }
      told = true;
      REQUIRE_FALSE(second == record);
      const auto differences = manifest::diff(record, second);
      REQUIRE(differences.size() == 1);
      std::string words = at.back();
      const bool setting = at.to_string().find("/settings/") != std::string::npos;
      if (setting && at.parent_pointer().back() != "settings") words = at.parent_pointer().back();
      const bool numbered = words.find_first_not_of("0123456789") == std::string::npos;
      const auto around = at.parent_pointer();
      if (numbered) words = whole.at(around).size() == 1 ? around.back() : "element " + words;
      std::replace(words.begin(), words.end(), '_', ' ');
      CAPTURE(at.to_string(), differences.front().where, words);
      if (at.to_string().find("/settings/table/") == std::string::npos) {
        REQUIRE(differences.front().where.find(words) != std::string::npos);
      }
      REQUIRE(json::fingerprint(second) != fingerprint);
    }
    (told ? changed : never).insert(key);
  });
  CHECK(leaves > 100);
  for (const std::string& key : changed) never.erase(key);
  // Whatever these say follows from the lists beside them, or is a constant.
  CHECK(never == std::set<std::string>{"schema", "storage_rows"});
}

TEST_CASE("counts change together with what they count", "[json]") {
  const auto a = record_of(call::prefill_chunk(4, 3), {});
  const auto b = record_of(call::prefill_chunk(4, 2), {});
  std::string words;
  for (const auto& one : manifest::diff(a, b)) words += one.sentence() + "\n";
  CHECK(words.find("row space, query, storage rows: 3 against 2") != std::string::npos);
  CHECK(words.find("row space, query, entry 0, active token per row, count: 3 against 2") != std::string::npos);
  CHECK(json::fingerprint(a) != json::fingerprint(b));
}

std::string complaint(const std::string& text) {
  const error thrown = refusal([&] { (void)json::read(text); });
  CHECK(thrown.code() == errc::manifest);
  return thrown.what();
}
/// The message about the full record after one change in its JSON value.
std::string after(const std::string& at, const json::value& other) {
  json::value whole = full_record();
  whole[json::value::json_pointer(at)] = other;
  return complaint(whole.dump());
}

TEST_CASE("a key that is unknown or missing is named with its path", "[json]") {
  CHECK(after("/runtime/colour", "blue") == "manifest, $.runtime.colour: expected no such key, got one");
  json::value whole = full_record();
  whole["key_space"]["entries"][1]["rows"][0].erase("first");
  CHECK(complaint(whole.dump()) == "manifest, $.key_space.entries[1].rows[0].first: expected a value, got no such key");
  CHECK(complaint("{}") == "manifest, $.schema: expected a value, got no such key");
  CHECK(complaint("[]") == "manifest, $: expected an object, got a list");
}

TEST_CASE("a value of another type or range is named with its path", "[json]") {
  CHECK(after("/schema", "numinens.position-call.v2") ==
        "manifest, $.schema: expected numinens.position-call.v1, got the text 'numinens.position-call.v2'");
  CHECK(after("/key_space/entries", 3) == "manifest, $.key_space.entries: expected a list, got 3");
  CHECK(after("/key_space/entries/1/rows/0/first", "512") ==
        "manifest, $.key_space.entries[1].rows[0].first: expected an integer of 64 bits, got the text '512'");
  CHECK(after("/key_space/entries/1/rows/0/first", 1.5) ==
        "manifest, $.key_space.entries[1].rows[0].first: expected an integer of 64 bits, got the number 1.5");
  CHECK(after("/key_space/entries/1/logical_positions/0/first", std::uint64_t{1} << 63) ==
        "manifest, $.key_space.entries[1].logical_positions[0].first: expected an integer of 64 bits, got "
        "9223372036854775808");
  CHECK(
      after("/key_space/entries/1/logical_positions/0/first", position_limit + 1) ==
      "manifest, $.key_space.entries[1].logical_positions[0].first: expected an integer less than 2^62 from zero, got "
      "4611686018427387904");
  CHECK(after("/key_space/entries/0/rows/0/first", -1) ==
        "manifest, $.key_space.entries[0].rows: expected rows of at least 0, got -1");
  CHECK(after("/request/release_id", "") ==
        "manifest, $.request.release_id: expected at least one character, got none");
  CHECK(after("/request/release_id", nullptr) == "manifest, $.request.release_id: expected a text, got null");
  CHECK(after("/visibility/polarity", "upside down") ==
        "manifest, $.visibility.polarity: expected one of true_is_visible, true_is_hidden, got the text 'upside down'");
  CHECK(after("/query_space/coordinate_frame", std::string(32, 'f')) ==
        "manifest, $.query_space.coordinate_frame: expected at most 31 characters, got 32");
  CHECK(after("/position_method/heads/query", 0) ==
        "manifest, $.position_method.heads.query: expected from 1 to 2^31, got 0");
  CHECK(after("/position_method/heads/key_value", 2) ==
        "manifest, $.position_method.heads.query: expected a multiple of key_value 2, got 3");
  CHECK(after("/cache/entries/0/committed_length", -3) ==
        "manifest, $.cache.entries[0].committed_length: expected at least 0, got -3");
  CHECK(after("/row_space/query/storage_rows", 5) ==
        "manifest, $.row_space.query.entries: expected lists of 5 rows, which is storage_rows, got one of 1");
  CHECK(after("/row_space/query/entries", json::value::array()) ==
        "manifest, $.row_space.query.entries: expected at least 1, got 0");
  const std::string t5 = "/position_method/methods/0";
  const std::string path = "manifest, $.position_method.methods[0]";
  CHECK(after(t5 + "/score_bias_shape", {1, 2, 3}) ==
        path + ".score_bias_shape: expected 4 extents of at least 0, got [1, 2, 3]");
  CHECK(after(t5 + "/policy/settings/table/table/digest", "beef") ==
        path + ".policy.settings.table.table.digest: expected 32 digits 0-9 and a-f, got the text 'beef'");
  CHECK(after(t5 + "/policy/settings/table/table/extents", {8, 0}) ==
        path + ".policy.settings.table.table.extents: expected at least 1 each, got 0");
  CHECK(after(t5 + "/policy/settings/table", {{"rows", 3}}) ==
        path + ".policy.settings.table.rows: expected a kind of setting, got another key");
  CHECK(after(t5 + "/policy/settings/table", {{"integer", 3}, {"number", 3}}) ==
        path + ".policy.settings.table: expected one key, the kind of the setting, got 2 keys");
  CHECK(after(t5 + "/policy/settings/table", {{"number", "many"}}) ==
        path + ".policy.settings.table.number: expected a number, infinity or -infinity, got the text 'many'");
  CHECK(after(t5 + "/policy/settings", {{"", nullptr}}) ==
        path + ".policy.settings: expected names of at least one character, got an empty one");
  CHECK(after(t5 + "/policy/name", "") == path + ".policy.name: expected at least one character, got none");
}

TEST_CASE("pieces that are one piece are refused", "[json]") {
  const json::value halves{{{"first", 0}, {"count", 3}, {"step", 1}}, {{"first", 3}, {"count", 5}, {"step", 1}}};
  CHECK(
      after("/key_space/entries/1/rows", halves) ==
      "manifest, $.key_space.entries[1].rows[1]: expected a piece of its own, got one that goes on as the piece before "
      "it does");
}

TEST_CASE("infinite numbers and integers of 64 bits come back", "[json]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto toy = description("toy")
                       .with("family", "score_bias")
                       .with("most", std::numeric_limits<index_t>::max())
                       .with("least", std::numeric_limits<index_t>::min())
                       .with("above", infinity)
                       .with("numbers", std::vector<double>{-infinity, 0.1, 5e-324, 1.7976931348623157e308, 1e21, -7})
                       .with("no_numbers", std::vector<double>{})
                       .with("no_integers", std::vector<index_t>{})
                       .with("no_parts", std::vector<description>{})
                       .with("text", "infinity \"\\\n\x01 \xC3\xA9");
  check_round_trip(record_of(call::decode_step(3, 3), {toy}));
}

TEST_CASE("a text that is not UTF-8 and a nesting that is too deep are not written", "[json]") {
  const auto call = call::decode_step(3, 3);
  const auto written = [&](const description& d) { return refusal([&] { (void)json::write(record_of(call, {d})); }); };
  const auto bytes = written(description("toy").with("family", "score_bias").with("text", "\xFF"));
  CHECK(bytes.code() == errc::manifest);
  CHECK(std::string(bytes.what()) == "manifest, texts: expected UTF-8, got other bytes");
  description deep = description("core");
  for (int n = 0; n < 30; ++n) deep = description("around").with("inner", deep);
  CHECK(written(description("toy").with("family", "score_bias").with("x", deep)).code() == errc::manifest);
}

TEST_CASE("the fingerprint is XXH3 of the canonical text and stays", "[json]") {
  const auto record = record_of(call::decode_step(512, 512),
                                {whole_of(bias::alibi(bias::alibi_slopes::reference(3), bias::alibi_direction::causal)),
                                 whole_of(visible::causal{})});
  CHECK(json::fingerprint(record) == json::xxh3{}(json::write(record)).text());
  CHECK(json::fingerprint(record) == "34f319a31de995bf602a3e260a577c12");
}

TEST_CASE("a record converts to a JSON value and back", "[json]") {
  const auto record = full_record();
  const json::value value = record;
  CHECK(value.at("schema") == "numinens.position-call.v1");
  CHECK(json::record_of(value) == record);
}

}  // namespace json_manifest_test
