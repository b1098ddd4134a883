// SPDX-License-Identifier: MIT
#include <posgeo/contract/convert/convert.hpp>

#include <algorithm>
#include <set>

#include "golden/golden_case.hpp"
#include "golden/safetensors.hpp"
#include "support/catch.hpp"

namespace golden_conversions_test {

using namespace posgeo;
using namespace posgeo::contract;
using coordinate::beyond_ends;
using golden::golden_case;

const std::filesystem::path data = POSGEO_GOLDEN_DATA;

/// Every case whose name begins so.
std::vector<golden_case> cases(const std::string& start) {
  std::vector<golden_case> all;
  for (const auto& entry : golden::list_cases(data)) {
    if (entry.name.starts_with(start)) all.push_back(golden::read_case(data, entry));
  }
  REQUIRE_FALSE(all.empty());
  return all;
}

stored_tensor stored(const golden_case& c, const std::string& name) {
  return {.extents = c.shape(name), .values = c.values<double>(name)};
}

/// Of one layer without tables, rotations or offsets, for the cases to change.
checkpoint_contract of_heads(checkpoint_family family, const golden_case& c) {
  const index_t heads = c.integer("num_heads");
  const index_t key_value = c.has("num_kv_heads") ? c.integer("num_kv_heads") : heads;
  const index_t dim = c.has("head_dim") ? c.integer("head_dim") : c.has("d_kv") ? c.integer("d_kv") : 4;
  return {.family = family,
          .revision = source_revision(c.name),
          .layout = none,
          .rows = none,
          .heads = {.query = heads, .key_value = key_value, .dim = dim},
          .order = head_order::natural(heads),
          .sign = none,
          .rule = none,
          .scale_factor = 1,
          .cls = none,
          .layers = {.owner = tensor_owner::model, .layers = 1},
          .row_offset = 0,
          .padding_row = none,
          .rotary = none};
}

/// Heads from the last to the first: groups stay together.
head_order reversed(const checkpoint_contract& c) {
  auto heads = c.order.heads();
  std::reverse(heads.begin(), heads.end());
  return head_order(heads);
}

/// Converts there and, if there is a way, back, with so many steps; the proofs must hold.
conversion there(const checkpoint_contract& source, const checkpoint_contract& target, const named_tensors& tensors,
                 std::size_t steps) {
  const auto result = convert({.source = source, .target = target, .tensors = tensors, .roles = {}, .seed = 7});
  REQUIRE(result.proofs.size() == 1);
  CHECK(result.proofs.front().identities.size() == steps);
  CHECK(result.proofs.front().compared > 0);
  CHECK(result.proofs.front().largest_difference <= result.proofs.front().bound);
  CHECK(result.proofs.front().bound < 1e-8);
  return result;
}
void there_and_back(const checkpoint_contract& source, const checkpoint_contract& target, const named_tensors& tensors,
                    std::size_t steps) {
  CAPTURE(source.revision.text());
  const auto result = there(source, target, tensors, steps);
  CHECK_FALSE(result.tensors == tensors);
  CHECK(there(target, source, result.tensors, steps).tensors == tensors);
}

void t5(const golden_case& c, const std::string& table, bool bidirectional) {
  auto source = of_heads(checkpoint_family::t5, c);
  source.layout = table_layout::buckets_by_heads;
  source.rows = c.integer("num_buckets");
  source.sign = offset_sign::key_minus_query;
  source.rule = t5_rule{{.num_buckets = c.integer("num_buckets"),
                         .max_distance = c.integer("max_distance"),
                         .direction = bidirectional ? coordinate::bucket_direction::bidirectional
                                                    : coordinate::bucket_direction::causal}};
  auto target = source;
  target.layout = table_layout::heads_by_buckets;
  target.order = reversed(source);
  if (bidirectional) target.sign = offset_sign::query_minus_key;
  there_and_back(source, target, {{"table", stored(c, table)}}, bidirectional ? 3 : 2);
}

TEST_CASE("proofs hold on the golden bucket tables", "[golden]") {
  for (const auto& c : cases("t5_attention_")) t5(c, "relative_attention_bias.weight", !c.flag("is_decoder"));
  for (const auto& c : cases("attention_t5_")) t5(c, "bias_table", c.flag("bidirectional"));
  for (const auto& c : cases("grad_t5_bias_")) t5(c, "bias_table", false);
}

/// Shared tables of the paper's classes, as copies for each head that count the other way and reach one row farther.
void shaw(const golden_case& c, index_t reach, const named_tensors& tensors) {
  auto source = of_heads(tensors.size() == 2 ? checkpoint_family::shaw_key_value : checkpoint_family::shaw_key, c);
  source.heads.dim = tensors.begin()->second.extents[1];
  source.layout = table_layout::shared_rows;
  source.rows = 2 * reach + 1;
  source.sign = offset_sign::key_minus_query;
  source.rule = clip_rule{.behind = reach, .ahead = reach, .beyond = beyond_ends::clipped};
  auto target = source;
  target.order = reversed(source);
  target.layout = table_layout::rows_per_head;
  target.sign = offset_sign::query_minus_key;
  target.rows = 2 * reach + 3;
  target.rule = clip_rule{.behind = reach + 2, .ahead = reach, .beyond = beyond_ends::clipped};
  there_and_back(source, target, tensors, 4);
}

TEST_CASE("proofs hold on the golden tables of Shaw", "[golden]") {
  for (const char* const name : {"shaw_t2t_", "grad_shaw_kv_"}) {
    for (const auto& c : cases(name)) {
      shaw(c, c.integer("max_relative_position"),
           {{"key_table", stored(c, "rel_key_table")}, {"value_table", stored(c, "rel_value_table")}});
    }
  }
  for (const auto& c : cases("shaw_opennmt_")) {
    const auto table = stored(c, "relative_positions_embeddings.weight");
    shaw(c, c.integer("max_relative_positions"), {{"key_table", table}, {"value_table", table}});
  }
}

TEST_CASE("proofs hold on the golden tables of relative keys", "[golden]") {
  for (const char* const name : {"shaw_bert_relative_key_", "grad_bert_relative_key_"}) {
    for (const auto& c : cases(name)) {
      const index_t reach = c.integer("max_position_embeddings") - 1;
      auto source = of_heads(checkpoint_family::shaw_key, c);
      source.layout = table_layout::shared_rows;
      source.rows = 2 * reach + 1;
      source.sign = offset_sign::query_minus_key;
      source.rule = clip_rule{.behind = reach, .ahead = reach, .beyond = beyond_ends::refused};
      auto target = source;
      target.sign = offset_sign::key_minus_query;
      target.layout = table_layout::rows_per_head;
      there_and_back(source, target, {{"key_table", stored(c, "distance_embedding.weight")}}, 2);
    }
  }
}

checkpoint_contract deberta(const golden_case& c, checkpoint_family family, index_t terms) {
  auto source = of_heads(family, c);
  const index_t most = c.integer("max_relative_positions");
  const index_t buckets = static_cast<index_t>(c.number_or("position_buckets", -1.0));
  source.layout = table_layout::rows_by_width;
  source.rows = c.shape("rel_embeddings")[0];
  source.sign = offset_sign::query_minus_key;
  source.scale_factor = 1 + terms;
  if (buckets > 0) {
    source.rule = span_rule{
        .span = buckets,
        .buckets = log_rule{
            {.num_buckets = buckets, .max_position = most, .beyond = coordinate::beyond_max_position::clamped}}};
  } else {
    source.rule = span_rule{.span = most, .buckets = none};
  }
  return source;
}

TEST_CASE("proofs hold on the golden relative tables and projections of DeBERTa", "[golden]") {
  std::size_t as_shaw = 0;
  for (const char* const name : {"deberta_official_", "deberta_hf_v1"}) {
    for (const auto& c : cases(name)) {
      const bool both = c.name != "deberta_official_c2p_only";
      const bool own = c.has_input("pos_key_proj.weight");
      const bool early = c.has_input("pos_proj.weight");
      const std::string keys = own ? "pos_key_proj" : early ? "pos_proj" : "key_proj";
      const std::string queries = own ? "pos_query_proj" : early ? "pos_q_proj" : "query_proj";
      named_tensors tensors{{"table", stored(c, "rel_embeddings")}};
      const auto take = [&](const std::string& role, const std::string& projection) {
        for (const char* const part : {".weight", ".bias"}) {
          if (c.has_input(projection + part)) tensors[role + part] = stored(c, projection + part);
        }
      };
      take("position_keys", keys);
      if (both) take("position_queries", queries);
      const auto source =
          deberta(c, both ? checkpoint_family::deberta_c2p_p2c : checkpoint_family::deberta_c2p, both ? 2 : 1);
      auto moved = source;
      moved.order = reversed(source);
      there_and_back(source, moved, tensors, 1);
      moved.layout = table_layout::rows_per_head;
      (void)there(source, moved, tensors, 2);

      if (!source.rule.value() || std::get<span_rule>(*source.rule.value()).buckets.value()) continue;
      tensors.erase("position_queries.weight");
      tensors.erase("position_queries.bias");
      const auto keys_only = deberta(c, checkpoint_family::deberta_c2p, 1);
      auto shaw = keys_only;
      const index_t span = *keys_only.rows.value() / 2;
      shaw.family = checkpoint_family::shaw_key;
      shaw.layout = table_layout::rows_per_head;
      shaw.sign = offset_sign::key_minus_query;
      shaw.rows = 2 * span + 1;
      shaw.rule = clip_rule{.behind = span, .ahead = span, .beyond = beyond_ends::clipped};
      const auto as_keys = there(keys_only, shaw, tensors, 4);
      auto back = keys_only;
      back.layout = table_layout::rows_per_head;
      (void)there(shaw, back, as_keys.tensors, 3);
      ++as_shaw;
    }
  }
  CHECK(as_shaw == 4);
}

/// A table of position rows that every layer uses: row p is position p.
checkpoint_contract of_positions(checkpoint_family family, const std::string& name, table_layout layout, index_t rows) {
  return {.family = family,
          .revision = source_revision(name),
          .layout = layout,
          .rows = rows,
          .heads = {.query = 2, .key_value = 2, .dim = 4},
          .order = head_order::natural(2),
          .sign = none,
          .rule = none,
          .scale_factor = 1,
          .cls = none,
          .layers = {.owner = tensor_owner::model, .layers = 1},
          .row_offset = 0,
          .padding_row = none,
          .rotary = none};
}

TEST_CASE("proofs hold on the golden position tables", "[golden]") {
  for (const auto& c : cases("learned_")) {
    auto source = of_positions(checkpoint_family::learned_absolute, c.name, table_layout::rows_by_width,
                               c.integer("max_position_embeddings"));
    auto target = source;
    if (c.has("padding_idx")) {
      source.row_offset = c.integer("padding_idx") + 1;
      source.padding_row = c.integer("padding_idx");
      target.row_offset = source.row_offset + 3;
      target.padding_row = *source.padding_row.value() + 3;
    } else {
      target.row_offset = 3;
    }
    target.rows = *source.rows.value() + 3;
    const named_tensors tensors{{"table", stored(c, "position_embeddings.weight")}};
    const auto result = there(source, target, tensors, 1);
    const auto again = there(target, source, result.tensors, 1).tensors.at("table");
    // Rows that nobody reads come back as zeros.
    const auto unread = static_cast<std::ptrdiff_t>(source.padding_row.value().value_or(0) * again.extents[1]);
    CHECK(std::equal(again.values.begin() + unread, again.values.end(), tensors.at("table").values.begin() + unread));
  }
}

TEST_CASE("proofs hold on the golden sinusoids", "[golden]") {
  std::size_t tables = 0;
  for (const auto& c : cases("sinusoidal_")) {
    const auto file = golden::read_safetensors(data / (c.name + ".safetensors"));
    const bool interleaved = c.convention("layout").starts_with("interleaved");
    for (const auto& [name, tensor] : file) {
      const bool rows = name.starts_with("pe_") || name == "signal" || name == "table_rows" || name == "embeddings";
      const index_t width = tensor.shape.back();
      if (!rows || width % 2 != 0) continue;
      const auto count = static_cast<index_t>(tensor.values.size()) / width;
      const auto source = of_positions(checkpoint_family::sinusoidal, c.name,
                                       interleaved ? table_layout::interleaved : table_layout::concatenated, count);
      auto target = source;
      target.layout = interleaved ? table_layout::concatenated : table_layout::interleaved;
      CAPTURE(c.name, name);
      const named_tensors tensors{{"table", {.extents = {count, width}, .values = tensor.values}}};
      const auto result = there(source, target, tensors, 1);
      CHECK(there(target, source, result.tensors, 1).tensors == tensors);
      ++tables;
    }
  }
  CHECK(tables >= 10);
}

/// Pairs and places of heads, there and back.
void rotary(const golden_case& c, index_t rotary_dim, const named_tensors& tensors) {
  auto source = of_heads(checkpoint_family::rotary, c);
  source.rotary = rotary_layout{.pairs = transform::pairing::halves, .rotary_dim = rotary_dim};
  auto target = source;
  target.rotary = rotary_layout{.pairs = transform::pairing::adjacent, .rotary_dim = rotary_dim};
  target.order = reversed(source);
  there_and_back(source, target, tensors, 2);
}

TEST_CASE("proofs hold on the golden rotary projections", "[golden]") {
  for (const auto& c : cases("composed_llama_")) {
    rotary(c, c.integer("head_dim"),
           {{"queries.weight", stored(c, "q_proj.weight")}, {"keys.weight", stored(c, "k_proj.weight")}});
  }
  for (const auto& c : cases("rope_neox_partial_")) {
    const index_t dim = c.integer("head_dim");
    const auto rows_of = [&](const std::string& part, index_t which) {
      const auto fused = stored(c, "query_key_value" + part);  // of each head: query, key and value rows
      std::vector<index_t> order;
      for (index_t h = 0; h < c.integer("num_heads"); ++h) {
        for (index_t d = 0; d < dim; ++d) order.push_back((3 * h + which) * dim + d);
      }
      return convert_detail::gathered(fused, 0, order);
    };
    rotary(c, c.integer("rotary_dim"),
           {{"queries.weight", rows_of(".weight", 0)},
            {"queries.bias", rows_of(".bias", 0)},
            {"keys.weight", rows_of(".weight", 1)},
            {"keys.bias", rows_of(".bias", 1)}});
  }
}

}  // namespace golden_conversions_test
