// place[i] = slot that holds query[i], or -1. A search begins at the key's own slot and ends at an empty one (0);
// slots beyond the first slots take what is pushed over the end, and the last is always empty.
extern "C" void hash_lookup(const unsigned* table, const unsigned* query, int* place, int slots, int keys, int n) {
    (void)keys;
    for (int i = 0; i < n; ++i) {
        const unsigned key = query[i];
        long slot = (unsigned long long)(key * 2654435761u) * slots >> 32;
        while (table[slot] != key && table[slot] != 0) ++slot;
        place[i] = table[slot] == key ? (int)slot : -1;
    }
}
