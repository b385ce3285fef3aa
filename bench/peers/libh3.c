// Encode and decode of the points of a file by the C library of H3: `libh3 POINTS.f64 encode|text|decode TIMES` prints
// nanoseconds of CPU a point. POINTS.f64: latitude and longitude of each, degrees, float64 of this machine.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "h3api.h"

static double cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  FILE *file = fopen(argv[1], "rb");
  if (file == NULL) return 2;
  fseek(file, 0, SEEK_END);
  long count = ftell(file) / 16;
  rewind(file);
  double *points = malloc(16 * count);
  H3Index *cells = malloc(sizeof(H3Index) * count);
  if (fread(points, 16, count, file) != (size_t)count) return 2;
  const double rad = M_PI / 180;
  for (long n = 0; n < count; n++) {
    LatLng at = {points[2 * n] * rad, points[2 * n + 1] * rad};
    if (latLngToCell(&at, 13, &cells[n])) return 1;
  }
  unsigned long long kept = 0;
  double begin = cpu_ns();
  for (int time = atoi(argv[3]); time > 0; time--) {
    for (long n = 0; n < count; n++) {
      if (argv[2][0] == 'd') {
        LatLng at;
        if (cellToLatLng(cells[n], &at)) return 1;
        kept += at.lat > 0;
        continue;
      }
      LatLng at = {points[2 * n] * rad, points[2 * n + 1] * rad};
      H3Index cell;
      if (latLngToCell(&at, 13, &cell)) return 1;
      if (argv[2][0] == 't') {
        char text[17];
        if (h3ToString(cell, text, sizeof text)) return 1;
        kept += text[14];
      }
      kept += cell;
    }
  }
  double ns = (cpu_ns() - begin) / count / atoi(argv[3]);
  fprintf(stderr, "%llu\n", kept);
  printf("%.2f\n", ns);
  return 0;
}
