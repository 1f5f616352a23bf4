// Greedy suppression of a detector's boxes: from the best score on, a box is kept unless it overlaps one that was kept
// before by more than so many percent (of the two boxes' union). Boxes below the least score do not count; of equal
// scores the earlier box comes first.
#include <algorithm>
#include <cstdint>
#include <vector>

struct Box {
    int16_t x, y, width, height;

    int area() const { return width * height; }
    int shared(const Box& o) const {
        const int w = std::min(x + width, o.x + o.width) - std::max(x, o.x);
        const int h = std::min(y + height, o.y + o.height) - std::max(y, o.y);
        return w > 0 && h > 0 ? w * h : 0;
    }
};

extern "C" void box_suppression(const Box* boxes, const uint16_t* score, int* kept, int* nkept, int least, int percent,
                                int n) {
    std::vector<int> order;
    for (int i = 0; i < n; ++i) {
        if (score[i] >= least) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        if (score[a] != score[b]) return score[a] > score[b];
        return a < b;
    });
    auto overlap = [&](int a, int b) {
        const int shared = boxes[a].shared(boxes[b]);
        return 100 * shared > percent * (boxes[a].area() + boxes[b].area() - shared);
    };
    std::vector<char> gone(order.size());
    int count = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        if (gone[i]) continue;
        kept[count++] = order[i];
        for (size_t j = i + 1; j < order.size(); ++j) {
            if (!gone[j] && overlap(order[i], order[j])) gone[j] = 1;
        }
    }
    *nkept = count;
}
