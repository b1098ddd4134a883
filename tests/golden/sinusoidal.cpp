// SPDX-License-Identifier: MIT
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/encode/sinusoidal.hpp>

#include <stdexcept>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

using encode::odd_width;
using encode::padded_rows;
using encode::sinusoid_exponent;
using encode::sinusoid_layout;
using encode::sinusoidal_settings;

/// Adds the encoder to zeros, or to the given states.
template <class T>
std::vector<T> rows(const sinusoidal_settings& settings, const position_call& call, std::vector<T> states = {}) {
  states.resize(static_cast<std::size_t>(call.batch() * call.queries() * settings.width));
  encode::add_positions(encode::sinusoidal(settings), call,
                        states_view<T>{states.data(), {call.batch(), call.queries(), settings.width}});
  return states;
}

sinusoid_layout layout_of(const golden_case& c) {
  const std::string& said = c.convention("layout");
  if (said.starts_with("interleaved")) return sinusoid_layout::interleaved;
  if (said.starts_with("concatenated")) return sinusoid_layout::concatenated;
  throw std::runtime_error("unknown layout: " + said);
}

/// The Annotated Transformer: slices of one table, and its addition to embeddings.
template <class T>
void annotated(const golden_case& c, outputs<T>& out) {
  const sinusoidal_settings settings{
      .width = c.integer("d_model"), .layout = layout_of(c), .exponent = sinusoid_exponent::paper};
  const auto slices = c.integers("slices");
  for (std::size_t n = 0; n < slices.size(); n += 2) {
    out.add(fmt::format("pe_{}_{}", slices[n], slices[n + 1]),
            rows<T>(settings, call::prefill_chunk(slices[n], slices[n + 1])));
  }
  const std::vector<index_t> lengths(static_cast<std::size_t>(c.shape("x")[0]), c.shape("x")[1]);
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = c.shape("x")[1],
                                        .side = call::padding_side::right,
                                        .positions = call::padded_positions::contiguous()});
  out.add("y", rows(settings, call, c.values<T>("x")));
}

/// fairseq: positions start behind the padding index, and padding adds nothing.
template <class T>
void fairseq(const golden_case& c, outputs<T>& out) {
  const index_t pad = c.integer("padding_idx");
  sinusoidal_settings settings{.width = c.integer("embedding_dim"),
                               .layout = layout_of(c),
                               .exponent = sinusoid_exponent::half_minus_one,
                               .odd = odd_width::zero_column,
                               .padding = padded_rows::untouched()};

  const auto table_rows = c.values<index_t>("rows");
  std::vector<std::uint8_t> is_row;
  for (const index_t row : table_rows) is_row.push_back(row != pad);
  const call::explicit_side side{
      .positions = table_rows, .active = is_row, .rows = static_cast<index_t>(table_rows.size())};
  out.add("table_rows", rows<T>(settings, call::explicit_positions({.query = side, .key = side})));

  std::vector<std::uint8_t> is_token;
  for (const index_t token : c.values<index_t>("tokens")) is_token.push_back(token != pad);
  const index_t entries = c.shape("tokens")[0];
  const index_t length = c.shape("tokens")[1];
  const auto call = call::padded_batch({.active = is_token,
                                        .entries = entries,
                                        .rows = length,
                                        .positions = call::padded_positions::compressed(pad + 1, pad)});
  out.add("positions", query_positions(call));
  out.add("embeddings", rows<T>(settings, call));

  settings.offset = pad + 1;
  const std::vector<call::decode_entry> last(
      static_cast<std::size_t>(entries),
      {.committed_length = length - 1, .query_position = length - 1, .past_length = length - 1});
  out.add("incremental", rows<T>(settings, call::decode_step({.entries = last, .key_rows = length})));
}

template <class T>
void tensor2tensor(const golden_case& c, outputs<T>& out) {
  const double slowest = c.number_or("max_timescale", 1e4);
  const double fastest = c.number_or("min_timescale", 1.0);
  const sinusoidal_settings settings{.width = c.integer("channels"),
                                     .layout = layout_of(c),
                                     .exponent = sinusoid_exponent::tensor2tensor,
                                     .base = slowest / fastest,
                                     .frequency_scale = fastest,
                                     .odd = odd_width::zero_column};
  const auto start = static_cast<index_t>(c.number_or("start_index", 0.0));
  out.add("signal", rows<T>(settings, call::prefill_chunk(start, c.integer("length"))));
}

template <class T>
void marian(const golden_case& c, outputs<T>& out) {
  const index_t width = c.integer("embedding_dim");
  const sinusoidal_settings settings{.width = width,
                                     .layout = layout_of(c),
                                     .exponent = sinusoid_exponent::paper,
                                     .odd = width % 2 == 0 ? odd_width::refused : odd_width::unpaired_sine};
  out.add("embeddings",
          rows<T>(settings, call::prefill_chunk(c.integer("past_key_values_length"), c.integer("length"))));
}

template <class T>
outputs<T> produce_sinusoidal(const golden_case& c) {
  outputs<T> out;
  if (c.has("slices")) {
    annotated(c, out);
  } else if (c.has("padding_idx")) {
    fairseq(c, out);
  } else if (c.has("channels")) {
    tensor2tensor(c, out);
  } else if (c.has("past_key_values_length")) {
    marian(c, out);
  } else {
    throw std::runtime_error("unknown variant of sinusoids");
  }
  return out;
}

}  // namespace

mechanism sinusoidal() { return {"sinusoidal", produce_sinusoidal<double>, produce_sinusoidal<float>}; }

}  // namespace posgeo::golden
