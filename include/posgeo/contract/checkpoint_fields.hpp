// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/coordinate/deberta_span.hpp>
#include <posgeo/coordinate/t5_bucket.hpp>
#include <posgeo/core/error.hpp>
#include <posgeo/core/heads.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/core/stated.hpp>
#include <posgeo/transform/rotary.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace posgeo::contract {

/// What the positional tensors of a checkpoint are for.
enum class checkpoint_family {
  sinusoidal,
  learned_absolute,
  t5,
  learned_relative,  ///< a number for each class of offsets and head
  alibi,
  shaw_key,
  shaw_key_value,
  transformer_xl,
  deberta_c2p,
  deberta_p2c,
  deberta_c2p_p2c,
  tupe,
  rotary,  ///< the projections whose rows turn
};

/// The axes of a table, outermost first.
enum class table_layout {
  interleaved,       ///< [rows, width], sine and cosine of a pair side by side
  concatenated,      ///< [rows, width], every sine, then every cosine
  rows_by_width,     ///< [rows, width]
  buckets_by_heads,  ///< [rows, heads]
  heads_by_buckets,  ///< [heads, rows]
  shared_rows,       ///< [rows, head_dim], read by every head
  rows_per_head,     ///< [heads, rows, head_dim]
};

/// The published state that the tensors come from: repository and revision, digest, release.
class source_revision {
 public:
  explicit source_revision(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  friend bool operator==(const source_revision&, const source_revision&) = default;

 private:
  std::string text_;
};

/// How many heads there are and how wide each is.
struct head_layout {
  required<index_t> query;
  required<index_t> key_value;
  required<index_t> dim;
  operator posgeo::heads() const noexcept { return {.query = query, .key_value = key_value, .dim = dim}; }
  friend bool operator==(const head_layout&, const head_layout&) = default;
};

/// heads()[n] is the query head, as the model counts them, that stands at place n.
class head_order {
 public:
  explicit head_order(std::vector<index_t> heads) : heads_(std::move(heads)) {}
  [[nodiscard]] static head_order natural(index_t count) {
    std::vector<index_t> heads(static_cast<std::size_t>(std::max(count, index_t{0})));
    std::iota(heads.begin(), heads.end(), index_t{0});
    return head_order(std::move(heads));
  }
  [[nodiscard]] const std::vector<index_t>& heads() const noexcept { return heads_; }
  friend bool operator==(const head_order&, const head_order&) = default;

 private:
  std::vector<index_t> heads_;
};

/// A row for each offset from -behind to ahead (coordinate::clipped; the sign is the contract's).
struct clip_rule {
  required<index_t> behind;
  required<index_t> ahead;
  required<coordinate::beyond_ends> beyond;
  friend bool operator==(const clip_rule&, const clip_rule&) = default;
};

/// coordinate::t5_bucket.
struct t5_rule {
  coordinate::t5_bucket_settings settings;
  friend bool operator==(const t5_rule& a, const t5_rule& b) noexcept {
    const auto& [buckets, distance, direction, odd] = a.settings;
    return buckets == b.settings.num_buckets && distance == b.settings.max_distance &&
           direction == b.settings.direction && odd == b.settings.odd;
  }
};

/// coordinate::log_bucket.
struct log_rule {
  coordinate::log_bucket_settings settings;
  friend bool operator==(const log_rule& a, const log_rule& b) noexcept {
    const auto& [buckets, position, beyond] = a.settings;
    return buckets == b.settings.num_buckets && position == b.settings.max_position && beyond == b.settings.beyond;
  }
};

/// coordinate::deberta_span: 2 * span rows; with buckets the span is their number.
struct span_rule {
  required<index_t> span;
  stated<log_rule> buckets;
  friend bool operator==(const span_rule&, const span_rule&) = default;
};

using offset_rule = std::variant<clip_rule, t5_rule, span_rule>;

/// Which layers hold the tensors.
enum class tensor_owner {
  every_layer,  ///< each layer its own
  first_layer,  ///< the first, and the others use its (T5)
  model,        ///< none: they stand beside the layers (BERT)
};

struct layer_sharing {
  required<tensor_owner> owner;
  required<index_t> layers;  ///< that use the tensors
  friend bool operator==(const layer_sharing&, const layer_sharing&) = default;
};

struct rotary_layout {
  required<transform::pairing> pairs;
  required<index_t> rotary_dim;
  friend bool operator==(const rotary_layout&, const rotary_layout&) = default;
};

}  // namespace posgeo::contract
