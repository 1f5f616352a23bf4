// 64 rules at once per packet, their fields in rows of their own that fit into L1; the first group with a fit ends it.
// Packets go to the threads.
#include <cstdint>
#include <vector>

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

namespace {
constexpr int kLanes = 64;

struct alignas(64) Group {
    uint32_t source[kLanes], source_free[kLanes], target[kLanes], target_free[kLanes];
    uint32_t protocol[kLanes], protocol_mask[kLanes], low[kLanes], width[kLanes];

    void put(int lane, const Rule& r) {
        source[lane] = r.source;
        source_free[lane] = r.source_free;
        target[lane] = r.target;
        target_free[lane] = r.target_free;
        low[lane] = r.low;
        width[lane] = r.high - r.low;
        protocol[lane] = r.protocol;
        protocol_mask[lane] = r.protocol == 0 ? 0 : ~0u;
        if (r.high < r.low) block(lane);
    }

    void block(int lane) {  // fits no packet: protocols have 16 bits
        protocol[lane] = ~0u;
        protocol_mask[lane] = ~0u;
    }

    bool fits(int l, const Packet& p) const {
        const uint32_t off = (source[l] ^ p.source) >> source_free[l] | (target[l] ^ p.target) >> target_free[l] |
                             ((protocol[l] ^ p.protocol) & protocol_mask[l]);
        return (off == 0) & (p.port - low[l] <= width[l]);
    }

    bool any(const Packet& p) const {
        int found = 0;
        for (int l = 0; l < kLanes; ++l) found |= fits(l, p);
        return found != 0;
    }
};
}  // namespace

extern "C" void firewall_rules(const Packet* __restrict packets, const Rule* __restrict rules, int* __restrict first,
                               int npackets, int nrules) {
    const int ngroups = (nrules + kLanes - 1) / kLanes;
    std::vector<Group> groups(ngroups, Group{});
    for (int r = 0; r < ngroups * kLanes; ++r) {
        if (r < nrules) {
            groups[r / kLanes].put(r % kLanes, rules[r]);
        } else {
            groups[r / kLanes].block(r % kLanes);
        }
    }
#pragma omp parallel for schedule(dynamic, 1024)
    for (int i = 0; i < npackets; ++i) {
        const Packet p = packets[i];
        int found = -1;
        for (int g = 0; g < ngroups; ++g) {
            if (!groups[g].any(p)) continue;
            int lane = 0;
            while (!groups[g].fits(lane, p)) ++lane;
            found = g * kLanes + lane;
            break;
        }
        first[i] = found;
    }
}
