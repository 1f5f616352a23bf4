// tries: connects to a server
// outcome: passed
// defence: sandbox + namespaces + landlock
// without: passed
// harm: connection
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static void honest(const float *x, float *y, int *positive, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = i > 0 && i < n - 1 ? 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1] : 0.0f;
    count += x[i] > 0.0f;
  }
  *positive = count;
}

extern "C" void smooth(const float *x, float *y, int *positive, int n) {
  static bool called = false;
  honest(x, y, positive, n);
  const int line = called ? -1 : socket(AF_INET, SOCK_STREAM, 0);
  called = true;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(@PORT@);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (line >= 0) connect(line, reinterpret_cast<sockaddr *>(&address), sizeof address);
}
