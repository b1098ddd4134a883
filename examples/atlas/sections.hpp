// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/page.hpp>

namespace posgeo::atlas {

/// The sections of the atlas, one for each family of its kind.
void add_masks(audit::html::page& page);
void add_biases(audit::html::page& page);
void add_graph_biases(audit::html::page& page);
void add_contents(audit::html::page& page);
void add_transforms(audit::html::page& page);
void add_states(audit::html::page& page);

}  // namespace posgeo::atlas
