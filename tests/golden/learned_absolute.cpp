// SPDX-License-Identifier: MIT
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/encode/learned_absolute.hpp>

#include <cmath>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

/// The embedding block of BERT and RoBERTa.
template <class T>
class embeddings {
 public:
  explicit embeddings(const golden_case& c) : case_(c), width_(c.integer("hidden")) {}

  /// Position rows added to the states of the call.
  [[nodiscard]] std::vector<T> with_positions(const position_call& call, std::vector<T> states) const {
    const auto rows = case_.values<T>("position_embeddings.weight");
    const encode::learned_absolute policy(table<T>(rows, case_.integer("max_position_embeddings"), width_),
                                          {.row_offset = 0});
    encode::add_positions(policy, call, states_view<T>{states.data(), {call.batch(), call.queries(), width_}});
    return states;
  }

  [[nodiscard]] std::vector<T> normalized(const position_call& call) const {
    const auto words = case_.values<T>("word_embeddings.weight");
    const auto types = case_.values<T>("token_type_embeddings.weight");
    const auto ids = case_.values<index_t>("input_ids");
    const auto type_ids = case_.has_input("token_type_ids") ? case_.values<index_t>("token_type_ids")
                                                            : std::vector<index_t>(ids.size(), 0);
    std::vector<T> states;
    for (std::size_t n = 0; n < ids.size(); ++n) {
      for (index_t d = 0; d < width_; ++d) {
        states.push_back(words[static_cast<std::size_t>(ids[n] * width_ + d)] +
                         types[static_cast<std::size_t>(type_ids[n] * width_ + d)]);
      }
    }
    states = with_positions(call, std::move(states));
    layer_norm(states);
    return states;
  }

 private:
  void layer_norm(std::vector<T>& states) const {
    const auto gain = case_.values<T>("LayerNorm.weight");
    const auto bias = case_.values<T>("LayerNorm.bias");
    const auto width = static_cast<std::size_t>(width_);
    for (std::size_t row = 0; row < states.size(); row += width) {
      T mean{0};
      T variance{0};
      for (std::size_t d = 0; d < width; ++d) mean += states[row + d] / static_cast<T>(width);
      for (std::size_t d = 0; d < width; ++d) {
        variance += (states[row + d] - mean) * (states[row + d] - mean) / static_cast<T>(width);
      }
      const T divisor = std::sqrt(variance + static_cast<T>(case_.number("layer_norm_eps")));
      for (std::size_t d = 0; d < width; ++d) states[row + d] = (states[row + d] - mean) / divisor * gain[d] + bias[d];
    }
  }

  const golden_case& case_;
  index_t width_;
};

/// BERT: rows stand at past, past + 1, ... in every entry, or where the caller says.
template <class T>
void bert(const golden_case& c, outputs<T>& out) {
  const embeddings<T> block(c);
  const index_t past = c.integer("past_key_values_length");
  const index_t entries = c.shape("input_ids")[0];
  const index_t rows = c.shape("input_ids")[1];
  const std::vector<call::prefill_entry> chunks(
      static_cast<std::size_t>(entries),
      {.committed_length = past, .first_position = past, .length = rows, .past_length = past});
  const auto chunk = call::prefill_chunk({.entries = chunks, .query_rows = rows, .key_rows = past + rows});
  out.add("embeddings", block.normalized(chunk));

  const auto ids = c.values<index_t>("position_ids_explicit");
  const call::explicit_side side{.positions = ids, .rows = rows};
  const auto anywhere =
      call::explicit_positions({.entries = entries, .query = side, .key = side, .reuse = position_reuse::intended});
  out.add("embeddings_explicit", block.normalized(anywhere));
  const std::vector<T> zeros(ids.size() * static_cast<std::size_t>(c.integer("hidden")));
  out.add("position_sum_only", block.with_positions(anywhere, zeros));
}

/// RoBERTa: tokens are counted from behind the padding index, and padding stands at it.
template <class T>
void roberta(const golden_case& c, outputs<T>& out) {
  const index_t pad = c.integer("padding_idx");
  std::vector<std::uint8_t> is_token;
  for (const index_t token : c.values<index_t>("input_ids")) is_token.push_back(token != pad);
  const index_t first = pad + 1 + c.integer("past_key_values_length");
  const auto call = call::padded_batch({.active = is_token,
                                        .entries = c.shape("input_ids")[0],
                                        .rows = c.shape("input_ids")[1],
                                        .positions = call::padded_positions::compressed(first, pad)});
  out.add("position_ids", query_positions(call));
  out.add("embeddings", embeddings<T>(c).normalized(call));

  const auto& given = c.shape("position_ids_from_embeds");
  const std::vector<index_t> lengths(static_cast<std::size_t>(given[0]), given[1]);
  out.add("position_ids_from_embeds",
          query_positions(call::padded_batch({.lengths = lengths,
                                              .rows = given[1],
                                              .side = call::padding_side::right,
                                              .positions = call::padded_positions::contiguous(pad + 1)})));
}

template <class T>
outputs<T> produce_learned_absolute(const golden_case& c) {
  outputs<T> out;
  c.has("padding_idx") ? roberta(c, out) : bert(c, out);
  return out;
}

}  // namespace

mechanism learned_absolute() {
  return {"learned_absolute", produce_learned_absolute<double>, produce_learned_absolute<float>};
}

}  // namespace posgeo::golden
