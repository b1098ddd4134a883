// SPDX-License-Identifier: MIT
#include <posgeo/contract/convert/convert.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/checkpoints.hpp"
#include "support/refusal.hpp"

namespace convert_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;
using coordinate::beyond_ends;

/// T5's table under its usual name, to be turned to [heads, buckets].
conversion_request t5_request() {
  auto target = t5_checkpoint();
  target.layout = table_layout::heads_by_buckets;
  target.revision = source_revision("target 1");
  return {.source = t5_checkpoint(),
          .target = target,
          .tensors = {{"relative_attention_bias.weight", random_stored({12, 3}, 41)}},
          .roles = {{"relative_attention_bias.weight", "table"}},
          .names = {{"table", "rel_embedding"}}};
}

conversion_request rotary_request() {
  auto target = rotary_checkpoint();
  target.rotary = rotary_layout{.pairs = transform::pairing::halves, .rotary_dim = 6};
  return {.source = rotary_checkpoint(),
          .target = target,
          .tensors = {{"layers.0.queries.weight", random_stored({42, 5}, 42)},
                      {"layers.0.keys.weight", random_stored({14, 5}, 43)}},
          .roles = {}};
}

/// The refusal of a request after a change.
template <class Change>
error refused(conversion_request request, const Change& change) {
  change(request);
  return refusal([&] { return convert(request); });
}
template <class Change>
void refused(const conversion_request& request, const Change& change, errc code, const std::string& part) {
  const error e = refused(request, change);
  CAPTURE(e.what());
  CHECK(e.code() == code);
  CHECK(std::string(e.what()).find(part) != std::string::npos);
}

TEST_CASE("a conversion gives the named tensors what became of the others and a proof", "[conversion]") {
  auto request = t5_request();
  request.tensors["optimizer.step"] = {.extents = {}, .values = {5.0}};
  request.set_aside = {"optimizer.step"};
  const auto result = convert(request);
  CHECK(result.contract == request.target);
  REQUIRE(result.tensors.size() == 1);
  CHECK(result.tensors.at("rel_embedding").extents == std::vector<index_t>{3, 12});
  CHECK(result.report.loaded == std::vector<std::string>{"table"});
  CHECK(result.report.unexpected.empty());
  REQUIRE(result.proofs.size() == 1);
  CHECK(result.proofs[0].identities.size() == 1);
  CHECK(result.proofs[0].largest_difference == 0.0);
}

TEST_CASE("a conversion to the same contract returns the same tensors", "[conversion]") {
  auto request = t5_request();
  request.target = request.source;
  request.names = {};
  const auto result = convert(request);
  CHECK(result.tensors.at("table") == request.tensors.begin()->second);
  CHECK(result.proofs[0].identities.empty());
  CHECK(result.proofs[0].compared > 0);
}

TEST_CASE("every tensor of a checkpoint has a role or is set aside", "[conversion]") {
  const auto request = t5_request();
  refused(
      request, [](auto& r) { r.tensors["other"] = random_stored({2}, 44); }, errc::conversion, "tensor other");
  refused(
      request, [](auto& r) { r.set_aside = {"other"}; }, errc::conversion, "name other set aside");
  refused(
      request, [](auto& r) { r.set_aside = {"relative_attention_bias.weight"}; }, errc::conversion, "set aside");
  refused(
      request, [](auto& r) { r.roles = {}; }, errc::checkpoint_tensors, "tensor table");
  refused(
      request, [](auto& r) { r.roles["other"] = "table"; }, errc::checkpoint_tensors, "other");
  refused(
      request,
      [](auto& r) {
        r.tensors.begin()->second = random_stored({3, 12}, 45);
      },
      errc::checkpoint_tensors, "tensor table");
  refused(
      request, [](auto& r) { r.tensors.begin()->second.values.pop_back(); }, errc::shape_mismatch, "values of");
  refused(
      request, [](auto& r) { r.names["tables"] = "x"; }, errc::conversion, "name for tables");
  refused(
      request, [](auto& r) { r.tensors.begin()->second.values[7] = std::numeric_limits<double>::quiet_NaN(); },
      errc::non_finite, "value 7 of table");
}

TEST_CASE("two converted tensors need two names", "[conversion]") {
  refused(
      rotary_request(),
      [](auto& r) {
        r.names = {{"layers.0.queries.weight", "w"}, {"layers.0.keys.weight", "w"}};
      },
      errc::conversion, "name w");
}

TEST_CASE("contracts that contradict themselves are refused before a tensor is read", "[conversion]") {
  refused(
      t5_request(), [](auto& r) { r.source.rows = 13; }, errc::checkpoint_contract, "rows");
  refused(
      t5_request(),
      [](auto& r) {
        r.target.order = head_order({0, 0, 1});
      },
      errc::checkpoint_contract, "order");
}

/// Contracts that differ from the source in one field that no step converts, by the field.
TEST_CASE("contracts that no steps link are refused and the field named", "[conversion]") {
  const auto field = [](const conversion_request& request, const std::string& name, const auto& change) {
    refused(request, change, errc::conversion, "conversion, " + name + ": ");
  };
  const auto t5 = t5_request();
  field(t5, "family", [](auto& r) {
    r.target.family = checkpoint_family::learned_relative;
    r.target.rule = clip_rule{.behind = 5, .ahead = 6, .beyond = coordinate::beyond_ends::clipped};
  });
  field(t5, "heads", [](auto& r) { r.target.heads.dim = 4; });
  field(t5, "rule", [](auto& r) {
    r.target.rule =
        t5_rule{{.num_buckets = 12, .max_distance = 51, .direction = coordinate::bucket_direction::bidirectional}};
  });
  field(t5, "scale_factor", [](auto& r) { r.target.scale_factor = 1; });
  field(t5, "layers", [](auto& r) { r.target.layers.layers = 5; });
  field(t5, "family", [](auto& r) {
    r.source.family = checkpoint_family::tupe;
    r.target.family = checkpoint_family::tupe;
  });
  conversion_request learned{.source = learned_checkpoint(),
                             .target = learned_checkpoint(),
                             .tensors = {{"table", random_stored({11, 6}, 46)}},
                             .roles = {}};
  field(learned, "rows", [](auto& r) { r.target.rows = 12; });
  field(learned, "padding_row", [](auto& r) { r.target.padding_row = 1; });
  field(learned, "layout", [](auto& r) {
    r.target.family = checkpoint_family::sinusoidal;
    r.target.layout = table_layout::interleaved;
  });
  field(rotary_request(), "rotary",
        [](auto& r) { r.target.rotary = rotary_layout{.pairs = transform::pairing::halves, .rotary_dim = 4}; });
}

/// The standard steps with one more in front.
std::vector<conversion_step> with(conversion_step first) {
  auto steps = conversion_steps();
  steps.insert(steps.begin(), std::move(first));
  return steps;
}

/// Expects that the proof refuses what a step made.
void caught(const conversion_request& request, const std::vector<conversion_step>& steps) {
  const error e = refusal([&] { return convert(request, steps); });
  CAPTURE(e.what());
  CHECK(e.code() == errc::conversion);
  CHECK(std::string(e.what()).starts_with("conversion, proof: expected scores that differ by at most "));
}

TEST_CASE("a step that permutes wrongly is refused by its proof", "[conversion]") {
  const auto swapped = [](std::string role, std::size_t a, std::size_t b) {
    return [=](conversion_state& state, const checkpoint_contract&) {
      std::swap(state.tensors.at(role).values[a], state.tensors.at(role).values[b]);
    };
  };
  CHECK_NOTHROW(convert(t5_request(), with([](conversion_state&, const checkpoint_contract&) {})));
  caught(t5_request(), with(swapped("table", 4, 7)));
  caught(t5_request(), with(swapped("table", 0, 35)));
  caught(rotary_request(), with(swapped("queries.weight", 3, 8)));
  caught(rotary_request(), with(swapped("keys.weight", 60, 65)));
}

TEST_CASE("a step that only says that it converted is refused by its proof", "[conversion]") {
  const auto claims = [](conversion_state& state, const checkpoint_contract& target) { state.contract = target; };
  caught(rotary_request(), {claims});
  auto sign = t5_request();
  sign.names = {};
  sign.target = sign.source;
  sign.target.sign = offset_sign::query_minus_key;
  caught(sign, {claims});
  sign.target = sign.source;
  sign.target.order = head_order({1, 0, 2});
  caught(sign, {claims});
  conversion_request columns{.source = sinusoid_checkpoint(),
                             .target = sinusoid_checkpoint(),
                             .tensors = {{"table", random_stored({11, 8}, 47)}},
                             .roles = {}};
  columns.target.layout = table_layout::concatenated;
  caught(columns, {claims});
  conversion_request rows{.source = learned_checkpoint(),
                          .target = learned_checkpoint(),
                          .tensors = {{"table", random_stored({11, 6}, 48)}},
                          .roles = {}};
  rows.target.row_offset = 1;
  caught(rows, {claims});
  rows.target = rows.source;
  rows.source.padding_row = 0;
  rows.target.padding_row = 1;
  caught(rows, {claims});
}

TEST_CASE("a step that moves queries alone or turns the pairs the other way is refused", "[conversion]") {
  caught(rotary_request(), {[](conversion_state& state, const checkpoint_contract& target) {
           const auto keys = state.tensors.at("keys.weight");
           convert_rotary_pairs(state, target);
           state.tensors["keys.weight"] = keys;
         }});
  caught(rotary_request(), {[](conversion_state& state, const checkpoint_contract& target) {
           auto backwards = target;
           std::swap(backwards.rotary, state.contract.rotary);
           convert_rotary_pairs(state, backwards);
           state.contract.rotary = target.rotary;
         }});
}

TEST_CASE("a wrong value row is seen although no score reads it", "[conversion]") {
  conversion_request request{
      .source = shaw_checkpoint(),
      .target = shaw_checkpoint(),
      .tensors = {{"key_table", random_stored({7, 5}, 49)}, {"value_table", random_stored({7, 5}, 50)}},
      .roles = {}};
  caught(request, {[](conversion_state& state, const checkpoint_contract&) {
           std::swap(state.tensors.at("value_table").values[3], state.tensors.at("value_table").values[28]);
         }});
}

TEST_CASE("a claim of another order of sums allows rounding and no more", "[conversion]") {
  caught(rotary_request(), with([](conversion_state& state, const checkpoint_contract&) {
           state.tensors.at("queries.weight").values[11] += 1e-7;
           state.arithmetic = step_arithmetic::other_order;
         }));
}

TEST_CASE("a wrong row is seen wherever it stands in a long table", "[conversion]") {
  auto shaw = shaw_checkpoint();
  shaw.family = checkpoint_family::shaw_key;
  shaw.heads = {.query = 1, .key_value = 1, .dim = 1};
  shaw.order = head_order::natural(1);
  auto learned = learned_checkpoint();
  auto buckets = t5_checkpoint();
  const auto spoiled = [](const std::string& role, index_t row) {
    return [role, row](conversion_state& state, const checkpoint_contract&) {
      stored_tensor& table = state.tensors.at(role);
      table.values[static_cast<std::size_t>(row * table.extents[1])] += 1.0;
    };
  };
  for (const index_t row : {index_t{0}, index_t{57}, index_t{703}, index_t{1403}, index_t{5000}}) {
    shaw.rows = 5001;
    shaw.rule = clip_rule{.behind = 4988, .ahead = 12, .beyond = beyond_ends::clipped};
    caught({.source = shaw, .target = shaw, .tensors = {{"key_table", random_stored({5001, 1}, 51)}}, .roles = {}},
           {spoiled("key_table", row)});
    learned.rows = 5003;
    caught({.source = learned, .target = learned, .tensors = {{"table", random_stored({5003, 2}, 52)}}, .roles = {}},
           {spoiled("table", row + 2)});
  }
  buckets.rows = 8000;
  buckets.rule =
      t5_rule{{.num_buckets = 8000, .max_distance = 8000, .direction = coordinate::bucket_direction::causal}};
  for (const index_t row : {index_t{0}, index_t{7001}, index_t{7902}, index_t{7999}}) {
    caught({.source = buckets, .target = buckets, .tensors = {{"table", random_stored({8000, 3}, 54)}}, .roles = {}},
           {spoiled("table", row)});
  }
}

TEST_CASE("rows of keys ahead cannot be lost to a rule that looks back", "[conversion]") {
  auto source = shaw_checkpoint();
  source.family = checkpoint_family::shaw_key;
  auto target = source;
  target.rule = clip_rule{.behind = 3, .ahead = 0, .beyond = beyond_ends::clipped};
  target.rows = 4;
  const auto cut = [](conversion_state& state, const checkpoint_contract& wanted) {
    convert_detail::take_rows(state, {0, 1, 2, 3});
    state.contract.rule = wanted.rule;
  };
  stored_tensor table = random_stored({7, 5}, 55);
  caught({.source = source, .target = target, .tensors = {{"key_table", table}}, .roles = {}}, {cut});
  for (std::size_t n = 0; n < 15; ++n) table.values[20 + n] = table.values[15 + n % 5];
  CHECK_NOTHROW(convert({.source = source, .target = target, .tensors = {{"key_table", table}}, .roles = {}}));
}

TEST_CASE("numbers too large for a proof are no proof", "[conversion]") {
  const auto claims = [](conversion_state& state, const checkpoint_contract& target) {
    state.contract = target;
    state.arithmetic = step_arithmetic::other_order;
  };
  auto request = rotary_request();
  for (auto& [name, tensor] : request.tensors) {
    for (double& value : tensor.values) value *= 1e160;
  }
  const error in_double = refusal([&] { return convert(request, {claims}); });
  CHECK(in_double.code() == errc::conversion);
  CHECK(std::string(in_double.what()).starts_with("conversion, proof: expected scores that its type can hold"));
  request = rotary_request();
  for (auto& [name, tensor] : request.tensors) {
    for (double& value : tensor.values) value *= 1e39;
  }
  CHECK(refusal([&] { return convert<float>(request, {claims}); }).code() == errc::conversion);
}

TEST_CASE("a row offset that the rows do not follow is refused before a table is made", "[conversion]") {
  conversion_request request{.source = learned_checkpoint(),
                             .target = learned_checkpoint(),
                             .tensors = {{"table", random_stored({11, 6}, 56)}},
                             .roles = {}};
  request.target.row_offset = index_t{1} << 31;
  request.target.rows = index_t{1} << 32;
  refused(
      request, [](auto&) {}, errc::conversion, "row_offset");
  refused(
      request, [](auto& r) { r.target.rows = (index_t{1} << 32) + 1; }, errc::checkpoint_contract, "rows");
}

TEST_CASE("a step that leaves tensors of other extents is refused", "[conversion]") {
  const auto request = t5_request();
  const auto refuse = [&](const conversion_step& step, const std::string& part) {
    const error e = refusal([&] { return convert(request, {step, convert_bucket_axes}); });
    CHECK(e.code() == errc::conversion);
    CHECK(std::string(e.what()).find(part) != std::string::npos);
  };
  refuse(
      [](conversion_state& state, const checkpoint_contract&) {
        state.tensors["table"] = random_stored({11, 3}, 51);
      },
      "extents of table");
  refuse(
      [](conversion_state& state, const checkpoint_contract& target) {
        state.contract.layout = target.layout;
        state.tensors.clear();
      },
      "tensor table");
}

TEST_CASE("tensors of one layer are copied to all and back only if the layers agree", "[conversion]") {
  auto request = t5_request();
  request.names = {};
  request.target.layers.owner = tensor_owner::every_layer;
  const auto result = convert(request);
  REQUIRE(result.tensors.size() == 4);
  CHECK(result.tensors.at("layers.3.table") == result.tensors.at("layers.0.table"));
  CHECK(result.proofs.size() == 1);

  conversion_request back{.source = request.target, .target = request.source, .tensors = result.tensors, .roles = {}};
  const auto again = convert(back);
  CHECK(again.tensors.at("table") == request.tensors.begin()->second);
  CHECK(again.proofs.size() == 4);
  CHECK(again.report.loaded.size() == 4);
  back.tensors.at("layers.2.table").values[5] += 0.25;
  refused(
      back, [](auto&) {}, errc::conversion, "conversion, layers: ");
  back.tensors.erase("layers.2.table");
  refused(
      back, [](auto&) {}, errc::checkpoint_tensors, "layers.2.table");
}

TEST_CASE("proofs hold for every seed and in float within its rounding", "[conversion]") {
  auto request = rotary_request();
  double before = -1.0;
  for (const std::uint64_t seed : {2U, 3U, 5U, 8U}) {
    request.seed = seed;
    const auto proof = convert(request).proofs.front();
    CHECK(proof.largest_difference <= proof.bound);
    CHECK(proof.bound != before);  // other numbers
    before = proof.bound;
  }
  CHECK(convert<float>(request).proofs.front().bound > 1e7 * before);
}

}  // namespace convert_test
