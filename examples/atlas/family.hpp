// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/page.hpp>

#include <string>
#include <vector>

#include "any_policy.hpp"

namespace posgeo::atlas {

namespace html = audit::html;

/// What each row holds in the score pictures, so that positions alone make the difference.
enum class held { zeros, ones };

/// A family of the atlas.
struct family_section {
  std::string title;
  std::string words;
  parts of;
  position_call call;
  held rows_hold;
  std::vector<html::block> own = {};  ///< blocks between its scores and its interventions
  any_rows rows = {};                 ///< of the interventions
};

/// A family as a section: its call, its scores, its interventions and its method.
void add_family(html::page& page, const family_section& one);

}  // namespace posgeo::atlas
