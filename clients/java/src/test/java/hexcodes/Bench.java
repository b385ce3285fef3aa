package hexcodes;

import com.uber.h3core.H3Core;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntSupplier;

/** CPU of one thread a point, beside com.uber:h3, which gives the cell alone; README.md has the command. */
final class Bench {
  private static final int POINTS = 200_000;
  private static final int ROUNDS = 15;

  private Bench() {}

  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  public static void main(String[] args) throws Exception {
    long started = cpu();
    Hexcodes hexcodes = Hexcodes.load();
    String first = hexcodes.encode(21.0288, 105.8525);
    System.out.printf("load and first code %s: %d ms of CPU of this thread%n", first, (cpu() - started) / 1_000_000);
    H3Core h3 = H3Core.newInstance();
    Random random = new Random(5);
    double[] lat = new double[POINTS];
    double[] lng = new double[POINTS];
    for (int n = 0; n < POINTS; ) {
      lat[n] = 8.3 + 15 * random.nextDouble();
      lng[n] = 102.2 + 7.3 * random.nextDouble();
      if (hexcodes.province(lat[n], lng[n]) != null) n++;
    }
    String[] codes = hexcodes.encodeBatch(lat, lng, 13).codes();
    long[] cells = hexcodes.encodeCells(lat, lng, 13);
    int same = 0;
    for (int n = 0; n < POINTS; n++) if (h3.latLngToCell(lat[n], lng[n], 13) == cells[n]) same++;
    System.out.printf("%d of %d cells are those of com.uber:h3%n", same, POINTS);

    String[] names = {
      "encodeBatch, records", "encodeBatch, Strings", "encodeCells", "encode, one", "decodeBatch", "decode, one",
      "provinces", "certainty, one", "h3: latLngToCell", "h3: latLngToCellAddress", "h3: cellToLatLng",
    };
    IntSupplier[] subjects = {
      () -> hexcodes.encodeBatch(lat, lng, 13).failed(),
      () -> hexcodes.encodeBatch(lat, lng, 13).codes().length,
      () -> hexcodes.encodeCells(lat, lng, 13).length,
      () -> each(n -> hexcodes.encode(lat[n], lng[n], 13).length()),
      () -> hexcodes.decodeBatch(codes).lat().length,
      () -> each(n -> hexcodes.decode(codes[n]).resolution()),
      () -> hexcodes.provinces(lat, lng).length,
      () -> each(n -> hexcodes.certainty(lat[n], lng[n]).borderM()),
      () -> each(n -> (int) h3.latLngToCell(lat[n], lng[n], 13)),
      () -> each(n -> h3.latLngToCellAddress(lat[n], lng[n], 13).length()),
      () -> each(n -> (int) h3.cellToLatLng(cells[n]).lat),
    };
    double[][] costs = new double[subjects.length][ROUNDS];
    int sink = 0;
    for (int round = 0; round < ROUNDS; round++) {
      for (int n = 0; n < subjects.length; n++) {
        long before = cpu();
        sink += subjects[n].getAsInt();
        costs[n][round] = (double) (cpu() - before) / POINTS;
      }
    }
    System.out.printf("%s %s, ns of CPU a point (%d)%n", System.getProperty("java.vm.name"), System.getProperty("java.version"), sink & 1);
    for (int n = 0; n < subjects.length; n++) {
      double coldest = costs[n][0];
      Arrays.sort(costs[n]);
      System.out.printf(
          "%-26s median %6.1f  least %6.1f  first %6.0f%n", names[n], costs[n][ROUNDS / 2], costs[n][0], coldest);
    }
  }

  private static int each(java.util.function.IntUnaryOperator call) {
    int sum = 0;
    for (int n = 0; n < POINTS; n++) sum += call.applyAsInt(n);
    return sum;
  }
}
