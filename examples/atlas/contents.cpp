// SPDX-License-Identifier: MIT
#include <posgeo/audit/html/buckets.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/projected_sinusoids.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>

#include <array>

#include "family.hpp"
#include "numbers.hpp"
#include "sections.hpp"

namespace posgeo::atlas {
namespace {

position_call one_sequence(index_t length, index_t rows) {
  const std::array<index_t, 1> lengths{length};
  return call::padded_batch({.lengths = lengths,
                             .rows = rows,
                             .side = call::padding_side::right,
                             .positions = call::padded_positions::contiguous()});
}

}  // namespace

void add_contents(html::page& page) {
  using tables = head_tables<double>;
  const heads two{.query = 2, .key_value = 2, .dim = 4};
  const auto classes = coordinate::clipped::symmetric(3);
  add_family(
      page,
      {.title = "Shaw",
       .words =
           "The query meets a learned row for each clipped offset, and the value gains another. Four new rows after "
           "six cached ones.",
       .of = {.layout = two,
              .scale = scale::inverse_sqrt_head_dim{},
              .visible = visible::causal{},
              .content = content::shaw_key<double>(tables::shared(waves(classes.classes(), 4, 0.7)), classes),
              .value = value::shaw_value<double>(tables::shared(some_table(classes.classes(), 4, 1.0, 21)), classes)},
       .call = call::prefill_chunk(6, 4),
       .rows_hold = held::ones,
       .own = {html::bucket_edges("offsets clipped at 3", classes, relative_offset{-8}, relative_offset{8})}});

  add_family(page,
             {.title = "BERT's relative keys",
              .words = "Query and key both meet the row of their offset, which counts query minus key and ends at "
                       "the table.",
              .of = {.layout = two,
                     .scale = scale::inverse_sqrt_head_dim{},
                     .visible = visible::active{},
                     .content = content::relative_key_query<double>(waves(23, 4, 0.7), 12)},
              .call = one_sequence(9, 10),
              .rows_hold = held::ones});

  add_family(page,
             {.title = "Transformer-XL",
              .words = "A bias of the model meets the projected sinusoid of the distance. A segment of four rows and a "
                       "memory of seven.",
              .of = {.layout = two,
                     .scale = scale::inverse_sqrt_head_dim{},
                     .visible = visible::causal{},
                     .content = content::transformer_xl<double>(
                         {.content = some_table(2, 4, 0.5, 22), .position = waves(2, 4, 1.0)},
                         content::projected_sinusoids<double>(
                             some_table(8, 8, 0.5, 23),
                             {.reach = content::distance_reach::back_only, .clamp = content::clamp_len::unlimited()}))},
              .call = call::prefill_chunk(7, 4),
              .rows_hold = held::ones});

  const coordinate::log_bucket bucket(
      {.num_buckets = 8, .max_position = 32, .beyond = coordinate::beyond_max_position::clamped});
  const auto rows = tables::stacked(waves(32, 4, 0.7), 2);
  add_family(
      page,
      {.title = "DeBERTa",
       .words = "Content meets position both ways, over signed logarithmic buckets; the scale counts three products.",
       .of = {.layout = two,
              .scale = scale::inverse_sqrt_terms{},
              .visible = visible::active{},
              .content = content::deberta<double>(content::deberta_terms::both(content::p2c_index::paper),
                                                  coordinate::deberta_span::bucketed(bucket),
                                                  {.position_keys = rows, .position_queries = rows})},
       .call = one_sequence(11, 12),
       .rows_hold = held::ones,
       .own = {html::bucket_edges("DeBERTa, 8 buckets up to 32", bucket, relative_offset{-40}, relative_offset{40})}});

  const coordinate::t5_bucket relative(
      {.num_buckets = 8, .max_distance = 8, .direction = coordinate::bucket_direction::bidirectional});
  const auto turning = tables::stacked(waves(26, 4, 0.8), 2);
  add_family(page,
             {.title = "TUPE",
              .words = "Positions meet positions in a product of their own, untied from the content; the row [CLS] "
                       "has numbers of its own, and a bucket bias is added after the scale.",
              .of = {.layout = two,
                     .scale = scale::inverse_sqrt_terms{},
                     .visible = visible::active{},
                     .content = content::tupe<double>({.queries = turning, .keys = turning},
                                                      content::tupe_cls::released(position{0})),
                     .bias = bias::tupe_relative<double>(waves(9, 2, 0.5), relative, {.cls = position{0}})},
              .call = one_sequence(10, 11),
              .rows_hold = held::zeros});
}

}  // namespace posgeo::atlas
