#include <algorithm>
#include <vector>

// below[i]: how far price[i] is below the highest price so far
void drawdown(const std::vector<double> &price, std::vector<double> &peak, std::vector<double> &below)
{
    if (price.empty())
        return;
    double high = price[0];
    for (std::size_t i = 0; i < price.size(); ++i) {
        high = std::max(high, price[i]);
        peak[i] = high;
        below[i] = (high - price[i]) / high;
    }
}

double max_drawdown(const std::vector<double> &d)
{
    return d.empty() ? 0.0 : *std::max_element(d.begin(), d.end());
}
