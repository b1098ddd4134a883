// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace posgeo::audit {

/// The known ways in which an attention kernel takes one convention for another. The most specific ones come first:
/// where several give the same numbers, the first is the likelier name.
enum class confusion {
  window_off_by_one,
  bucket_mode,
  pairing_swapped,
  angle_in_bfloat16,
  slopes_sorted,
  slope_generator,
  local_head_ids,
  p2c_direction,
  p2c_dropped,
  c2p_dropped,
  flipped_sign,
  table_order,
  keys_turned_twice,
  keys_not_turned,
  query_restarted,
  query_off_by_one,
  memory_off_by_one,
  causal_off_by_one,
  corner_alignment,
  rows_for_positions,
  scale_on_bias,
  content_not_scaled,
  terms_miscounted,
  scale_dropped,
  scale_added,
  softcap_misplaced,
  softcap_dropped,
  sink_dropped,
  finite_mask,
  padding_visible,
  segments_ignored,
  future_visible,
  window_ignored,
  mask_ignored,
  key_heads_interleaved,
  key_head_ids,
  one_head_for_all,
  value_term_dropped,
  term_dropped,
  term_twice,
  base_two_log_sum_exp,
  empty_row,
};

/// What a confusion is called, what the kernel does, and how it is cured.
struct confusion_text {
  confusion what;
  std::string_view name;
  std::string_view meaning;
  std::string_view cure;
};

inline constexpr std::array all_confusions{
    confusion_text{confusion::window_off_by_one, "window off by one",
                   "The window reaches one key less or one more than it is said to.",
                   "A width that counts the own key reaches width - 1 keys back."},
    confusion_text{confusion::bucket_mode, "wrong bucket mode", "T5's buckets are those of the other direction.",
                   "Encoders share the buckets between both directions, causal decoders give all to the past."},
    confusion_text{confusion::pairing_swapped, "rotary pairing swapped",
                   "Rotary pairs dimensions (i, i + half) in place of (2i, 2i + 1), or the other way.",
                   "Use the pairing of the checkpoint, or convert its query and key projections."},
    confusion_text{confusion::angle_in_bfloat16, "angle in bfloat16",
                   "Rotary angles, or what they are made of, are rounded to 8 significant bits.",
                   "Form position times frequency in double or float and round sine and cosine alone."},
    confusion_text{confusion::slopes_sorted, "slopes sorted", "ALiBi's slopes are sorted by size.",
                   "Keep the order of the heads: it is part of the model."},
    confusion_text{confusion::slope_generator, "another slope rule",
                   "ALiBi's slopes follow another rule for head counts that are no power of two.",
                   "Read the slopes of the model, or use the rule that made them."},
    confusion_text{confusion::local_head_ids, "local head ids",
                   "A group of heads counts from 0 and reads what belongs to the first heads.",
                   "Ask for the numbers of the global head, of the whole layer's head count."},
    confusion_text{confusion::p2c_direction, "p2c direction",
                   "Position-to-content reads the row of the opposite offset: paper for release, or back.",
                   "Use the direction that the checkpoint was trained with."},
    confusion_text{confusion::p2c_dropped, "p2c dropped", "Position-to-content is left out.",
                   "Add key . position query to the raw score."},
    confusion_text{confusion::c2p_dropped, "c2p dropped", "Content-to-position is left out.",
                   "Add query . position key to the raw score."},
    confusion_text{confusion::flipped_sign, "flipped sign",
                   "A bias is added with the other sign, or offsets count query minus key, or back.",
                   "Negate the offset, or the bias."},
    confusion_text{confusion::table_order, "table read by i - j",
                   "A learned table is read by query minus key where its rows count key minus query, or back.",
                   "Negate the offset before it becomes a row."},
    confusion_text{confusion::keys_turned_twice, "keys turned twice",
                   "Key rows that were turned when they were stored are turned again.",
                   "Turn each key once: before it is cached or when it is read."},
    confusion_text{confusion::keys_not_turned, "keys not turned", "The queries are turned, the keys are not.",
                   "Turn each key by its own position."},
    confusion_text{confusion::query_restarted, "queries restarted",
                   "The query positions of a chunk count from 0, or from the rows of the memory.",
                   "Take the first query position from the tokens that were committed, not from a length."},
    confusion_text{confusion::query_off_by_one, "queries off by one", "Every query stands one position off.",
                   "The first new token stands at the number of committed tokens."},
    confusion_text{confusion::memory_off_by_one, "memory off by one", "The keys of the memory stand one position off.",
                   "The last key of the memory stands right before the first new token."},
    confusion_text{confusion::causal_off_by_one, "mask off by one",
                   "The mask hides the query's own key, or shows the one after it.",
                   "A query sees the keys whose position is not greater than its own."},
    confusion_text{confusion::corner_alignment, "mask aligned by a corner",
                   "The mask compares row numbers from a corner of the score matrix, not positions.",
                   "Compare the positions of query and key."},
    confusion_text{confusion::rows_for_positions, "rows for positions",
                   "Storage rows are taken for positions: padding, eviction and order are lost.",
                   "Take positions from the call."},
    confusion_text{confusion::scale_on_bias, "bias scaled", "The bias is added before the scale and shares it.",
                   "Multiply the raw score by the scale, then add the bias."},
    confusion_text{confusion::content_not_scaled, "content term not scaled",
                   "A term of content and position is added after the scale.",
                   "Add it to the raw score, so that it shares the scale."},
    confusion_text{confusion::terms_miscounted, "terms miscounted",
                   "The scale counts other dot products than the score sums.",
                   "Divide by sqrt(head_dim * n), where n counts query . key and each enabled term."},
    confusion_text{confusion::scale_dropped, "scale dropped", "The raw score is not scaled.",
                   "Multiply the raw score by the scale."},
    confusion_text{confusion::scale_added, "scale added",
                   "The raw score is divided by sqrt(head_dim), which this attention does not do.",
                   "Use the scale that the attention names; T5 has none."},
    confusion_text{confusion::softcap_misplaced, "softcap misplaced", "The cap stands on the other side of the biases.",
                   "Cap where the attention says: before or after the biases."},
    confusion_text{confusion::softcap_dropped, "softcap dropped", "The score is not capped.",
                   "Apply cap * tanh(score / cap)."},
    confusion_text{confusion::sink_dropped, "sink dropped", "The softmax leaves out its sink.",
                   "Add exp(sink) to the denominator of each row."},
    confusion_text{confusion::finite_mask, "finite mask",
                   "Hidden keys get a finite number: rows that see nothing become a mean of values.",
                   "Hide by selection, and give rows that see nothing output 0 and log-sum-exp -infinity."},
    confusion_text{confusion::padding_visible, "padding visible", "Rows that are no tokens are seen.",
                   "Hide inactive keys."},
    confusion_text{confusion::segments_ignored, "segments ignored", "Sequences of one row see each other.",
                   "Hide keys of other sequences."},
    confusion_text{confusion::future_visible, "future visible", "Keys after the query are seen.",
                   "Hide keys whose position is greater than the query's."},
    confusion_text{confusion::window_ignored, "window ignored", "Keys beyond the window are seen.",
                   "Hide keys beyond the reach."},
    confusion_text{confusion::mask_ignored, "mask ignored", "Every query sees every key.",
                   "Apply each visibility of the attention."},
    confusion_text{confusion::key_heads_interleaved, "key heads interleaved",
                   "Query head h reads key head h modulo the key heads, where neighbours share one.",
                   "Read key head floor(h * key heads / query heads)."},
    confusion_text{confusion::key_head_ids, "key head ids for query heads",
                   "A term of each query head is read by the number of its key head.", "Ask by the query head."},
    confusion_text{confusion::one_head_for_all, "one head for all", "Every head reads the numbers of head 0.",
                   "Ask by the query head."},
    confusion_text{confusion::value_term_dropped, "value term dropped",
                   "What is added to the weighted values is missing.",
                   "Add weight times the position row to the output."},
    confusion_text{confusion::term_dropped, "term dropped", "A positional term is missing.",
                   "Apply every policy of the attention, or refuse it."},
    confusion_text{confusion::term_twice, "term applied twice", "A positional term is applied twice.",
                   "Apply it once, in the projections or in the kernel."},
    confusion_text{confusion::base_two_log_sum_exp, "log-sum-exp in base 2",
                   "The log-sum-exp is a logarithm to base 2.", "Multiply it by log(2)."},
    confusion_text{confusion::empty_row, "empty rows undefined", "Only rows that see no key differ.",
                   "Give them output 0, and log-sum-exp -infinity or the sink."},
};

static_assert([] {
  for (std::size_t n = 0; n < all_confusions.size(); ++n) {
    if (all_confusions[n].what != static_cast<confusion>(n)) return false;
  }
  return all_confusions.back().what == confusion::empty_row;
}());

[[nodiscard]] constexpr const confusion_text& text_of(confusion what) noexcept {
  return all_confusions[static_cast<std::size_t>(what)];
}
[[nodiscard]] constexpr std::string_view name_of(confusion what) noexcept { return text_of(what).name; }
/// What the kernel does, in one sentence.
[[nodiscard]] constexpr std::string_view meaning_of(confusion what) noexcept { return text_of(what).meaning; }
/// What to do about it, in one sentence.
[[nodiscard]] constexpr std::string_view cure_of(confusion what) noexcept { return text_of(what).cure; }

}  // namespace posgeo::audit
