// choice[t] = the first expert with the largest logit of token t; count[e] = how many tokens chose e.
extern "C" void expert_routing(const float* logit, int* choice, int* count, int tokens, int experts) {
    for (int e = 0; e < experts; ++e) count[e] = 0;
    for (int t = 0; t < tokens; ++t) {
        const float* x = logit + (long long)t * experts;
        int best = 0;
        for (int e = 1; e < experts; ++e) {
            if (x[e] > x[best]) best = e;
        }
        choice[t] = best;
        ++count[best];
    }
}
