// SPDX-License-Identifier: MIT
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

using coordinate::clipped;

/// The released linear layer `name` applied to x.
template <class T>
std::vector<T> projected(const golden_case& c, const std::string& name) {
  return linear<T>(c.values<T>("x"), c.values<T>(name + ".weight"), c.values<T>(name + ".bias"), c.shape("x")[2]);
}

/// The case's mask as pairs that may be seen: [batch * queries * keys]. A mask without a query axis is repeated.
std::vector<std::uint8_t> allowed_pairs(const golden_case& c, index_t queries, double shown) {
  const auto mask = c.values<double>("mask");
  const auto keys = static_cast<std::size_t>(c.shape("mask")[3]);
  const index_t repeats = c.shape("mask")[2] == 1 ? queries : 1;
  std::vector<std::uint8_t> allowed;
  for (std::size_t row = 0; row < mask.size(); row += keys) {
    for (index_t n = 0; n < repeats; ++n) {
      for (std::size_t j = 0; j < keys; ++j) allowed.push_back(mask[row + j] == shown ? 1 : 0);
    }
  }
  return allowed;
}

/// The tokens of a mask: the keys that the last query of each entry may see.
std::vector<std::uint8_t> tokens_of(const std::vector<std::uint8_t>& allowed, index_t batch, index_t length) {
  std::vector<std::uint8_t> tokens;
  for (index_t b = 0; b < batch; ++b) {
    const auto last_row = allowed.begin() + ((b + 1) * length - 1) * length;
    tokens.insert(tokens.end(), last_row, last_row + length);
  }
  return tokens;
}

/// A released self-attention module: its projections, its mask, and how its last rows run once more one by one.
template <class T>
struct shaw_layer {
  heads layout;
  std::vector<T> query;
  std::vector<T> key;
  std::vector<T> value;
  std::vector<std::uint8_t> allowed;
  index_t batch;
  index_t length;

  shaw_layer(const golden_case& c, const std::string& q, const std::string& k, const std::string& v, double shown)
      : layout{.query = c.integer("num_heads"), .key_value = c.integer("num_heads"), .dim = c.integer("head_dim")},
        query(projected<T>(c, q)),
        key(projected<T>(c, k)),
        value(projected<T>(c, v)),
        allowed(allowed_pairs(c, c.shape("x")[1], shown)),
        batch(c.shape("x")[0]),
        length(c.shape("x")[1]) {}

  [[nodiscard]] heads_view<const T> view(const std::vector<T>& rows) const {
    return rows_first(rows.data(), batch, length, layout.query, layout.dim);
  }
  [[nodiscard]] position_call call() const {
    return call::padded_batch({.active = tokens_of(allowed, batch, length),
                               .entries = batch,
                               .rows = length,
                               .positions = call::padded_positions::contiguous()});
  }

  /// Probabilities and merged heads of the whole layer, then the merged heads of decode steps from row `decode_from`
  /// on.
  template <class Model>
  void run(const Model& model, const std::string& output, outputs<T>& out, const std::string& decoded = {},
           index_t decode_from = 0) const {
    run(model, output, out, decoded, decode_from, [](std::vector<T> merged) { return merged; });
  }
  template <class Model, class Finish>
  void run(const Model& model, const std::string& output, outputs<T>& out, const std::string& decoded,
           index_t decode_from, const Finish& finish) const {
    const auto plan = model.template compile<T>(call());
    require_visible(plan, allowed);
    const auto full = attend(eager{}, plan, {view(query), view(key), view(value)}, also::probabilities);
    out.add("attn_probs", full.probabilities.values());
    out.add(output, finish(merged_heads(full.output)));
    if (decoded.empty()) return;
    std::vector<T> steps;
    for (index_t at = decode_from; at < length; ++at) {
      const auto step = model.template compile<T>(call::prefill_chunk(at, 1));
      const auto one =
          attend(eager{}, step,
                 {rows_from(view(query), at, 1), rows_from(view(key), 0, at + 1), rows_from(view(value), 0, at + 1)});
      const auto row = finish(merged_heads(one.output));
      steps.insert(steps.end(), row.begin(), row.end());
    }
    out.add(decoded, steps);
  }
};

/// The class of every pair of entry 0: [queries * keys].
std::vector<index_t> rows_of(const clipped& classes, const position_call& call) {
  std::vector<index_t> out;
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) out.push_back(classes(call.offset(batch_index{0}, i, j)));
  }
  return out;
}

template <class T>
void bert_relative_keys(const golden_case& c, outputs<T>& out) {
  const shaw_layer<T> self(c, "query", "key", "value", 0.0);
  const index_t most = c.integer("max_position_embeddings");
  const table<T> embedding(c.values<T>("distance_embedding.weight"), 2 * most - 1, self.layout.dim);
  const std::string decoded = c.has_output("decode_context") ? "decode_context" : "";
  const auto run_with = [&](const auto& relative) {
    const auto run_seen = [&](const auto&... see) {
      self.run(attention{self.layout, scale::inverse_sqrt_head_dim{}, see..., relative}, "context", out, decoded, 5);
    };
    c.flag("is_decoder") ? run_seen(visible::active{}, visible::causal{}) : run_seen(visible::active{});
  };
  if (c.name.find("relative_key_query") != std::string::npos) {
    run_with(content::relative_key_query<T>(embedding, most));
  } else {
    run_with(content::relative_key(embedding, most));
  }
}

/// Fixed interleaved sinusoids of the row index, for keys and values alike.
template <class T>
void nezha(const golden_case& c, outputs<T>& out) {
  const shaw_layer<T> self(c, "query", "key", "value", 0.0);
  const clipped classes = clipped::symmetric(c.integer("max_relative_position"));
  const index_t dim = self.layout.dim;
  const encode::sinusoidal row(
      {.width = dim, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper});
  std::vector<T> numbers(static_cast<std::size_t>(classes.classes() * dim));
  for (index_t r = 0; r < classes.classes(); ++r) {
    row.for_each_column(static_cast<double>(r), [&](index_t column, double value) {
      numbers[static_cast<std::size_t>(r * dim + column)] = static_cast<T>(value);
    });
  }
  const auto rows = head_tables<T>::shared(table<T>(numbers, classes.classes(), dim));
  const content::shaw_key<T> key_side(rows, classes);
  const auto call = self.call();
  const auto term = key_side.template compile<T>(call, self.layout);
  std::vector<T> all;
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) {
      const auto relation = term.row(batch_index{0}, head_index{0}, i, j);
      all.insert(all.end(), relation.begin(), relation.end());
    }
  }
  out.add("rel_table_full", all);
  self.run(attention{self.layout, scale::inverse_sqrt_head_dim{}, visible::active{}, key_side,
                     value::shaw_value<T>(rows, classes)},
           "context", out);
}

/// One learned table for keys and values.
template <class T>
void opennmt(const golden_case& c, outputs<T>& out) {
  const shaw_layer<T> self(c, "linear_query", "linear_keys", "linear_values", 0.0);
  const clipped classes = clipped::symmetric(c.integer("max_relative_positions"));
  const auto rows = head_tables<T>::shared(
      table<T>(c.values<T>("relative_positions_embeddings.weight"), classes.classes(), self.layout.dim));
  const auto finish = [&](const std::vector<T>& merged) {
    return linear<T>(merged, c.values<T>("final_linear.weight"), c.values<T>("final_linear.bias"), c.shape("x")[2]);
  };
  const auto run_seen = [&](const auto&... see) {
    const attention model{self.layout, scale::inverse_sqrt_head_dim{}, see..., content::shaw_key<T>(rows, classes),
                          value::shaw_value<T>(rows, classes)};
    self.run(model, "output", out, c.has_output("decode_output") ? "decode_output" : "", 0, finish);
  };
  c.flag("causal") ? run_seen(visible::active{}, visible::causal{}) : run_seen(visible::active{});
  out.add("relative_index", rows_of(classes, self.call()));
  out.add("relative_index_cache", rows_of(classes, call::prefill_chunk(self.length - 1, 1)));
}

/// Separate tables, and queries that come scaled; the queries are the last of the keys.
template <class T>
void tensor2tensor_relations(const golden_case& c, outputs<T>& out) {
  const clipped classes = clipped::symmetric(c.integer("max_relative_position"));
  const auto& shape = c.shape("q");
  const index_t keys = c.integer("k_len");
  const heads layout{.query = shape[1], .key_value = shape[1], .dim = shape[3]};
  const auto q = c.values<T>("q");
  const auto k = c.values<T>("k");
  const auto v = c.values<T>("v");
  const auto view = [&](const std::vector<T>& numbers, index_t rows) {
    return heads_first(numbers.data(), shape[0], layout.query, rows, layout.dim);
  };
  const qkv<T> in{view(q, shape[2]), view(k, keys), view(v, keys)};
  const auto rows = [&](const char* name) {
    return head_tables<T>::shared(table<T>(c.values<T>(name), classes.classes(), layout.dim));
  };
  const content::shaw_key<T> key_side(rows("rel_key_table"), classes);
  const value::shaw_value<T> value_side(rows("rel_value_table"), classes);
  std::vector<call::prefill_entry> entries;
  for (index_t b = 0; b < shape[0]; ++b) {
    const index_t past = keys - shape[2];
    entries.push_back(
        {.committed_length = past, .first_position = past, .length = shape[2], .past_length = past, .sequence = b});
  }
  const auto call = call::prefill_chunk({.entries = entries, .query_rows = shape[2], .key_rows = keys});

  const attention open{layout, scale::none{}, visible::everything{}, key_side, value_side};
  const auto unmasked = attend(eager{}, open.template compile<T>(call), in, also::scores);
  out.add("logits", unmasked.scores.values());
  const attention model{layout, scale::none{}, visible::causal{}, key_side, value_side};
  const auto plan = model.template compile<T>(call);
  std::vector<std::uint8_t> allowed;
  for (index_t b = 0; b < shape[0]; ++b) {
    for (const T added : c.values<T>("bias")) allowed.push_back(added == T{0});
  }
  require_visible(plan, allowed);
  const auto result = attend(eager{}, plan, in, also::probabilities);
  out.add("weights", result.probabilities.values());
  out.add("output", result.output.values());
  out.add("relative_index", rows_of(classes, call));
  out.add("relative_index_cache", rows_of(classes, call::prefill_chunk(keys - 1, 1)));
}

template <class T>
outputs<T> relations(const golden_case& c) {
  outputs<T> out;
  if (c.has_input("distance_embedding.weight")) {
    bert_relative_keys(c, out);
  } else if (c.has_input("rel_key_table")) {
    tensor2tensor_relations(c, out);
  } else if (c.has_input("relative_positions_embeddings.weight")) {
    opennmt(c, out);
  } else {
    nezha(c, out);
  }
  return out;
}

}  // namespace

mechanism shaw() { return {"shaw", relations<double>, relations<float>}; }

}  // namespace posgeo::golden
