// A thread per packet; rules come in tiles of shared memory, unpacked once so that a test takes few instructions, and
// all lanes read the same one. A warp leaves a tile when all its packets have found their rule.
#include <cuda_runtime.h>

#include <cstdint>

struct Packet {
    uint32_t source, target;
    uint16_t port, protocol;
};

struct Rule {
    uint32_t source, target;
    uint8_t source_free, target_free;
    uint16_t protocol;
    uint16_t low, high;
};

constexpr int kBlock = 128, kTile = 512;

__global__ void __launch_bounds__(kBlock) run(const Packet* __restrict__ packets, const Rule* __restrict__ rules,
                                              int* __restrict__ first, int npackets, int nrules) {
    __shared__ uint4 tile[kTile][2];
    const int i = blockIdx.x * kBlock + threadIdx.x;
    Packet p = {};
    if (i < npackets) p = packets[i];
    const unsigned port = p.port, protocol = p.protocol;
    int found = -1;
    for (int begin = 0; begin < nrules; begin += kTile) {
        const int here = min(kTile, nrules - begin);
        __syncthreads();
        for (int r = threadIdx.x; r < here; r += kBlock) {
            const Rule rule = rules[begin + r];
            const bool none = rule.high < rule.low;  // then no packet fits: protocols have 16 bits
            const unsigned wanted = none ? 0xffffffffu : rule.protocol;
            tile[r][0] = make_uint4(rule.source, rule.target, rule.source_free, rule.target_free);
            tile[r][1] = make_uint4(wanted, wanted == 0u ? 0u : 0xffffffffu, rule.low, (unsigned)(rule.high - rule.low));
        }
        __syncthreads();
        bool open = i < npackets && found < 0;
        for (int r = 0; open && r < here; ++r) {
            const uint4 a = tile[r][0], b = tile[r][1];
            const unsigned off = (a.x ^ p.source) >> a.z | (a.y ^ p.target) >> a.w | ((b.x ^ protocol) & b.y);
            if (off == 0u && port - b.z <= b.w) {
                found = begin + r;
                open = false;
            }
        }
    }
    if (i < npackets) first[i] = found;
}

extern "C" void firewall_rules(const Packet* packets, const Rule* rules, int* first, int npackets, int nrules) {
    run<<<(npackets + kBlock - 1) / kBlock, kBlock>>>(packets, rules, first, npackets, nrules);
}
