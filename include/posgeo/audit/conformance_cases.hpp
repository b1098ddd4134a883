// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/conformance_diagnosis.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// An attention that a kernel claims to run.
template <class Attention>
struct conformance_case {
  std::string name;
  Attention model;
};

template <class... Policies>
[[nodiscard]] conformance_case<attention<Policies...>> as_case(std::string_view name, attention<Policies...> model) {
  return {std::string(name), std::move(model)};
}

/// Small attentions, one for each method, with numbers that tell its confusions apart. `see` says who may see whom: at
/// least one visibility; padded calls need one that hides padding, packed ones visible::segments.
/// Shapes: any layout; more query heads than key heads, in a number that is no power of two, tell the most apart.
/// Throws: errc::head_count and errc::shape_mismatch for an impossible layout.
namespace cases {

namespace detail {

/// Random numbers, each by its place.
[[nodiscard]] inline table<double> numbers(index_t rows, index_t columns, unsigned seed) {
  std::mt19937_64 engine(seed);
  const auto made = audit::detail::random_numbers<double, 2>({rows, columns}, engine);
  return {made.values(), rows, columns};
}
template <class... See>
[[nodiscard]] bool looks_back(const See&... see) {
  return includes((hides::nothing | ... | see.hidden()), hides::future);
}

}  // namespace detail

/// No positions at all.
template <class... See>
[[nodiscard]] auto no_positions(const heads& layout, See... see) {
  return as_case("no positions", attention(layout, scale::inverse_sqrt_head_dim{}, see...));
}
/// A sink of another logit in each head.
template <class... See>
[[nodiscard]] auto sink(const heads& layout, See... see) {
  const table<double> logits = detail::numbers(1, layout.query, 11);
  return as_case("sink", attention(layout, scale::inverse_sqrt_head_dim{},
                                   scale::sink({logits.values().begin(), logits.values().end()}), see...));
}
/// The authors' slopes.
template <class... See>
[[nodiscard]] auto alibi(const heads& layout, See... see) {
  const bias::alibi bias(bias::alibi_slopes::reference(layout.query), bias::alibi_direction::symmetric);
  return as_case("alibi", attention(layout, scale::inverse_sqrt_head_dim{}, bias, see...));
}
/// A cap of 1.5 before or after ALiBi.
template <class... See>
[[nodiscard]] auto softcap(const heads& layout, scale::softcap_place place, See... see) {
  const bias::alibi bias(bias::alibi_slopes::reference(layout.query), bias::alibi_direction::symmetric);
  const scale::softcap cap({.cap = 1.5, .place = place});
  const std::string_view name = place == scale::softcap_place::before_bias ? "softcap, alibi" : "alibi, softcap";
  return as_case(name, attention(layout, scale::inverse_sqrt_head_dim{}, bias, cap, see...));
}
/// T5 without a scale: buckets of the past alone where the future is hidden, else of both directions.
template <class... See>
[[nodiscard]] auto t5(const heads& layout, See... see) {
  using coordinate::bucket_direction;
  const auto direction = detail::looks_back(see...) ? bucket_direction::causal : bucket_direction::bidirectional;
  const coordinate::t5_bucket bucket({.num_buckets = 8, .max_distance = 12, .direction = direction});
  return as_case(
      "t5", attention(layout, scale::none{}, bias::t5<double>(detail::numbers(8, layout.query, 21), bucket), see...));
}
/// A number for each clipped offset and head.
template <class... See>
[[nodiscard]] auto learned_relative(const heads& layout, See... see) {
  const auto classes = coordinate::clipped::symmetric(4);
  const auto weights = detail::numbers(classes.classes(), layout.query, 31);
  return as_case("learned relative",
                 attention(layout, scale::inverse_sqrt_head_dim{}, bias::learned_relative(weights, classes), see...));
}
/// Shaw's key and value rows, shared by the heads.
template <class... See>
[[nodiscard]] auto shaw(const heads& layout, See... see) {
  const auto classes = coordinate::clipped::symmetric(4);
  const auto rows = [&](unsigned seed) {
    return head_tables<double>::shared(detail::numbers(classes.classes(), layout.dim, seed));
  };
  return as_case("shaw", attention(layout, scale::inverse_sqrt_head_dim{}, content::shaw_key<double>(rows(41), classes),
                                   value::shaw_value<double>(rows(42), classes), see...));
}
/// BERT's relative_key_query.
template <class... See>
[[nodiscard]] auto relative_key_query(const heads& layout, See... see) {
  const content::relative_key_query<double> term(detail::numbers(127, layout.dim, 51), 64);
  return as_case("relative key query", attention(layout, scale::inverse_sqrt_head_dim{}, term, see...));
}
/// Both global biases and projected sinusoids.
template <class... See>
[[nodiscard]] auto transformer_xl(const heads& layout, See... see) {
  const auto reach =
      detail::looks_back(see...) ? content::distance_reach::back_only : content::distance_reach::both_ways;
  const content::transformer_xl<double> term(
      {.content = detail::numbers(layout.query, layout.dim, 61),
       .position = detail::numbers(layout.query, layout.dim, 62)},
      content::projected_sinusoids<double>(detail::numbers(layout.query * layout.dim, 6, 63),
                                           {.reach = reach, .clamp = content::clamp_len::unlimited()}));
  return as_case("transformer-xl", attention(layout, scale::inverse_sqrt_head_dim{}, term, see...));
}
/// c2p and p2c, the latter by the release or by the paper.
template <class... See>
[[nodiscard]] auto deberta(const heads& layout, content::p2c_index index, See... see) {
  const auto span = coordinate::deberta_span::exact(5);
  const auto rows = [&](unsigned seed) {
    return head_tables<double>::stacked(detail::numbers(layout.query * span.rows(), layout.dim, seed), layout.query);
  };
  const content::deberta<double> term(content::deberta_terms::both(index), span,
                                      {.position_keys = rows(71), .position_queries = rows(72)});
  return as_case("deberta", attention(layout, scale::inverse_sqrt_terms{}, term, see...));
}
/// TUPE's untied product over 64 positions.
template <class... See>
[[nodiscard]] auto tupe(const heads& layout, See... see) {
  const auto rows = [&](unsigned seed) {
    return head_tables<double>::stacked(detail::numbers(layout.query * 64, layout.dim, seed), layout.query);
  };
  const content::tupe<double> term({.queries = rows(81), .keys = rows(82)}, content::tupe_cls::untouched());
  return as_case("tupe", attention(layout, scale::inverse_sqrt_terms{}, term, see...));
}
/// Rotation of all dimensions, of all but the last if head_dim is odd.
template <class... See>
[[nodiscard]] auto rotary(const heads& layout, transform::pairing pairs, See... see) {
  const frequency::geometric speeds({.base = 100.0, .rotary_dim = layout.dim / 2 * 2});
  const std::string_view name = pairs == transform::pairing::adjacent ? "rotary, adjacent" : "rotary, halves";
  return as_case(
      name, attention(layout, scale::inverse_sqrt_head_dim{}, transform::rotary(speeds, {.pairs = pairs}), see...));
}

}  // namespace cases

}  // namespace posgeo::audit
