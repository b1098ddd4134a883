// SPDX-License-Identifier: MIT
#include <posgeo/bias/t5.hpp>
#include <posgeo/coordinate/t5_bucket.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/causal.hpp>

#include <map>
#include <regex>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

using coordinate::bucket_direction;
using coordinate::odd_buckets;

/// Buckets by offset.
using column = std::map<index_t, index_t>;

/// Changes one implementation's column into another's where a note "first_vs_second differs at [offset,first,second]:
/// [[-30, 27, 26], ...]" says that they differ; without such a note they are equal.
column changed(column buckets, const golden_case& c, const std::string& note_title, std::size_t from, std::size_t to) {
  static const std::regex triple(R"(\[(-?\d+), (\d+), (\d+)\])");
  for (const std::string& note : c.notes) {
    if (!note.starts_with(note_title + " differs at ")) continue;
    for (std::sregex_iterator at(note.begin(), note.end(), triple), end; at != end; ++at) {
      index_t& bucket = buckets.at(std::stoll((*at)[1]));
      if (bucket != std::stoll((*at)[from])) throw std::runtime_error("the buckets are not those of the note: " + note);
      bucket = std::stoll((*at)[to]);
    }
  }
  return buckets;
}

template <class T>
outputs<T> buckets(const golden_case& c) {
  const coordinate::t5_bucket bucket(
      {.num_buckets = c.integer("num_buckets"),
       .max_distance = c.integer("max_distance"),
       .direction = c.flag("bidirectional") ? bucket_direction::bidirectional : bucket_direction::causal,
       .odd = odd_buckets::last_unused});
  const auto offsets = c.values<index_t>("relative_position");
  column exact;
  for (const index_t offset : offsets) exact[offset] = bucket(relative_offset{offset});
  const column hf = changed(exact, c, "exact_vs_hf", 2, 3);
  outputs<T> out;
  const auto add = [&](const char* name, const column& buckets) {
    std::vector<index_t> values;
    for (const index_t offset : offsets) values.push_back(buckets.at(offset));
    out.add(name, values);
  };
  add("bucket_exact", exact);
  add("bucket_hf", hf);
  add("bucket_t5x", changed(hf, c, "t5x_vs_hf", 3, 2));
  add("bucket_float64", changed(hf, c, "float64_vs_hf", 3, 2));
  return out;
}

/// T5Attention of the released models: no scale, a bias of each bucket and head.
template <class T>
outputs<T> layers(const golden_case& c) {
  const index_t batch = c.shape("x")[0];
  const index_t length = c.shape("x")[1];
  const index_t width = c.integer("d_model");
  const heads layout{.query = c.integer("num_heads"), .key_value = c.integer("num_heads"), .dim = c.integer("d_kv")};
  const auto x = c.values<T>("x");
  const auto query = linear<T>(x, c.values<T>("q.weight"), {}, width);
  const auto key = linear<T>(x, c.values<T>("k.weight"), {}, width);
  const auto value = linear<T>(x, c.values<T>("v.weight"), {}, width);
  const auto view = [&](const std::vector<T>& rows) {
    return rows_first(rows.data(), batch, length, layout.query, layout.dim);
  };
  const bool decoder = c.flag("is_decoder");
  const coordinate::t5_bucket bucket(
      {.num_buckets = c.integer("num_buckets"),
       .max_distance = c.integer("max_distance"),
       .direction = decoder ? bucket_direction::causal : bucket_direction::bidirectional});
  const bias::t5<T> policy(table<T>(c.values<T>("relative_attention_bias.weight"), bucket.num_buckets(), layout.query),
                           bucket);

  // The mask holds 0 for what may be seen: of each key in the encoder, of each pair in the decoder, whose last row
  // shows every token.
  std::vector<std::uint8_t> allowed;
  for (const T added : c.values<T>("mask")) allowed.push_back(added == T{0});
  std::vector<std::uint8_t> tokens = allowed;
  if (decoder) {
    tokens.clear();
    for (index_t b = 0; b < batch; ++b) {
      const auto last_row = allowed.begin() + ((b + 1) * length - 1) * length;
      tokens.insert(tokens.end(), last_row, last_row + length);
    }
  }
  const module<T> layer{.query = view(query),
                        .key = view(key),
                        .value = view(value),
                        .output_weight = c.values<T>("o.weight"),
                        .active = decoder ? tokens : std::vector<std::uint8_t>{},
                        .decode_steps = c.integer("decode_steps")};

  const auto call = call::padded_batch(
      {.active = tokens, .entries = batch, .rows = length, .positions = call::padded_positions::contiguous()});

  outputs<T> out;
  std::vector<index_t> bucket_of;
  for (const query_index i : indices<query_index>(length)) {
    for (const key_index j : indices<key_index>(length)) bucket_of.push_back(bucket(call.offset(batch_index{0}, i, j)));
  }
  out.add("bucket", bucket_of);

  const auto run_with = [&](const auto& visibility) {
    const attention model{layout, scale::none{}, policy, visibility};
    const auto plan = model.template compile<T>(call);
    if (decoder) require_visible(plan, allowed);
    out.add("position_bias", biases(plan));
    run(
        layer, call, [&](index_t) { return model; }, "attn_weights", out,
        [&](const auto& last) {
          std::vector<T> bias;
          for (const batch_index b : indices<batch_index>(batch)) {
            const auto one = biases(last, b);
            bias.insert(bias.end(), one.begin(), one.end());
          }
          out.add("decode_last_position_bias", bias);
        });
  };
  if (decoder) {
    run_with(visible::all_of{visible::active{}, visible::causal{}});
  } else {
    run_with(visible::active{});
  }
  return out;
}

}  // namespace

mechanism t5_bucket() { return {"t5_bucket", buckets<double>, buckets<float>}; }
mechanism t5_bias() { return {"t5_bias", layers<double>, layers<float>}; }

}  // namespace posgeo::golden
