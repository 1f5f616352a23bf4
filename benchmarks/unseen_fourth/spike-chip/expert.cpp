// Neurons and what arrives at them belong to one thread each: a neuron's wires are sorted by the thread that owns the
// target, so nothing is added by two, and one barrier per tick will do. Potentials are vectors, spikes a short list.
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace {
constexpr int kLanes = 64;

// The target is counted from its owner's first neuron.
struct Narrow {
    uint16_t target;
    int8_t weight;
    uint8_t delay;
};

struct Wide {
    uint32_t target;
    int16_t weight;
    uint16_t delay;
};

template <class Wire>
void simulate(const int* __restrict target, const int8_t* __restrict weight, const uint8_t* __restrict delay,
              const int* __restrict bias, const int* __restrict start, int* __restrict potential,
              int* __restrict fired, int* __restrict per_tick, int threshold, int neurons, int fan, int slots,
              int ticks) {
    const int most = std::max(1, std::min(omp_get_max_threads(), neurons / 256));
    std::unique_ptr<Wire[]> wires(new Wire[(size_t)neurons * fan]);
    std::unique_ptr<int[]> from(new int[(size_t)neurons * (most + 1)]);  // of a neuron's wires, by owner
    std::unique_ptr<int[]> mail(new int[(size_t)slots * neurons]);
    std::vector<std::vector<int>> spikes(2 * most);
    std::fill(per_tick, per_tick + ticks, 0);
#pragma omp parallel num_threads(most)
    {
        const int id = omp_get_thread_num(), threads = omp_get_num_threads();  // there may be fewer than asked for
        const int band = ((neurons + threads - 1) / threads + 15) / 16 * 16;
        const int begin = std::min(neurons, id * band), end = std::min(neurons, begin + band);
        std::vector<int> place(threads + 1), owner(fan);
        const double per_band = 1.0 / band;
        for (int i = begin; i < end; ++i) {
            const size_t row = (size_t)i * fan;
            for (int k = 0; k < fan; ++k) owner[k] = (int)((target[row + k] + 0.5) * per_band);
            std::fill(place.begin(), place.end(), 0);
            for (int k = 0; k < fan; ++k) ++place[owner[k] + 1];
            for (int t = 0; t < threads; ++t) place[t + 1] += place[t];
            std::copy(place.begin(), place.end(), &from[(size_t)i * (threads + 1)]);
            for (int k = 0; k < fan; ++k) {
                Wire& wire = wires[row + place[owner[k]]++];
                wire.target = (decltype(wire.target))(target[row + k] - owner[k] * band);
                wire.weight = weight[row + k];
                wire.delay = delay[row + k];
            }
            potential[i] = start[i];
            fired[i] = 0;
        }
        for (int s = 0; s < slots; ++s) std::fill(&mail[(size_t)s * neurons] + begin, &mail[(size_t)s * neurons] + end, 0);
        std::vector<int*> box(slots);
        for (int t = 0; t < 2; ++t) spikes[t * threads + id].reserve(end - begin);
#pragma omp barrier
        for (int tick = 0; tick < ticks; ++tick) {
            for (int d = 0; d < slots; ++d) box[d] = &mail[(size_t)((tick + d) % slots) * neurons] + begin;
            std::vector<int>& mine = spikes[tick % 2 * threads + id];
            mine.clear();
            int* __restrict arrived = box[0];
            for (int first = begin; first < end; first += kLanes) {
                const int stop = std::min(end, first + kLanes);
                int most = INT32_MIN;
                for (int i = first; i < stop; ++i) {
                    const int v = potential[i] + arrived[i - begin] + bias[i] - (potential[i] >> 4);
                    arrived[i - begin] = 0;
                    potential[i] = v;
                    most = std::max(most, v);
                }
                for (int i = first; i < stop && most >= threshold; ++i) {
                    if (potential[i] < threshold) continue;
                    potential[i] = 0;
                    ++fired[i];
                    mine.push_back(i);
                }
            }
#pragma omp atomic
            per_tick[tick] += (int)mine.size();
#pragma omp barrier
            for (int t = 0; t < threads; ++t) {
                for (const int i : spikes[tick % 2 * threads + t]) {
                    const int* of = &from[(size_t)i * (threads + 1) + id];
                    const Wire* row = &wires[(size_t)i * fan];
                    for (int k = of[0]; k < of[1]; ++k) box[row[k].delay][row[k].target] += row[k].weight;
                }
            }
        }
    }
}
}  // namespace

extern "C" void spike_chip(const int* target, const int8_t* weight, const uint8_t* delay, const int* bias,
                           const int* start, int* potential, int* fired, int* per_tick, int threshold, int neurons,
                           int fan, int slots, int ticks) {
    const auto run = neurons <= 65536 ? simulate<Narrow> : simulate<Wide>;
    run(target, weight, delay, bias, start, potential, fired, per_tick, threshold, neurons, fan, slots, ticks);
}
