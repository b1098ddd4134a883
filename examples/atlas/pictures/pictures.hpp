// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "svg.hpp"

namespace posgeo::pictures {

/// One picture for each page of docs/mechanisms, by the page's name.
struct picture {
  std::string name;
  std::string svg;
};

std::string sinusoidal();
std::string learned_absolute();
std::string rotary();
std::string alibi();
std::string t5();
std::string nope();
std::string visibility();
std::string scale();
std::string sink();
std::string shaw();
std::string transformer_xl();
std::string deberta();
std::string tupe();
std::string graphormer();
std::string grid();
std::string time2vec();
std::string row_metadata();
std::string index_encoders();
std::string position_rules();
std::string rotary_scaling();
std::string multi_axis();

[[nodiscard]] inline std::vector<picture> every_picture() {
  return {{"sinusoidal", sinusoidal()},
          {"learned_absolute", learned_absolute()},
          {"rotary", rotary()},
          {"alibi", alibi()},
          {"t5", t5()},
          {"nope", nope()},
          {"visibility", visibility()},
          {"scale", scale()},
          {"sink", sink()},
          {"shaw", shaw()},
          {"transformer_xl", transformer_xl()},
          {"deberta", deberta()},
          {"tupe", tupe()},
          {"graphormer", graphormer()},
          {"grid", grid()},
          {"time2vec", time2vec()},
          {"row_metadata", row_metadata()},
          {"index_encoders", index_encoders()},
          {"position_rules", position_rules()},
          {"rotary_scaling", rotary_scaling()},
          {"multi_axis", multi_axis()}};
}

}  // namespace posgeo::pictures
