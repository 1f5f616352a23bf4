// As much of CUPTI as profile.cpp uses: its records are those that a test has put there.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define CUPTIAPI
#define CUPTI_API_VERSION 130000
typedef void *CUcontext;
enum CUptiResult { CUPTI_SUCCESS = 0, CUPTI_ERROR_MAX_LIMIT_REACHED = 12 };
enum CUpti_ActivityKind {
  CUPTI_ACTIVITY_KIND_MEMCPY = 1,
  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10
};
enum { CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1 };
enum { CUPTI_ACTIVITY_MEMCPY_KIND_HTOD = 1, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH = 2 };

struct CUpti_Activity {
  CUpti_ActivityKind kind;
};
struct CUpti_ActivityKernel10 {
  CUpti_ActivityKind kind;
  uint64_t start, end;
  const char *name;
};
struct CUpti_ActivityMemcpy6 {
  CUpti_ActivityKind kind;
  uint8_t copyKind;
  uint64_t bytes, start, end;
};

typedef void (*GiveBuffer)(uint8_t **, size_t *, size_t *);
typedef void (*TakeBuffer)(CUcontext, uint32_t, uint8_t *, size_t, size_t);

extern "C" {
CUptiResult cuptiActivityRegisterCallbacks(GiveBuffer, TakeBuffer);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind);
CUptiResult cuptiActivityFlushAll(uint32_t);
CUptiResult cuptiActivityGetNextRecord(uint8_t *, size_t, CUpti_Activity **);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t *);

void fake_kernel(const char *name, uint64_t start, uint64_t end);
void fake_copy(int kind, uint64_t bytes, uint64_t start, uint64_t end);
void fake_loss(uint64_t records);
}
