// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/contract/convert/expected_tensors.hpp>
#include <posgeo/contract/convert/projected_table.hpp>
#include <posgeo/contract/convert/proof_draws.hpp>
#include <posgeo/contract/convert/score_scale.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/custom.hpp>

namespace posgeo::contract::convert_detail {

/// Which pairs of rows a proof looks at.
enum class proof_pairs { all, not_ahead };

/// What the policies of a contract make of its tensors, head by head as the model counts them.
template <class T>
struct measured {
  std::vector<T> numbers;
  double magnitude = 0.0;  ///< no sum of products in a score is larger, whatever its order
};

/// Runs posgeo's policies on the tensors of one contract. The rows come from the seed alone, so two contracts see the
/// same.
template <class T>
class proof_run {
 public:
  proof_run(const checkpoint_contract& contract, const named_tensors& tensors, drawn_positions positions,
            proof_pairs pairs, std::uint64_t seed)
      : c_(contract), tensors_(tensors), positions_(std::move(positions)), pairs_(pairs), seed_(seed) {}

  [[nodiscard]] measured<T> result() const {
    const family_of family = checkpoint_family{c_.family};
    if (family == family_of::rotary) return rotary();
    if (family == family_of::learned_absolute || family == family_of::sinusoidal) return absolute();
    if (family == family_of::t5) {
      const auto& rule = std::get<t5_rule>(*c_.rule.value());
      return relative(*c_.sign.value(), bias::t5<T>(numbers(), coordinate::t5_bucket(rule.settings)));
    }
    if (checkpoint_detail::of_deberta(family)) return relative(offset_sign::key_minus_query, deberta());
    const auto& rule = std::get<clip_rule>(*c_.rule.value());
    const coordinate::clipped classes(
        {.behind = rule.behind, .ahead = rule.ahead, .sign = *c_.sign.value(), .beyond = rule.beyond});
    constexpr auto as_it_is = offset_sign::key_minus_query;  // the classes know their sign
    if (family == family_of::learned_relative) {
      return relative(as_it_is, bias::learned_relative<T, coordinate::clipped>(numbers(), classes));
    }
    const content::shaw_key<T> key_term(rows("key_table"), classes);
    if (family == family_of::shaw_key) return relative(as_it_is, key_term);
    return relative(as_it_is, key_term, value::shaw_value<T>(rows("value_table"), classes));
  }

 private:
  using family_of = checkpoint_family;

  [[nodiscard]] static table<T> as_table(const stored_tensor& from, index_t count, index_t columns) {
    const std::vector<T> values(from.values.begin(), from.values.end());
    return {values, count, columns};
  }
  /// [buckets, heads], whichever way it is stored.
  [[nodiscard]] table<T> numbers() const {
    const stored_tensor& stored = tensors_.at("table");
    const index_t count = *c_.rows.value();
    if (c_.layout == stated<table_layout>(table_layout::buckets_by_heads)) {
      return as_table(stored, count, c_.heads.query);
    }
    std::vector<T> turned;
    for (index_t row = 0; row < count; ++row) {
      for (index_t h = 0; h < c_.heads.query; ++h) {
        turned.push_back(static_cast<T>(stored.values[static_cast<std::size_t>(h * count + row)]));
      }
    }
    return {turned, count, c_.heads.query};
  }
  [[nodiscard]] head_tables<T> rows(const std::string& role) const {
    const index_t dim = c_.heads.dim;
    if (c_.layout == stated<table_layout>(table_layout::rows_by_width)) {
      const table<double> all = projected(tensors_, role);
      const std::vector<T> values(all.values().begin(), all.values().end());
      return head_tables<T>::by_column({values, all.rows(), all.columns()}, c_.heads.query);
    }
    const stored_tensor& stored = tensors_.at(role);
    const index_t count = *c_.rows.value();
    if (c_.layout == stated<table_layout>(table_layout::shared_rows)) {
      return head_tables<T>::shared(as_table(stored, count, dim));
    }
    return head_tables<T>::stacked(as_table(stored, c_.heads.query * count, dim), c_.heads.query);
  }
  [[nodiscard]] content::deberta<T> deberta() const {
    const auto& rule = std::get<span_rule>(*c_.rule.value());
    const auto span = rule.buckets.value()
                          ? coordinate::deberta_span::bucketed(coordinate::log_bucket(rule.buckets.value()->settings))
                          : coordinate::deberta_span::exact(rule.span);
    constexpr auto index = content::p2c_index::released_code;  // what checkpoints were trained with
    content::deberta_tables<T> all;
    if (c_.family != family_of::deberta_p2c) all.position_keys = rows("position_keys");
    if (c_.family != family_of::deberta_c2p) all.position_queries = rows("position_queries");
    const auto terms = c_.family == family_of::deberta_c2p   ? content::deberta_terms::c2p()
                       : c_.family == family_of::deberta_p2c ? content::deberta_terms::p2c(index)
                                                             : content::deberta_terms::both(index);
    return {terms, span, all};
  }

  /// The heads that stand at each place: of query heads, or of the key heads that their groups read.
  [[nodiscard]] std::vector<index_t> places(index_t heads) const {
    const index_t group = c_.heads.query / heads;
    std::vector<index_t> all;
    for (index_t n = 0; n < heads; ++n) all.push_back(c_.order.heads()[static_cast<std::size_t>(n * group)] / group);
    return all;
  }
  /// Rows of the model's heads, each at its place.
  [[nodiscard]] tensor<T, 4> placed(index_t heads, index_t rows_of_head, purpose what) const {
    const auto of_model = drawn<T, 4>({drawn_positions::entries, heads, rows_of_head, c_.heads.dim}, seed_, what);
    tensor<T, 4> out(of_model.extents());
    const auto order = places(heads);
    for (index_t b = 0; b < drawn_positions::entries; ++b) {
      for (index_t n = 0; n < heads; ++n) {
        for (index_t row = 0; row < rows_of_head; ++row) {
          const auto from = of_model.view().row(b, order[static_cast<std::size_t>(n)], row);
          std::copy(from.begin(), from.end(), out.view().row(b, n, row).begin());
        }
      }
    }
    return out;
  }

  template <class... Policies>
  [[nodiscard]] measured<T> relative(offset_sign sign, const Policies&... policies) const {
    const auto query = placed(c_.heads.query, positions_.queries(), purpose::queries);
    const auto key = placed(c_.heads.key_value, positions_.keys(), purpose::keys);
    return scores(c_.heads, places(c_.heads.query), scale_of(c_), positions_.call(sign), query, key, policies...);
  }

  /// weight states + bias as rows of heads, and how large a sum of its products can be.
  [[nodiscard]] std::pair<tensor<T, 4>, double> through(const tensor<T, 3>& states, const stored_tensor& weight,
                                                        const stored_tensor* bias, index_t heads, index_t dim) const {
    tensor<T, 4> out({states.extent(0), heads, states.extent(1), dim});
    double largest = 0.0;
    const auto width = static_cast<std::size_t>(states.extent(2));
    for (index_t b = 0; b < states.extent(0); ++b) {
      for (index_t row = 0; row < states.extent(1); ++row) {
        const auto state = states.view().row(b, row);
        for (index_t h = 0; h < heads; ++h) {
          double square = 0.0;
          for (index_t d = 0; d < dim; ++d) {
            const auto unit = static_cast<std::size_t>(h * dim + d);
            T sum = bias == nullptr ? T{0} : static_cast<T>(bias->values[unit]);
            double absolute = std::abs(static_cast<double>(sum));
            for (std::size_t w = 0; w < width; ++w) {
              const T product = static_cast<T>(weight.values[unit * width + w]) * state[w];
              sum += product;
              absolute += std::abs(static_cast<double>(product));
            }
            out(b, h, row, d) = sum;
            square += absolute * absolute;
          }
          largest = std::max(largest, std::sqrt(square));
        }
      }
    }
    return {std::move(out), largest};
  }

  [[nodiscard]] measured<T> rotary() const {
    const auto side = [&](const std::string& role, index_t heads, index_t rows_of_head, purpose what) {
      const stored_tensor& weight = tensors_.at(role + ".weight");
      const auto bias = tensors_.find(role + ".bias");
      return through(drawn<T, 3>({drawn_positions::entries, rows_of_head, weight.extents[1]}, seed_, what), weight,
                     bias == tensors_.end() ? nullptr : &bias->second, heads, c_.heads.dim);
    };
    const auto query = side("queries", c_.heads.query, positions_.queries(), purpose::query_states);
    const auto key = side("keys", c_.heads.key_value, positions_.keys(), purpose::key_states);
    const rotary_layout& turning = *c_.rotary.value();
    const transform::rotary turn(frequency::geometric({.base = 10000.0, .rotary_dim = turning.rotary_dim}),
                                 {.pairs = turning.pairs});
    auto out = scores(c_.heads, places(c_.heads.query), scale_of(c_), positions_.call(), query.first, key.first, turn);
    out.magnitude = scale_of(c_) * query.second * key.second;
    return out;
  }

  /// The rows that positions read, through readers whose columns stand where the table's do.
  [[nodiscard]] measured<T> absolute() const {
    constexpr posgeo::heads readers{.query = 3, .key_value = 3, .dim = 4};
    const stored_tensor& stored = tensors_.at("table");
    const index_t width = stored.extents[1];
    const auto columns = columns_of(width);
    const encode::padded_rows padding = c_.padding_row.value() ? encode::padded_rows::table_row(*c_.padding_row.value())
                                                               : encode::padded_rows::by_position();
    const encode::learned_absolute<T> policy(as_table(stored, stored.extents[0], width),
                                             {.row_offset = c_.row_offset, .padding = padding});
    const auto read = [&](const std::vector<index_t>& positions, index_t padded, purpose what) {
      const auto of_model = drawn<double, 2>({readers.query * readers.dim, width}, seed_, what);
      stored_tensor reader{.extents = {readers.query * readers.dim, width}, .values = {}};
      for (index_t unit = 0; unit < reader.extents[0]; ++unit) {
        for (const index_t column : columns) reader.values.push_back(of_model(unit, column));
      }
      return through(states(policy, positions, padded), reader, nullptr, readers.query, readers.dim);
    };
    const auto query = read(positions_.query, 0, purpose::query_reader);
    const auto key = read(positions_.key, 1, purpose::key_reader);
    drawn_positions with_padding = positions_;  // one more key in every entry, which is padding
    with_padding.key.assign(static_cast<std::size_t>(2 * key.first.extent(2)), 0);
    auto out = scores(readers, counted(readers.query), 1.0, with_padding.call(), query.first, key.first);
    out.magnitude = query.second * key.second;
    return out;
  }
  /// Zeros plus the rows of the policy. Behind the rows of every entry come those of padding.
  [[nodiscard]] tensor<T, 3> states(const encode::learned_absolute<T>& policy, const std::vector<index_t>& positions,
                                    index_t padded) const {
    const auto count = static_cast<index_t>(positions.size()) / drawn_positions::entries;
    std::vector<index_t> at;
    std::vector<std::uint8_t> active;
    for (index_t b = 0; b < drawn_positions::entries; ++b) {
      for (index_t n = 0; n < count; ++n) at.push_back(positions[static_cast<std::size_t>(b * count + n)]);
      active.insert(active.end(), static_cast<std::size_t>(count), 1);
      at.insert(at.end(), static_cast<std::size_t>(padded), 0);
      active.insert(active.end(), static_cast<std::size_t>(padded), 0);
    }
    const call::explicit_side side{.positions = at, .active = active, .rows = count + padded};
    const auto call = call::explicit_positions(
        {.entries = drawn_positions::entries, .query = side, .key = side, .reuse = position_reuse::intended});
    tensor<T, 3> out({drawn_positions::entries, side.rows, policy.width()});
    encode::add_positions(policy, call, out.view());
    return out;
  }
  /// The interleaved column that each column of the layout is, found by what posgeo's own sinusoids hold there.
  [[nodiscard]] std::vector<index_t> columns_of(index_t width) const {
    if (c_.family != family_of::sinusoidal || width % 2 != 0) return counted(width);
    const auto sinusoids = [width](encode::sinusoid_layout layout) {
      const encode::sinusoidal policy({.width = width, .layout = layout, .exponent = encode::sinusoid_exponent::paper});
      std::vector<std::array<double, 2>> by_column(static_cast<std::size_t>(width));
      constexpr std::array coordinates{1.25, 311.5};
      for (std::size_t n = 0; n < coordinates.size(); ++n) {
        policy.for_each_column(coordinates[n], [&](index_t column, double value) {
          by_column[static_cast<std::size_t>(column)][n] = value;
        });
      }
      return by_column;
    };
    const bool is_interleaved = c_.layout == stated<table_layout>(table_layout::interleaved);
    const auto has =
        sinusoids(is_interleaved ? encode::sinusoid_layout::interleaved : encode::sinusoid_layout::concatenated);
    const auto interleaved = sinusoids(encode::sinusoid_layout::interleaved);
    std::vector<index_t> columns;
    for (const auto& column : has) {
      columns.push_back(std::find(interleaved.begin(), interleaved.end(), column) - interleaved.begin());
    }
    return columns;
  }

  template <class... Policies>
  [[nodiscard]] measured<T> scores(const posgeo::heads& layout, const std::vector<index_t>& order, double scale,
                                   const position_call& call, const tensor<T, 4>& query, const tensor<T, 4>& key,
                                   const Policies&... policies) const {
    const auto see = [pairs = pairs_](const position_call& of, batch_index b, query_index i, key_index j) noexcept {
      return pairs == proof_pairs::all || of.offset(b, i, j) <= relative_offset{0};
    };
    const visible::custom seen(see, hides::future);  // the rows that classes without a future give it are compared
    const attention model{layout, scale::constant(scale), seen, policies...};
    const auto value = placed_values(layout, key.extent(2));
    const auto result =
        attend(eager{}, model.template compile<T>(call), {query.view(), key.view(), value.view()}, also::scores);
    measured<T> out;
    std::vector<index_t> place_of(order.size());
    for (std::size_t n = 0; n < order.size(); ++n) {
      place_of[static_cast<std::size_t>(order[n])] = static_cast<index_t>(n);
    }
    const bool has_values = c_.family == family_of::shaw_key_value;
    for (index_t b = 0; b < query.extent(0); ++b) {
      for (const index_t place : place_of) {
        for (index_t i = 0; i < query.extent(2); ++i) {
          const auto row = result.scores.view().row(b, place, i);
          out.numbers.insert(out.numbers.end(), row.begin(), row.end());
          if (!has_values) continue;
          const auto output = result.output.view().row(b, place, i);
          out.numbers.insert(out.numbers.end(), output.begin(), output.end());
        }
      }
    }
    return out;
  }
  [[nodiscard]] tensor<T, 4> placed_values(const posgeo::heads& layout, index_t count) const {
    if (c_.family == family_of::shaw_key_value) return placed(layout.key_value, count, purpose::values);
    return tensor<T, 4>({drawn_positions::entries, layout.key_value, count, 1});
  }

  const checkpoint_contract& c_;
  const named_tensors& tensors_;
  drawn_positions positions_;
  proof_pairs pairs_;
  std::uint64_t seed_;
};

/// Whether a rule's policies have no row for keys after the query.
inline bool looks_back_only(const checkpoint_contract& c) {
  if (!c.rule.value()) return false;
  if (const auto* const buckets = std::get_if<t5_rule>(&*c.rule.value())) {
    return buckets->settings.direction == coordinate::bucket_direction::causal;
  }
  const auto* const clip = std::get_if<clip_rule>(&*c.rule.value());
  return clip != nullptr && clip->ahead == 0 && clip->behind > 0;
}

}  // namespace posgeo::contract::convert_detail
