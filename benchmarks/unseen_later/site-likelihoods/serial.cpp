// Log-likelihood of each site of an alignment on a tree (Felsenstein's pruning), mean over classes of rates. Nodes
// are numbered as in a heap: the children of i are 2 i + 1 and 2 i + 2, the last `leaves` nodes are the leaves.
// transition[rate][node] is the 4x4 matrix of the branch above the node; bases are 0 to 3.
#include <cmath>
#include <cstddef>
#include <vector>

extern "C" void site_likelihoods(const unsigned char* bases, const double* transition, double* loglik, int sites,
                                 int leaves, int rates) {
    const int nodes = 2 * leaves - 1;
    for (int s = 0; s < sites; ++s) {
        double total = 0.0;
        for (int r = 0; r < rates; ++r) {
            std::vector<double> partial(4 * nodes, 0.0);
            for (int k = 0; k < leaves; ++k) {
                partial[4 * (leaves - 1 + k) + bases[(size_t)s * leaves + k]] = 1.0;
            }
            for (int i = leaves - 2; i >= 0; --i) {
                for (int a = 0; a < 4; ++a) {
                    double product = 1.0;
                    for (int child = 2 * i + 1; child <= 2 * i + 2; ++child) {
                        const double* p = transition + 16 * ((size_t)r * nodes + child) + 4 * a;
                        double sum = 0.0;
                        for (int b = 0; b < 4; ++b) sum += p[b] * partial[4 * child + b];
                        product *= sum;
                    }
                    partial[4 * i + a] = product;
                }
            }
            for (int a = 0; a < 4; ++a) total += 0.25 * partial[a];
        }
        loglik[s] = std::log(total / rates);
    }
}
