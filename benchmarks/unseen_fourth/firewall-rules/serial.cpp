// The first rule of a firewall that fits each packet. A rule names two networks (addresses whose last bits do not
// count), a range of ports and a protocol, 0 for any; -1 where no rule fits.
#include <cstdint>

struct Packet {
    uint32_t source, target;
    uint16_t port, protocol;
};

struct Rule {
    uint32_t source, target;
    uint8_t source_free, target_free;  // how many last bits do not count
    uint16_t protocol;
    uint16_t low, high;

    bool fits(const Packet& p) const {
        if (protocol != 0 && protocol != p.protocol) return false;
        if ((source ^ p.source) >> source_free != 0) return false;
        if ((target ^ p.target) >> target_free != 0) return false;
        return low <= p.port && p.port <= high;
    }
};

extern "C" void firewall_rules(const Packet* packets, const Rule* rules, int* first, int npackets, int nrules) {
    for (int i = 0; i < npackets; ++i) {
        first[i] = -1;
        for (int r = 0; r < nrules; ++r) {
            if (rules[r].fits(packets[i])) {
                first[i] = r;
                break;
            }
        }
    }
}
