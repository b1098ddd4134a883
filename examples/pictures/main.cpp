// SPDX-License-Identifier: MIT
// Draws the pictures of docs/mechanisms from the library's own numbers: posgeo_pictures DIRECTORY
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "pictures.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: posgeo_pictures DIRECTORY\n", stderr);
    return 2;
  }
  try {
    const std::filesystem::path directory = argv[1];
    std::filesystem::create_directories(directory);
    for (const auto& picture : posgeo::pictures::every_picture()) {
      std::ofstream file(directory / (picture.name + ".svg"), std::ios::binary);
      file << picture.svg;
      if (!file.flush()) throw std::runtime_error("cannot write " + picture.name + ".svg");
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
