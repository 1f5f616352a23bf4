// What the glue around a user's function asks of the recorder (probe.py, recorder.cpp).
#pragma once
#include <cstddef>
extern "C" {
void *probe_room(int slot, std::size_t element, void *own);
double probe_number(int slot);
std::size_t probe_length(int slot);
const void *probe_content(int slot);
void probe_begin();
void probe_keep(const void *result);
void probe_end();
void probe_returned(std::size_t size);
void probe_after(int slot, std::size_t size, const void *data);
void probe_call();  // the glue's own
}
