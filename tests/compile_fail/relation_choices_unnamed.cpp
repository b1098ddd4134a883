// SPDX-License-Identifier: MIT
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/content/distance_rows.hpp>
#include <posgeo/visible/within_hops.hpp>

#include <utility>
#include <vector>

using namespace posgeo;
using coordinate::graph_rows;

#ifdef POSGEO_SHOULD_FAIL
const content::distance_rows_settings no_distance_order{.lowest = 0};
const bias::tupe_relative_settings no_cls{};
const visible::within_hops_settings no_unreachable{.most = 3};
graph_rows no_graph_token(std::vector<coordinate::graph> all) { return graph_rows(std::move(all)); }
#else
const content::distance_rows_settings distances{.lowest = 0, .order = content::distance_order::ascending};
const bias::tupe_relative_settings relative{.cls = position{0}};
const visible::within_hops_settings hops{.most = 3, .unreachable = visible::unreachable_pairs::hidden};
graph_rows with_token(std::vector<coordinate::graph> all) {
  return graph_rows(std::move(all), coordinate::graph_token::none());
}
#endif
