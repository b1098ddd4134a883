// SPDX-License-Identifier: MIT
#include <posgeo/audit/coverage.hpp>
#include <posgeo/audit/html/buckets.hpp>
#include <posgeo/audit/html/coverage.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include <array>

#include "family.hpp"
#include "numbers.hpp"
#include "sections.hpp"

namespace posgeo::atlas {

void add_masks(html::page& page) {
  const std::array<index_t, 3> lengths{5, 1, 6};
  add_family(
      page, {.title = "No position: masks alone",
             .words = "A causal mask and a window in a packed row of three sequences. Nothing is added to a score; the "
                      "mask alone tells one order from another.",
             .of = {.layout = {.query = 2, .key_value = 1, .dim = 4},
                    .scale = scale::inverse_sqrt_head_dim{},
                    .visible = visible::all_of(visible::window::counting_own_key(4), visible::segments{})},
             .call = call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart}),
             .rows_hold = held::ones});
}

void add_biases(html::page& page) {
  const heads three{.query = 3, .key_value = 1, .dim = 4};
  const std::array<index_t, 2> lengths{9, 6};
  add_family(page, {.title = "ALiBi",
                    .words = "Each head subtracts its slope times the distance, after the scale. A left-padded batch.",
                    .of = {.layout = three,
                           .scale = scale::inverse_sqrt_head_dim{},
                           .visible = visible::all_of(visible::causal{}, visible::active{}),
                           .bias = bias::alibi(bias::alibi_slopes::reference(3), bias::alibi_direction::causal)},
                    .call = call::padded_batch({.lengths = lengths,
                                                .rows = 9,
                                                .side = call::padding_side::left,
                                                .positions = call::padded_positions::compressed(0, 0)}),
                    .rows_hold = held::zeros});

  const coordinate::t5_bucket bucket(
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional});
  const bias::t5<double> t5(waves(32, 3, 1.5), bucket);
  const position_call right = call::padded_batch({.lengths = lengths,
                                                  .rows = 10,
                                                  .side = call::padding_side::right,
                                                  .positions = call::padded_positions::contiguous()});
  audit::coverage seen;
  seen.observe(attention{three, scale::none{}, t5, visible::active{}}.compile<double>(right));
  add_family(
      page,
      {.title = "T5",
       .words = "A learned number for each head and bucket of the offset; scores have no scale. The coverage "
                "counts what this one call would teach the table.",
       .of = {.layout = three, .scale = scale::none{}, .visible = visible::active{}, .bias = t5},
       .call = right,
       .rows_hold = held::zeros,
       .own = {html::bucket_edges("T5, 32 buckets up to 128", bucket, relative_offset{-150}, relative_offset{150}),
               html::coverage_picture(seen, 4)}});

  const auto classes = coordinate::clipped::symmetric(4);
  add_family(
      page,
      {.title = "Learned relative bias",
       .words = "A learned number for each head and clipped offset. Four new rows after seven that the cache holds.",
       .of = {.layout = three,
              .scale = scale::inverse_sqrt_head_dim{},
              .visible = visible::causal{},
              .bias = bias::learned_relative(waves(classes.classes(), 3, 1.0), classes)},
       .call = call::prefill_chunk(7, 4),
       .rows_hold = held::zeros,
       .own = {html::bucket_edges("offsets clipped at 4", classes, relative_offset{-9}, relative_offset{9})}});
}

}  // namespace posgeo::atlas
