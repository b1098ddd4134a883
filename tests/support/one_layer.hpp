// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>

#include <array>
#include <vector>

#include "support/compare.hpp"
#include "support/random.hpp"

namespace posgeo::test {

/// What tells the rows of one_layer where they stand.
enum class mechanism { none, alibi, t5, rotary, learned, sinusoidal };
inline constexpr std::array every_mechanism{mechanism::none,   mechanism::alibi,   mechanism::t5,
                                            mechanism::rotary, mechanism::learned, mechanism::sinusoidal};

/// Whether the mechanism reads where a row stands, rather than how far two rows are apart.
[[nodiscard]] constexpr bool reads_absolute_positions(mechanism m) {
  return m == mechanism::learned || m == mechanism::sinusoidal;
}

inline constexpr heads layer_heads{.query = 4, .key_value = 2, .dim = 6};
inline constexpr index_t layer_width = 10;
inline constexpr index_t layer_table_rows = 64;  ///< positions that the learned table holds

/// The states with the mechanism's coordinates added, where it is one that adds to states.
[[nodiscard]] inline tensor<double, 3> with_coordinates(mechanism m, const row_space& rows, tensor<double, 3> states) {
  const position_call call{{.kind = call_kind::explicit_positions,
                            .query = rows,
                            .key = rows,
                            .cache = {},
                            .reuse = position_reuse::intended}};
  if (m == mechanism::learned) {
    const encode::learned_absolute learned(random_table(layer_table_rows, layer_width, 901), {.row_offset = 0});
    encode::add_positions(learned, call, states.view());
  }
  if (m == mechanism::sinusoidal) {
    const encode::sinusoidal sinusoidal({.width = layer_width,
                                         .layout = encode::sinusoid_layout::interleaved,
                                         .exponent = encode::sinusoid_exponent::paper});
    encode::add_positions(sinusoidal, call, states.view());
  }
  return states;
}

/// A random projection of the states to heads.
[[nodiscard]] inline tensor<double, 4> projected(const tensor<double, 3>& states, index_t head_count, unsigned seed) {
  const auto weights = random_tensor<double, 3>({layer_width, head_count, layer_heads.dim}, seed);
  tensor<double, 4> out({states.extent(0), head_count, states.extent(1), layer_heads.dim});
  for (index_t b = 0; b < states.extent(0); ++b) {
    for (index_t h = 0; h < head_count; ++h) {
      for (index_t row = 0; row < states.extent(1); ++row) {
        for (index_t d = 0; d < layer_heads.dim; ++d) {
          double sum = 0.0;
          for (index_t w = 0; w < layer_width; ++w) sum += states(b, row, w) * weights(w, h, d);
          out(b, h, row, d) = 0.3 * sum;
        }
      }
    }
  }
  return out;
}

/// One attention layer from states to heads: coordinates, projections, attention. The parameters never change.
template <class... Visibilities>
[[nodiscard]] attention_result<double> one_layer(mechanism m, const position_call& call,
                                                 const tensor<double, 3>& query_states,
                                                 const tensor<double, 3>& key_states, const Visibilities&... see) {
  const auto query = projected(with_coordinates(m, call.query_space(), query_states), layer_heads.query, 911);
  const auto key_rows = with_coordinates(m, call.key_space(), key_states);
  const auto key = projected(key_rows, layer_heads.key_value, 912);
  const auto value = projected(key_rows, layer_heads.key_value, 913);
  const auto run = [&](const auto&... policy) {
    const attention model{layer_heads, scale::inverse_sqrt_head_dim{}, see..., policy...};
    const auto plan = model.template compile<double>(call);
    return attend(eager{}, plan, {query.view(), key.view(), value.view()}, also::everything);
  };
  switch (m) {
    case mechanism::alibi:
      return run(bias::alibi(bias::alibi_slopes::reference(layer_heads.query), bias::alibi_direction::symmetric));
    case mechanism::t5: {
      const coordinate::t5_bucket bucket(
          {.num_buckets = 8, .max_distance = 20, .direction = coordinate::bucket_direction::bidirectional});
      return run(bias::t5<double>(random_table(8, layer_heads.query, 914), bucket));
    }
    case mechanism::rotary:
      return run(transform::rotary(frequency::geometric({.base = 100.0, .rotary_dim = 4}),
                                   {.pairs = transform::pairing::halves}));
    default:
      return run();
  }
}

/// Self-attention of one_layer.
template <class... Visibilities>
[[nodiscard]] attention_result<double> one_layer(mechanism m, const position_call& call,
                                                 const tensor<double, 3>& states, const Visibilities&... see) {
  return one_layer(m, call, states, states, see...);
}

/// The rows of one entry, in the given order, as states of their own.
[[nodiscard]] inline tensor<double, 3> gathered(const tensor<double, 3>& states, index_t entry,
                                                const std::vector<index_t>& rows) {
  tensor<double, 3> out({1, static_cast<index_t>(rows.size()), states.extent(2)});
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const auto from = states.view().row(entry, rows[n]);
    std::copy(from.begin(), from.end(), out.view().row(0, static_cast<index_t>(n)).begin());
  }
  return out;
}

/// first, first + 1, ... of the given length.
[[nodiscard]] inline std::vector<index_t> counted(index_t first, index_t length) {
  std::vector<index_t> out;
  for (index_t n = 0; n < length; ++n) out.push_back(first + n);
  return out;
}

/// Where one query row and the keys that it is about lie in a run.
struct row_place {
  index_t entry;
  index_t query;
  std::vector<index_t> keys;
};

/// The largest difference of one query row in two runs: output, log-sum-exp and the scores of the named keys.
[[nodiscard]] inline double row_difference(const attention_result<double>& a, const row_place& in_a,
                                           const attention_result<double>& b, const row_place& in_b) {
  double largest = 0.0;
  for (index_t h = 0; h < layer_heads.query; ++h) {
    const auto grow = [&](double by) { largest = std::max(largest, by); };
    grow(largest_difference(a.output.view().row(in_a.entry, h, in_a.query),
                            b.output.view().row(in_b.entry, h, in_b.query)));
    grow(difference(a.log_sum_exp(in_a.entry, h, in_a.query), b.log_sum_exp(in_b.entry, h, in_b.query)));
    for (std::size_t n = 0; n < in_a.keys.size(); ++n) {
      grow(difference(a.scores(in_a.entry, h, in_a.query, in_a.keys[n]),
                      b.scores(in_b.entry, h, in_b.query, in_b.keys[n])));
    }
  }
  return largest;
}

}  // namespace posgeo::test
