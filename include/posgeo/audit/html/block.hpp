// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/picture.hpp>
#include <posgeo/audit/html/table.hpp>

#include <string>
#include <vector>

namespace posgeo::audit::html {

/// One entry of a legend: how a thing looks, and what it is.
struct legend_entry {
  std::string look;
  std::string words;
};

/// How much of a wide page a block takes.
enum class room { half, whole };

/// Text, pictures and tables that belong together. What its pictures show, its words or tables say.
struct block {
  std::string title = {};
  std::string words = {};
  std::vector<picture> pictures = {};
  std::vector<legend_entry> legend = {};
  std::vector<table> tables = {};
  std::vector<table> numbers = {};  ///< what is folded on a screen, under the words below
  std::string numbers_are = "Numbers of the pictures";
  room width = room::half;
};

}  // namespace posgeo::audit::html
