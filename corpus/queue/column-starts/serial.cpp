// start[c] = number of elements of column that are below c, for 0 <= c <= columns.
extern "C" void column_starts(const int* column, int* start, int columns, int count) {
    for (int c = 0; c <= columns; ++c) start[c] = 0;
    for (int e = 0; e < count; ++e) ++start[column[e] + 1];
    for (int c = 0; c < columns; ++c) start[c + 1] += start[c];
}
