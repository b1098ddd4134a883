// SPDX-License-Identifier: MIT
#include "family.hpp"

#include <posgeo/attend/eager.hpp>
#include <posgeo/audit/examine.hpp>
#include <posgeo/audit/html/call_picture.hpp>
#include <posgeo/audit/html/findings.hpp>

#include <algorithm>

namespace posgeo::atlas {

namespace {

template <class Attention>
void add_blocks(html::page& page, const family_section& one, const Attention& model) {
  const auto plan = model.template compile<double>(one.call);
  page.add(html::call_picture(one.call));
  page.add(html::visible_pairs(plan));

  const heads& layout = one.of.layout;
  tensor<double, 4> query({one.call.batch(), layout.query, one.call.queries(), layout.dim});
  tensor<double, 4> key({one.call.batch(), layout.key_value, one.call.keys(), layout.dim});
  const double number = one.rows_hold == held::ones ? 1.0 : 0.0;
  std::fill(query.values().begin(), query.values().end(), number);
  std::fill(key.values().begin(), key.values().end(), number);
  const auto scores = attend(eager{}, plan, {query.view(), key.view(), key.view()}, also::scores).scores;
  const auto score = html::numbers_of_pairs(plan, scores.view());
  const html::shown_part part{.most_heads = 3, .most_rows = 14};
  page.add(html::pair_maps(plan, "Scores of rows that are all alike", "score", part, score));

  audit::report audited =
      audit::examine<double>(audit::as_function(eager{}), model, one.call, {.name = one.title}, one.rows);
  audited.method.erase(std::remove_if(audited.method.begin(), audited.method.end(),
                                      [](const description& policy) { return policy.name() == any_bias::absent; }),
                       audited.method.end());
  if (one.call.same_frame()) page.add(html::pairs_by_distance(plan, "Score by distance", "score", part, score));
  for (const html::block& own : one.own) page.add(own);
  page.add(html::method(audited.method));
  for (const html::block& found : html::findings(audited)) page.add(found);
}

}  // namespace

void add_family(html::page& page, const family_section& one) {
  page.section(one.title, one.words);
  const parts& of = one.of;
  if (of.transform.any()) {
    add_blocks(page, one, turned_attention(of.layout, of.scale, of.visible, of.transform));
  } else {
    add_blocks(page, one,
               related_attention(of.layout, of.scale, of.visible, of.content, of.bias, of.second_bias, of.value));
  }
}

}  // namespace posgeo::atlas
