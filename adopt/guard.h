#define REGRAPH_TEXT(...) #__VA_ARGS__
#define REGRAPH_SAME(value, text) (__builtin_strcmp(REGRAPH_TEXT(value), text) == 0)

    const auto regraph_len = [](long long length) { return length; };

    const auto regraph_apart = [](const void* b1, const void* e1, const void* b2, const void* e2) { return e1 <= b2 || e2 <= b1; };

#undef REGRAPH_SAME
#undef REGRAPH_TEXT
