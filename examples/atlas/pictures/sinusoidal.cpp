// SPDX-License-Identifier: MIT
#include <posgeo/encode/sinusoidal.hpp>

#include "pictures.hpp"
#include "rows.hpp"

namespace posgeo::pictures {

std::string sinusoidal() {
  const encode::sinusoidal encoder(
      {.width = 32, .layout = encode::sinusoid_layout::interleaved, .exponent = encode::sinusoid_exponent::paper});
  const auto positions = counted(0, 48);
  return draw(heatmap{.title = "Sinusoidal positions, width 32, interleaved",
                      .across = "dimension",
                      .down = "position",
                      .column_names = names_of(counted(0, encoder.width())),
                      .row_names = names_of(positions),
                      .values = added(encoder, positions)});
}

}  // namespace posgeo::pictures
