// Tells each way that a condition goes for the first time.
#pragma once
#include <cstdio>
inline bool regraph_way(int number, bool way) {
  static bool seen[REGRAPH_CONDITIONS][2];
  if (!seen[number][way]) std::fprintf(stderr, "way %d %d\n", number, way);
  return seen[number][way] = true, way;
}
