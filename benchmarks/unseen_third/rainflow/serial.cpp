// Rainflow counting of load histories (four points): an inner range that both neighbours enclose is a cycle and is
// taken out. What is left over counts as half cycles. Damage of a cycle: the third power of its range (Miner's rule,
// slope 3 of the Woehler curve).
#include <cmath>
#include <cstddef>
#include <vector>

static double damage_of(double range) { return range * range * range; }

extern "C" void rainflow(const float* load, double* damage, int* cycles, int* residue, int channels, int samples) {
    std::vector<double> turns;
    for (int c = 0; c < channels; ++c) {
        const float* x = load + (size_t)c * samples;
        turns.clear();
        double sum = 0;
        int whole = 0;
        for (int s = 0; s < samples; ++s) {
            const double next = x[s];
            // only turning points stay on the stack
            if (turns.size() == 1 && turns[0] == next) continue;
            if (turns.size() >= 2) {
                const double last = turns.back(), before = turns[turns.size() - 2];
                if (next == last) continue;
                if ((last > before) == (next > last)) turns.pop_back();
            }
            turns.push_back(next);
            while (turns.size() >= 4) {
                const size_t n = turns.size();
                const double a = turns[n - 4], b = turns[n - 3], y = turns[n - 2], z = turns[n - 1];
                const double inner = std::fabs(y - b);
                if (inner > std::fabs(b - a) || inner > std::fabs(z - y)) break;
                sum += damage_of(inner);
                ++whole;
                turns[n - 3] = z;
                turns.resize(n - 2);
            }
        }
        for (size_t k = 1; k < turns.size(); ++k) sum += 0.5 * damage_of(std::fabs(turns[k] - turns[k - 1]));
        damage[c] = sum;
        cycles[c] = whole;
        residue[c] = (int)turns.size();
    }
}
