// As many people as a vector has lanes take their labels at once: each friend's label is compared with all the others,
// so that counts are vectors without a table. Labels that fit into bytes make it 64 people. They go to the threads.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {
constexpr int kMost = 32;

typedef uint8_t Bytes __attribute__((vector_size(64)));
typedef int32_t Words __attribute__((vector_size(64)));

template <class Vector>
inline Vector commonest(const Vector* around, int degree) {
    Vector best = around[0], most = {};
    for (int i = 0; i < degree; ++i) {
        const Vector label = around[i];
        Vector count = {};
        for (int j = 0; j < degree; ++j) count -= (Vector)(around[j] == label);
        const auto better = (count > most) | ((count == most) & (label < best));
        best = better ? label : best;
        most = better ? count : most;
    }
    return best;
}

template <class Label, class Vector>
void spread(const int* __restrict friends, const int* __restrict start, int* __restrict label, int* __restrict changed,
            int people, int degree, int rounds) {
    constexpr int kLanes = sizeof(Vector) / sizeof(Label);
    std::vector<Label> labels[2] = {std::vector<Label>(people), std::vector<Label>(people)};
    std::fill(changed, changed + rounds, 0);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int p = 0; p < people; ++p) labels[0][p] = (Label)start[p];
        for (int round = 0; round < rounds; ++round) {
            const Label* __restrict now = labels[round % 2].data();
            Label* __restrict next = labels[(round + 1) % 2].data();
            int moved = 0;
#pragma omp for schedule(static) nowait
            for (int first = 0; first < people; first += kLanes) {
                const int here = std::min(kLanes, people - first);
                Vector around[kMost] = {};
                Label(*at)[kLanes] = reinterpret_cast<Label(*)[kLanes]>(around);
                const int* of = friends + (size_t)first * degree;
                for (int p = 0; p < here; ++p) {
                    for (int k = 0; k < degree; ++k) at[k][p] = now[*of++];
                }
                const Vector best = commonest(around, degree);
                for (int p = 0; p < here; ++p) {
                    moved += best[p] != now[first + p];
                    next[first + p] = best[p];
                }
            }
#pragma omp atomic
            changed[round] += moved;
#pragma omp barrier
        }
#pragma omp for schedule(static)
        for (int p = 0; p < people; ++p) label[p] = labels[rounds % 2][p];
    }
}
}  // namespace

extern "C" void community_labels(const int* friends, const int* start, int* label, int* changed, int people,
                                 int degree, int rounds) {
    const auto range = std::minmax_element(start, start + people);
    if (*range.first >= 0 && *range.second < 256) {
        spread<uint8_t, Bytes>(friends, start, label, changed, people, degree, rounds);
    } else {
        spread<int32_t, Words>(friends, start, label, changed, people, degree, rounds);
    }
}
