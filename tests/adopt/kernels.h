#pragma once
inline float positive(float x) { return x > 0 ? x : 0; }
