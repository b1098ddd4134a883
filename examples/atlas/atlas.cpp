// SPDX-License-Identifier: MIT
// The atlas of positional geometry: every family as a section of one HTML file, drawn and audited from the library's
// own numbers. With --pictures, the pictures of docs/mechanisms.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "pictures/pictures.hpp"
#include "sections.hpp"

namespace {

void write_pictures(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  for (const auto& picture : posgeo::pictures::every_picture()) {
    std::ofstream file(directory / (picture.name + ".svg"), std::ios::binary);
    file << picture.svg;
    if (!file.flush()) throw std::runtime_error("cannot write " + picture.name + ".svg");
  }
}

void write_atlas(const std::filesystem::path& path) {
  using namespace posgeo::atlas;
  posgeo::audit::html::page page(
      "Atlas of positional geometry",
      "Every family of this library on a small call: where the rows stand, who sees whom, what position does to the "
      "scores, and what each intervention changes while the content of the rows is held fixed. Scores are those of "
      "rows "
      "that are all alike, so that position alone makes the difference. Interventions are run on random rows.");
  add_masks(page);
  add_biases(page);
  add_graph_biases(page);
  add_contents(page);
  add_transforms(page);
  add_states(page);
  page.write(path);
}

}  // namespace

int main(int argc, char** argv) {
  const bool pictures = argc == 3 && std::string_view(argv[1]) == "--pictures";
  if (!pictures && (argc != 2 || argv[1][0] == '-')) {
    std::fputs("usage: posgeo_atlas OUT.html\n       posgeo_atlas --pictures DIRECTORY\n", stderr);
    return 2;
  }
  try {
    if (pictures) {
      write_pictures(argv[2]);
    } else {
      write_atlas(argv[1]);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
