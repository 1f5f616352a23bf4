// Where the records of a CSV text begin and how many fields each has. Commas and line ends between quotes are
// text; a doubled quote leaves and enters at once. Nothing begins after a line end at the very end.
struct Reader {
    bool quoted = false;
    int fields = 1;

    // Whether a record ends with this byte.
    bool ends(unsigned char byte) {
        switch (byte) {
            case '"':
                quoted = !quoted;
                return false;
            case ',':
                if (!quoted) ++fields;
                return false;
            case '\n':
                return !quoted;
            default:
                return false;
        }
    }
};

extern "C" void csv_records(const unsigned char* text, int* start, int* fields, int* records, int length) {
    Reader reader;
    int found = 0;
    if (length > 0) start[0] = 0;
    for (int i = 0; i < length; ++i) {
        if (!reader.ends(text[i])) continue;
        fields[found++] = reader.fields;
        reader.fields = 1;
        if (i + 1 < length) start[found] = i + 1;
    }
    if (length > 0 && (text[length - 1] != '\n' || reader.quoted)) fields[found++] = reader.fields;
    *records = found;
}
