// Scores are counted, not compared, to sort; kept boxes lie in a grid of cells as wide as the widest box, so a box
// meets only those of nine cells, 16 at a time. That is so little that one thread does it fastest.
#include <algorithm>
#include <cstdint>
#include <vector>

struct Box {
    int16_t x, y, width, height;
};

namespace {
constexpr int kLanes = 16;

// Kept boxes of one cell; places that are free hold boxes without area.
struct alignas(64) Group {
    int x0[kLanes] = {}, y0[kLanes] = {}, x1[kLanes] = {}, y1[kLanes] = {}, area[kLanes] = {};
    int used = 0, next = -1;

    bool overlaps(const Box& b, int percent) const {
        const int x0b = b.x, y0b = b.y, x1b = b.x + b.width, y1b = b.y + b.height, areab = b.width * b.height;
        int found = 0;
        for (int l = 0; l < kLanes; ++l) {
            const int w = std::max(std::min(x1[l], x1b) - std::max(x0[l], x0b), 0);
            const int h = std::max(std::min(y1[l], y1b) - std::max(y0[l], y0b), 0);
            const int shared = w * h;
            found |= 100 * shared > percent * (area[l] + areab - shared);
        }
        return found != 0;
    }

    void put(const Box& b) {
        x0[used] = b.x;
        y0[used] = b.y;
        x1[used] = b.x + b.width;
        y1[used] = b.y + b.height;
        area[used] = b.width * b.height;
        ++used;
    }
};

// From the greatest score on, of equal ones the first box first.
std::vector<int> by_score(const uint16_t* score, int least, int n) {
    std::vector<int> place(65537);
    for (int i = 0; i < n; ++i) place[65535 - score[i] + 1] += score[i] >= least;
    for (int s = 0; s < 65536; ++s) place[s + 1] += place[s];
    std::vector<int> order(place[65536]);
    for (int i = 0; i < n; ++i) {
        if (score[i] >= least) order[place[65535 - score[i]]++] = i;
    }
    return order;
}
}  // namespace

extern "C" void box_suppression(const Box* __restrict boxes, const uint16_t* __restrict score, int* __restrict kept,
                                int* __restrict nkept, int least, int percent, int n) {
    int left = INT16_MAX, top = INT16_MAX, right = INT16_MIN, bottom = INT16_MIN, side = 1;
    for (int i = 0; i < n; ++i) {
        left = std::min(left, (int)boxes[i].x);
        top = std::min(top, (int)boxes[i].y);
        right = std::max(right, (int)boxes[i].x);
        bottom = std::max(bottom, (int)boxes[i].y);
        side = std::max({side, (int)boxes[i].width, (int)boxes[i].height});
    }
    const int across = (right - left) / side + 3, down = (bottom - top) / side + 3;  // with an empty rim
    std::vector<int> cell(across * down, -1);
    std::vector<Group> groups;
    groups.reserve(n);
    int count = 0;
    for (const int i : by_score(score, least, n)) {
        const Box b = boxes[i];
        const int home = ((b.y - top) / side + 1) * across + (b.x - left) / side + 1;
        bool gone = false;
        for (int row = -1; row <= 1 && !gone; ++row) {
            for (int c = home + row * across - 1; c <= home + row * across + 1 && !gone; ++c) {
                for (int g = cell[c]; g >= 0 && !gone; g = groups[g].next) gone = groups[g].overlaps(b, percent);
            }
        }
        if (gone) continue;
        kept[count++] = i;
        if (cell[home] < 0 || groups[cell[home]].used == kLanes) {
            groups.emplace_back();
            groups.back().next = cell[home];
            cell[home] = (int)groups.size() - 1;
        }
        groups[cell[home]].put(b);
    }
    *nkept = count;
}
