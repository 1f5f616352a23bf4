// A chip of spiking neurons in whole numbers, tick by tick. A neuron leaks, takes what arrives and its bias, and at the
// threshold fires: it starts anew and sends a weight to each of its targets, which arrives some ticks later.
#include <cstddef>
#include <cstdint>
#include <vector>

class Wires {
  public:
    Wires(int slots, int neurons) : slots_(slots), neurons_(neurons), mail_((size_t)slots * neurons) {}

    void send(int tick, int delay, int target, int weight) {
        mail_[(size_t)((tick + delay) % slots_) * neurons_ + target] += weight;
    }

    int take(int tick, int neuron) {
        int& box = mail_[(size_t)(tick % slots_) * neurons_ + neuron];
        const int sum = box;
        box = 0;
        return sum;
    }

  private:
    int slots_, neurons_;
    std::vector<int> mail_;
};

extern "C" void spike_chip(const int* target, const int8_t* weight, const uint8_t* delay, const int* bias,
                           const int* start, int* potential, int* fired, int* per_tick, int threshold, int neurons,
                           int fan, int slots, int ticks) {
    Wires wires(slots, neurons);
    for (int i = 0; i < neurons; ++i) {
        potential[i] = start[i];
        fired[i] = 0;
    }
    for (int tick = 0; tick < ticks; ++tick) {
        per_tick[tick] = 0;
        for (int i = 0; i < neurons; ++i) {
            int v = potential[i];
            v += wires.take(tick, i) + bias[i] - (v >> 4);
            if (v >= threshold) {
                v = 0;
                ++fired[i];
                ++per_tick[tick];
                for (int k = 0; k < fan; ++k) {
                    const size_t wire = (size_t)i * fan + k;
                    wires.send(tick, delay[wire], target[wire], weight[wire]);
                }
            }
            potential[i] = v;
        }
    }
}
