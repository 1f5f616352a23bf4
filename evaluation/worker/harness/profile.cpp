// Kernel times of a call, by CUPTI's activity records: a small library that a worker loads before
// it makes its context. regraph_profile_open, then regraph_profile_begin and _end around a call
// that has been synchronised with; _end writes one JSON object. Loaded for advice, never for a
// verdict: the candidate shares the process, and recording slows its launches down.
// Not covered: hardware counters; kernels that a kernel launches; more than one device.
#include <cupti.h>
#include <cxxabi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 Kernel;
typedef CUpti_ActivityMemcpy6 Memcpy;
#else
typedef CUpti_ActivityKernel9 Kernel;
typedef CUpti_ActivityMemcpy5 Memcpy;
#endif

constexpr size_t BUFFER_BYTES = 1 << 20, NAME_LENGTH = 60;

struct Span {
  uint64_t start, end;
};

struct Named {
  uint64_t count, nanoseconds;
};

std::mutex mutex;  // CUPTI hands buffers over on a thread of its own
std::vector<Span> kernels, copies, all;
std::map<std::string, Named> names;
uint64_t inward, outward, inside, dropped;

// Nanoseconds that any of the spans covers.
uint64_t covered(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.start < b.start; });
  uint64_t sum = 0, end = 0;
  for (const Span &span : spans) {
    const uint64_t start = std::max(span.start, end);
    if (span.end > start) sum += span.end - start;
    end = std::max(end, span.end);
  }
  return sum;
}

// A kernel's name without return type and parameters: "ns::kernel<int>".
std::string short_name(const char *mangled) {
  if (!mangled) return "?";
  int status = 0;
  char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : mangled;
  free(text);
  const std::string hidden = "(anonymous namespace)::", nothing = "void ";
  for (size_t at; (at = name.find(hidden)) != std::string::npos;) name.erase(at, hidden.size());
  if (name.compare(0, nothing.size(), nothing) == 0) name.erase(0, nothing.size());
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    depth += (name[i] == '<') - (name[i] == '>');
    if (name[i] == '(' && depth == 0) name.resize(i);
  }
  for (char &letter : name)
    if (letter == '"' || letter == '\\' || letter < ' ' || letter > '~') letter = '?';
  return name.size() > NAME_LENGTH ? name.substr(0, NAME_LENGTH - 3) + "..." : name;
}

void add_copy(const Memcpy &copy) {
  copies.push_back({copy.start, copy.end});
  all.push_back(copies.back());
  if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
    inward += copy.bytes;
  else if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
    outward += copy.bytes;
  else
    inside += copy.bytes;
}

void add(const CUpti_Activity *record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const Kernel &kernel = *reinterpret_cast<const Kernel *>(record);
    kernels.push_back({kernel.start, kernel.end});
    all.push_back(kernels.back());
    Named &named = names[short_name(kernel.name)];
    ++named.count;
    named.nanoseconds += kernel.end - kernel.start;
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    add_copy(*reinterpret_cast<const Memcpy *>(record));
  }
}

void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most) {
  *buffer = static_cast<uint8_t *>(aligned_alloc(8, BUFFER_BYTES));
  *size = *buffer ? BUFFER_BYTES : 0;
  *most = 0;
}

void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t,
                          size_t used) {
  std::lock_guard<std::mutex> lock(mutex);
  CUpti_Activity *record = nullptr;
  while (used && cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS) add(record);
  size_t lost = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
  free(buffer);
}

// Appends to `out` if all of it fits and leaves `spare` bytes; whether it did.
bool append(char *out, size_t size, size_t &used, size_t spare, const char *format, ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (length < 0 || size_t(length) >= sizeof text || used + length + spare >= size) return false;
  std::copy(text, text + length + 1, out + used);
  used += length;
  return true;
}

// The names that took longest first, as many as fit.
bool append_names(char *out, size_t size, size_t &used) {
  std::vector<std::pair<std::string, Named>> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return a.second.nanoseconds > b.second.nanoseconds;
  });
  if (!append(out, size, used, 2, "\"names\": [")) return false;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Named &named = sorted[i].second;
    if (!append(out, size, used, 2, "%s[\"%s\", %llu, %llu]", i ? ", " : "",
                sorted[i].first.c_str(), static_cast<unsigned long long>(named.count),
                static_cast<unsigned long long>(named.nanoseconds)))
      break;
  }
  return append(out, size, used, 0, "]}");
}

}  // namespace

extern "C" {

// Begins to record; call it before the CUDA context is made. Returns 0, or CUPTI's error.
int regraph_profile_open() {
  CUptiResult result = cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
  for (CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY})
    if (result == CUPTI_SUCCESS) result = cuptiActivityEnable(kind);
  return result;
}

// Forgets what was recorded so far. The device must be idle. Returns 0, or CUPTI's error.
int regraph_profile_begin() {
  const CUptiResult result = cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::lock_guard<std::mutex> lock(mutex);
  for (auto *spans : {&kernels, &copies, &all}) spans->clear();
  names.clear();
  inward = outward = inside = dropped = 0;
  return result;
}

// Writes what was recorded since: at most `size` bytes with the closing zero. The device must be
// idle. Returns 0, CUPTI's error, or -1 where the text does not fit.
int regraph_profile_end(char *out, size_t size) {
  const CUptiResult result = cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  if (result != CUPTI_SUCCESS) return result;
  std::lock_guard<std::mutex> lock(mutex);
  typedef unsigned long long Number;
  size_t used = 0;
  const bool fits =
      append(out, size, used, 0, "{\"kernels\": %llu, \"kernel_ns\": %llu, \"copies\": %llu, ",
             Number(kernels.size()), Number(covered(kernels)), Number(copies.size())) &&
      append(out, size, used, 0, "\"copy_ns\": %llu, \"busy_ns\": %llu, \"dropped\": %llu, ",
             Number(covered(copies)), Number(covered(all)), Number(dropped)) &&
      append(out, size, used, 0, "\"in_bytes\": %llu, \"out_bytes\": %llu, ", Number(inward),
             Number(outward)) &&
      append(out, size, used, 0, "\"inside_bytes\": %llu, ", Number(inside)) &&
      append_names(out, size, used);
  return fits ? 0 : -1;
}
}
