// SPDX-License-Identifier: MIT
// Position products beside the content product: Transformer-XL, DeBERTa, TUPE.
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>

#include "families/families.hpp"

namespace posgeo::bench {

namespace {

auto transformer_xl_model(const request& r) {
  const index_t furthest = position_end(r) - 1;
  const index_t lowest = r.sees == mask::causal ? 0 : -furthest;
  const content::distance_rows<float> rows{random_stacked(r.layout.query, furthest - lowest + 1, r.layout.dim),
                                           {.lowest = lowest, .order = content::distance_order::ascending}};
  const content::global_biases<float> biases{random_table(r.layout.query, r.layout.dim),
                                             random_table(r.layout.query, r.layout.dim)};
  auto out = model_of(r, content::transformer_xl<float, content::distance_rows<float>>{biases, rows});
  out.class_of = [](relative_offset offset) { return offset.value(); };
  out.class_sides = 1;
  return out;
}

auto deberta_model(const request& r) {
  const auto span = coordinate::deberta_span::bucketed(coordinate::log_bucket(
      {.num_buckets = 256, .max_position = 512, .beyond = coordinate::beyond_max_position::clamped}));
  const auto tables = [&] { return random_stacked(r.layout.query, span.rows(), r.layout.dim); };
  auto out = model_of(r, content::deberta<float>{content::deberta_terms::both(content::p2c_index::released_code),
                                                 span,
                                                 {.position_keys = tables(), .position_queries = tables()}});
  out.class_of = [span](relative_offset offset) { return span(offset); };
  out.class_sides = 2;
  return out;
}

content::tupe<float> tupe_of(const request& r, content::tupe_cls cls) {
  const auto rows = [&] { return random_stacked(r.layout.query, position_end(r) + 1, r.layout.dim); };
  return {{.queries = rows(), .keys = rows()}, cls};
}
auto tupe_model(const request& r) {
  auto out = model_of(r, tupe_of(r, content::tupe_cls::untouched()));
  out.appended_dim = r.layout.dim;
  return out;
}
auto tupe_relative_model(const request& r) {
  const coordinate::t5_bucket bucket{
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}};
  auto out = model_of(r, tupe_of(r, content::tupe_cls::released(position{0})),
                      bias::tupe_relative<float>{random_table(33, r.layout.query), bucket, {.cls = position{0}}});
  out.appended_dim = r.layout.dim + 2;
  return out;
}

}  // namespace

std::vector<family> disentangled_families() {
  return {
      family_of<float>("transformer_xl", &transformer_xl_model),
      family_of<float>("deberta", &deberta_model),
      family_of<float>("tupe", &tupe_model),
      family_of<float>("tupe_relative", &tupe_relative_model),
  };
}

}  // namespace posgeo::bench
