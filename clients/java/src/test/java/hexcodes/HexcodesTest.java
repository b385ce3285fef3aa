package hexcodes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.grack.nanojson.JsonArray;
import com.grack.nanojson.JsonObject;
import com.grack.nanojson.JsonParser;
import hexcodes.Hexcodes.Decoded;
import hexcodes.Hexcodes.Status;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** The vectors are those of every door of the project: test/vectors of the root. */
class HexcodesTest {
  private static Hexcodes hexcodes;
  private static JsonObject vectors;

  @BeforeAll
  static void load() throws Exception {
    hexcodes = Hexcodes.load();
    vectors = json(Path.of("../../test/vectors/doors.json"));
  }

  @AfterAll
  static void close() {
    hexcodes.close();
  }

  private static JsonObject json(Path path) throws Exception {
    return JsonParser.object().from(Files.readString(path));
  }

  private static List<JsonObject> rows(JsonObject of, String name) {
    List<JsonObject> rows = of.getArray(name).stream().map(JsonObject.class::cast).toList();
    assertTrue(rows.size() > 4, name);
    return rows;
  }

  private static Double number(JsonObject row, String name) {
    return row.isNull(name) || !row.has(name) ? null : row.getDouble(name);
  }

  @Test
  void positions() {
    for (JsonObject row : rows(vectors, "positions")) {
      double lat = row.getDouble("lat");
      double lng = row.getDouble("lng");
      int resolution = row.getInt("resolution");
      String wanted = row.getString("code");
      Status status =
          switch (row.getString("status")) {
            case "OK" -> Status.OK;
            case "NOT_FOUND" -> Status.OUTSIDE_COVERAGE;
            default -> Status.NOT_A_COORDINATE;
          };
      assertEquals(wanted, hexcodes.encodeOrNull(lat, lng, resolution), row.toString());
      Hexcodes.Batch batch = hexcodes.encodeBatch(new double[] {lat}, new double[] {lng}, resolution);
      assertEquals(wanted, batch.code(0));
      assertEquals(status, batch.status(0));
      long cell = hexcodes.encodeCells(new double[] {lat}, new double[] {lng}, resolution)[0];
      if (wanted == null) {
        var error = assertThrows(HexcodesException.class, () -> hexcodes.encode(lat, lng, resolution));
        assertEquals(status.name(), error.code().name());
        assertTrue(error.getMessage().endsWith("lat " + lat + ", lng " + lng), error.getMessage());
        assertEquals(0, cell);
      } else {
        Decoded found = hexcodes.decode(hexcodes.encode(lat, lng, resolution));
        assertEquals(cell, found.cell());
        assertEquals(wanted.split("-")[0], found.province().code());
        assertEquals(found.province(), hexcodes.province(lat, lng));
      }
    }
  }

  @Test
  void texts() {
    List<JsonObject> rows = rows(vectors, "texts");
    Hexcodes.Positions batch =
        hexcodes.decodeBatch(rows.stream().map(row -> row.getString("text")).toArray(String[]::new));
    for (int n = 0; n < rows.size(); n++) {
      JsonObject row = rows.get(n);
      Decoded found = hexcodes.decode(row.getString("text"));
      assertEquals(row.getString("code"), found == null ? null : found.code());
      assertEquals(found != null, hexcodes.check(row.getString("text")));
      assertEquals(number(row, "lat"), found == null ? null : Double.valueOf(found.lat()));
      assertEquals(number(row, "lng"), found == null ? null : Double.valueOf(found.lng()));
      assertEquals(number(row, "resolution"), found == null ? null : Double.valueOf(found.resolution()));
      assertEquals(found == null ? Double.NaN : found.lat(), batch.lat()[n]);
      assertEquals(found == null ? Double.NaN : found.lng(), batch.lng()[n]);
      assertEquals(found == null ? -1 : found.resolution(), batch.resolution()[n]);
    }
  }

  /** Numbers as text are the caller's to read: Double.parseDouble gives the same codes for all that a program may write. */
  @Test
  void numbers() {
    int read = 0;
    for (JsonObject row : rows(vectors, "numbers")) {
      if (row.getString("status").equals("INVALID_REQUEST")) continue;
      double lat = Double.parseDouble(row.getString("lat"));
      double lng = Double.parseDouble(row.getString("lng"));
      assertEquals(row.getString("code"), hexcodes.encodeOrNull(lat, lng, 13), row.toString());
      read++;
    }
    assertTrue(read > 8, read + " numbers");
  }

  @Test
  void recordedCodes() throws Exception {
    List<String> lines = Files.readAllLines(Path.of("../../test/vectors/codes.csv"));
    int read = 0;
    for (String line : lines) {
      String[] fields = line.split(",");
      if (line.startsWith("#") || fields[0].equals("place")) continue;
      // The province is given there and is no claim about boundaries, so a code may name one without a part of its cell.
      Decoded found = hexcodes.decode(fields[6]);
      if (found == null) continue;
      read++;
      assertEquals(Long.parseUnsignedLong(fields[5], 16), found.cell(), line);
      assertEquals(Double.parseDouble(fields[7]), found.lat(), 1e-9);
      assertEquals(Double.parseDouble(fields[8]), found.lng(), 1e-9);
      assertEquals(fields[4], found.province().code());
    }
    assertTrue(read > 300, read + " codes");
  }

  @Test
  void batches() throws Exception {
    for (JsonObject row : rows(vectors, "batches")) {
      int count = row.getInt("count");
      double[] lat = new double[count];
      double[] lng = new double[count];
      for (int n = 0; n < count; n++) {
        lat[n] = 8 + n * 7919L % 150_001 / 10_000.0;
        lng[n] = 102 + n * 104_729L % 80_021 / 10_000.0;
      }
      Hexcodes.Batch batch = hexcodes.encodeBatch(lat, lng, row.getInt("resolution"));
      String codes =
          Arrays.stream(batch.codes()).map(code -> (code == null ? "" : code) + "\n").collect(Collectors.joining());
      byte[] sum = java.security.MessageDigest.getInstance("SHA-256").digest(codes.getBytes("ASCII"));
      assertEquals(row.getString("sha256"), HexFormat.of().formatHex(sum));
      assertEquals(row.getInt("failed"), batch.failed());
      long[] cells = hexcodes.encodeCells(lat, lng, row.getInt("resolution"));
      Province[] provinces = hexcodes.provinces(lat, lng);
      Hexcodes.Positions back = hexcodes.decodeBatch(batch.codes());
      for (int n = 0; n < count; n++) {
        assertEquals(batch.code(n) == null, cells[n] == 0);
        assertEquals(hexcodes.province(lat[n], lng[n]), provinces[n]);
        assertEquals(batch.code(n) == null ? -1 : row.getInt("resolution"), back.resolution()[n]);
      }
    }
    assertEquals(0, hexcodes.encodeBatch(new double[0], new double[0], 9).size());
    Hexcodes.Batch two = hexcodes.encodeBatch(new double[2], new double[2], 9);
    // The second times the bytes of a record is 4 in 32 bits.
    for (int row : new int[] {2, 214_748_365, -1})
      assertThrows(IndexOutOfBoundsException.class, () -> two.code(row));
  }

  @Test
  void damagedFiles() throws Exception {
    for (JsonObject row : rows(vectors, "damaged")) {
      var files = Door.shippedFiles();
      byte[] bytes = files.get(row.getString("file"));
      if (row.has("cut")) bytes = Arrays.copyOf(bytes, row.getInt("cut"));
      if (row.has("flip")) bytes[row.getInt("flip")] ^= 1;
      if (row.has("replace")) {
        JsonArray words = row.getArray("replace");
        bytes =
            new String(bytes, "ISO-8859-1")
                .replaceFirst(words.getString(0), words.getString(1))
                .getBytes("ISO-8859-1");
      }
      files.put(row.getString("file"), bytes);
      String refusal = Door.refusalOf(files);
      assertNotNull(refusal, row.toString());
      assertTrue(refusal.contains(row.getString("refusal")), refusal);
    }
    assertNull(Door.refusalOf(Door.shippedFiles()));
  }

  @Test
  void whatIsWrong() {
    double[] one = {21.0};
    for (int resolution : new int[] {-1, 16, 255, Integer.MIN_VALUE}) {
      for (Runnable call :
          List.<Runnable>of(
              () -> hexcodes.encode(21, 105.8, resolution),
              () -> hexcodes.encodeBatch(one, one, resolution),
              () -> hexcodes.encodeCells(one, one, resolution))) {
        var error = assertThrows(HexcodesException.class, call::run);
        assertEquals("resolution is an integer from 0 to 15, not " + resolution, error.getMessage());
        assertEquals(HexcodesException.Code.BAD_RESOLUTION, error.code());
      }
    }
    for (Runnable call :
        List.<Runnable>of(
            () -> hexcodes.encodeBatch(one, new double[2], 9),
            () -> hexcodes.encodeCells(one, new double[2], 9),
            () -> hexcodes.provinces(one, new double[2]))) {
      assertEquals(
          "lng has as many positions as lat: 1, not 2", assertThrows(HexcodesException.class, call::run).getMessage());
    }
    assertEquals(
        "text is null", assertThrows(HexcodesException.class, () -> hexcodes.decode(null)).getMessage());
    assertEquals(
        "lat is null", assertThrows(HexcodesException.class, () -> hexcodes.provinces(null, one)).getMessage());
    String[] texts = {null, "", "\0", "HN-6GHP4-83RFR\0", "x".repeat(300), "\ud800", "hn 6ghp4 83rfr", "hn 6ghp4  83rfr  with more"};
    assertArrayEquals(new byte[] {-1, -1, -1, -1, -1, -1, 13, -1}, hexcodes.decodeBatch(texts).resolution());
  }

  /** One value, more threads than instances, every call: each answer is that of one thread alone. */
  @Test
  void manyThreads() throws Exception {
    final int positions = 500;
    double[] lat = new double[positions];
    double[] lng = new double[positions];
    for (int n = 0; n < positions; n++) {
      lat[n] = 9 + 12.0 * n / positions;
      lng[n] = 103 + 6.0 * (n * 211 % positions) / positions;
    }
    String[] codes = hexcodes.encodeBatch(lat, lng, 12).codes();
    Province[] provinces = hexcodes.provinces(lat, lng);
    var sure = new ArrayList<Hexcodes.Certainty>();
    for (int n = 0; n < positions; n++) sure.add(hexcodes.certainty(lat[n], lng[n]));
    var threads = Executors.newFixedThreadPool(32);
    List<Future<Integer>> answers = new ArrayList<>();
    for (int thread = 0; thread < 32; thread++) {
      int first = thread % 7;
      answers.add(
          threads.submit(
              () -> {
                int different = 0;
                for (int round = 0; round < 40; round++) {
                  for (int n = first; n < positions; n += 7) {
                    String code = hexcodes.encodeOrNull(lat[n], lng[n], 12);
                    if (!Objects.equals(code, codes[n])) different++;
                    if (code != null && !hexcodes.decode(code).code().equals(code)) different++;
                    if (hexcodes.province(lat[n], lng[n]) != provinces[n]) different++;
                    if (!Objects.equals(hexcodes.certainty(lat[n], lng[n]), sure.get(n))) different++;
                  }
                  if (!Arrays.equals(hexcodes.encodeBatch(lat, lng, 12).codes(), codes)) different++;
                }
                return different;
              }));
    }
    for (Future<Integer> answer : answers) assertEquals(0, answer.get());
    threads.shutdown();
    int idle = hexcodes.idle();
    assertTrue(idle > 0 && idle <= Runtime.getRuntime().availableProcessors(), idle + " instances");
  }

  /** Interrupts come from outside, at any time: no answer is lost or changed by them, nor are they. */
  @Test
  void interrupts() throws Exception {
    double[] lat = new double[200_000];
    double[] lng = new double[lat.length];
    Arrays.fill(lat, 21.0288);
    Arrays.fill(lng, 105.8525);
    Thread.currentThread().interrupt();
    assertEquals("HN-6GHP4-83RFR", hexcodes.encode(21.0288, 105.8525));
    assertTrue(Thread.interrupted());
    var failures = new ArrayList<String>();
    Thread worker =
        new Thread(
            () -> {
              for (int round = 0; round < 20; round++) {
                if (hexcodes.encodeBatch(lat, lng, 13).failed() != 0) failures.add("failed");
              }
              if (!Thread.currentThread().isInterrupted()) failures.add("the interrupt is lost");
            });
    worker.start();
    for (int n = 0; n < 5; n++) {
      Thread.sleep(5);
      worker.interrupt();
    }
    worker.join();
    assertEquals(List.of(), failures);
  }

  /** close() waits for calls under way, and a call after it says so. */
  @Test
  void closing() throws Exception {
    Hexcodes own = Hexcodes.load();
    double[] lat = new double[500_000];
    double[] lng = new double[lat.length];
    var started = new CountDownLatch(1);
    var threads = Executors.newSingleThreadExecutor();
    Future<Integer> failed =
        threads.submit(
            () -> {
              started.countDown();
              return own.encodeBatch(lat, lng, 9).failed();
            });
    started.await();
    while (own.idle() > 0 && !failed.isDone()) Thread.onSpinWait();
    own.close();
    assertEquals(lat.length, failed.get());
    threads.shutdown();
    var error = assertThrows(IllegalStateException.class, () -> own.check("HN"));
    assertTrue(error.getMessage().contains("after close()"));
    own.close();
  }

  /** Answers of the library that test/conformance/go-java.test.ts has written: f64 pairs, records, and JSON. */
  @Test
  @EnabledIfEnvironmentVariable(named = "HEXCODES_ANSWERS", matches = ".+")
  void answersOfTheLibrary() throws Exception {
    Path folder = Path.of(System.getenv("HEXCODES_ANSWERS"));
    var points = ByteBuffer.wrap(Files.readAllBytes(folder.resolve("points"))).order(ByteOrder.LITTLE_ENDIAN);
    double[] lat = new double[points.capacity() / 16];
    double[] lng = new double[lat.length];
    for (int n = 0; n < lat.length; n++) {
      lat[n] = points.getDouble();
      lng[n] = points.getDouble();
    }
    byte[] records = Files.readAllBytes(folder.resolve("records"));
    assertArrayEquals(records, hexcodes.encodeBatch(lat, lng, Hexcodes.DEFAULT_RESOLUTION).records());
    for (int n = 0; n < lat.length; n++) {
      String one = hexcodes.encodeOrNull(lat[n], lng[n], Hexcodes.DEFAULT_RESOLUTION);
      assertEquals(records[20 * n + 19] == 0 ? Kernel.textOf(records, 20 * n) : null, one);
    }

    byte[] reach = Hexcodes.class.getResourceAsStream("reach.bin").readAllBytes();
    try (Hexcodes other = Hexcodes.load(Files.readAllBytes(folder.resolve("other-index")), reach)) {
      assertTrue(other.province(21.03, 105.85) != null);
      var error = assertThrows(HexcodesException.class, () -> other.formerProvince(21.03, 105.85));
      assertEquals(HexcodesException.Code.BAD_DATA, error.code());
    }

    JsonObject answers = json(folder.resolve("answers.json"));
    for (JsonObject row : rows(answers, "provinces")) {
      Province province = hexcodes.province(row.getDouble("lat"), row.getDouble("lng"));
      assertEquals(row.getString("province"), province == null ? null : province.code());
      assertEquals(row.getString("former"), hexcodes.formerProvince(row.getDouble("lat"), row.getDouble("lng")));
      Hexcodes.Certainty sure = hexcodes.certainty(row.getDouble("lat"), row.getDouble("lng"));
      assertEquals(province == null, sure == null);
      if (sure == null) continue;
      assertEquals(row.getInt("borderM", -1), sure.borderM());
      assertEquals(row.getDouble("certainty"), sure.share());
      assertEquals(row.getString("neighbour"), sure.neighbour() == null ? null : sure.neighbour().code());
    }
    List<JsonObject> units = rows(answers, "adminUnits");
    assertEquals(Province.ALL.size(), units.size());
    for (int n = 0; n < units.size(); n++) {
      Province unit = Province.ALL.get(n);
      assertEquals(units.get(n).getString("code"), unit.code());
      assertEquals(units.get(n).getString("name"), unit.name());
      assertEquals(units.get(n).getArray("mergedUnits"), unit.merged());
    }
    System.out.println(lat.length + " points, " + answers.getArray("provinces").size() + " provinces");
  }
}
