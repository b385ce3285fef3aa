package hexcodes;

import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.wasm.ChicoryException;
import com.dylibso.chicory.wasm.WasmModule;
import com.grack.nanojson.JsonArray;
import com.grack.nanojson.JsonObject;
import com.grack.nanojson.JsonParser;
import com.grack.nanojson.JsonParserException;
import hexcodes.HexcodesException.Code;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Positions in Viet Nam to short codes and back, in this process: the kernel of the service, compiled to bytecode. Every
 * answer is byte for byte that of the service (docs/kernel-abi.md). No native library, no network.
 *
 * <p>One value is free to use from any number of threads: each call takes an instance of the kernel from a pool, at most
 * one for each processor, some 16 MiB each and made when calls overlap. Positions are degrees of WGS 84, resolutions
 * those of H3, 0 to 15.
 *
 * <p>Code: Apache-2.0. The boundaries inside: ODbL-1.0. Contains information from OpenStreetMap, © OpenStreetMap
 * contributors, ODbL 1.0.
 */
public final class Hexcodes implements AutoCloseable {
  /** The resolution of the service: edges of about 4 m. */
  public static final int DEFAULT_RESOLUTION = 13;

  private final Pool pool;
  /** The provinces before July 2025 by unit; null where the boundaries lack them. */
  private final String[] units;
  private final double[] bandLimits;
  private final double[] bandShares;

  /** What a position became. */
  public enum Status {
    OK,
    /** In no province of Viet Nam nor its sea. */
    OUTSIDE_COVERAGE,
    /** Not finite, or beyond 90 degrees of latitude or 180 of longitude. */
    NOT_A_COORDINATE
  }

  /**
   * The content of a hexcode.
   *
   * @param lat centre of the cell, degrees
   * @param lng centre of the cell, degrees
   * @param resolution of H3, 0 to 15
   * @param code canonical text
   * @param province that the code names
   * @param cell of H3, the number that com.uber:h3 has
   */
  public record Decoded(double lat, double lng, int resolution, String code, Province province, long cell) {}

  /**
   * How sure the province of a position is.
   *
   * @param borderM whole metres to the nearest border between two provinces; -1 beyond 5 km
   * @param share of positions so far from a border whose province is right, 0 to 1; NaN where the index has no shares
   * @param neighbour the province behind that border; null beyond 5 km, and where sea or foreign land lies before it
   */
  public record Certainty(int borderM, double share, Province neighbour) {}

  /**
   * Positions of codes, by row.
   *
   * @param lat centres of cells, degrees; NaN where the text is not a hexcode
   * @param lng as lat
   * @param resolution 0 to 15; -1 where the text is not a hexcode
   */
  public record Positions(double[] lat, double[] lng, byte[] resolution) {}

  /** The codes of a batch. A String is made when it is asked for. */
  public static final class Batch {
    private static final Status[] STATUSES = Status.values();
    private final byte[] records;
    private final int failed;

    private Batch(byte[] records, int failed) {
      this.records = records;
      this.failed = failed;
    }

    public int size() {
      return records.length / Kernel.RECORD_BYTES;
    }

    /** How many positions have no code. */
    public int failed() {
      return failed;
    }

    /** @throws IndexOutOfBoundsException where there is no such row */
    public Status status(int row) {
      Objects.checkIndex(row, size());
      return STATUSES[records[Kernel.RECORD_BYTES * row + Kernel.RECORD_BYTES - 1]];
    }

    /** The code of a row; null where its position has none. */
    public String code(int row) {
      return status(row) == Status.OK ? Kernel.textOf(records, Kernel.RECORD_BYTES * row) : null;
    }

    /** The codes of all rows; null where a position has none. */
    public String[] codes() {
      String[] codes = new String[size()];
      for (int row = 0; row < codes.length; row++) codes[row] = code(row);
      return codes;
    }

    /** 20 bytes a row: the code in ASCII, padded with NUL, and in byte 19 the ordinal of its status. No copy. */
    public byte[] records() {
      return records;
    }
  }

  private Hexcodes(Supplier<Kernel> maker, byte[] index) {
    pool = new Pool(maker);
    JsonObject description = descriptionOf(index);
    units = formerOf(description.getArray("units", new JsonArray()));
    JsonArray bands = description.getArray("bands", new JsonArray());
    bandLimits = new double[bands.size()];
    bandShares = new double[bands.size()];
    for (int n = 0; n < bandLimits.length; n++) {
      JsonArray band = bands.getArray(n);
      bandLimits[n] = band.isNull(0) ? Double.POSITIVE_INFINITY : band.getDouble(0);
      bandShares[n] = band.getDouble(1, Double.NaN);
    }
  }

  /**
   * A kernel with the boundaries of this package. It takes some 0.3 s of CPU in a new JVM: make one and keep it. Later
   * calls share nothing with it.
   */
  public static Hexcodes load() {
    return load(resource("index.bin"), resource("reach.bin"));
  }

  /**
   * A kernel with other boundaries.
   *
   * @param index a boundary index that {@code npm run data} has made
   * @param reach the reach file of the same build
   * @throws HexcodesException BAD_DATA: it names the file and why it cannot be used
   */
  public static Hexcodes load(byte[] index, byte[] reach) {
    requireNonNull("index", index);
    requireNonNull("reach", reach);
    return of(KernelCode::load, KernelCode::create, index.clone(), reach.clone());
  }

  /** The kernel as any module, for the tests of damaged ones. */
  static Hexcodes of(Supplier<WasmModule> kernel, Function<Instance, Machine> machine, byte[] index, byte[] reach) {
    WasmModule module;
    try {
      module = kernel.get();
    } catch (ChicoryException fault) {
      throw Kernel.refused("kernel", fault.getMessage());
    }
    Kernel.check(module);
    return new Hexcodes(() -> new Kernel(module, machine, index, reach), index);
  }

  /** The code of a position at resolution 13; as {@link #encode(double, double, int)}. */
  public String encode(double lat, double lng) {
    return encode(lat, lng, DEFAULT_RESOLUTION);
  }

  /**
   * The code of a position.
   *
   * @throws HexcodesException OUTSIDE_COVERAGE, NOT_A_COORDINATE or BAD_RESOLUTION, with the values
   */
  public String encode(double lat, double lng, int resolution) {
    String code = encodeOrNull(lat, lng, resolution);
    if (code != null) return code;
    if (Math.abs(lat) <= 90 && Math.abs(lng) <= 180) {
      throw new HexcodesException(
          Code.OUTSIDE_COVERAGE, "In no province of Viet Nam nor its sea: lat " + lat + ", lng " + lng);
    }
    throw new HexcodesException(
        Code.NOT_A_COORDINATE,
        "Not a position in degrees (lat -90 to 90, lng -180 to 180): lat " + lat + ", lng " + lng);
  }

  /**
   * The code of a position, null where it has none: for functions of SQL and streams, whose rows without an answer go
   * on.
   *
   * @throws HexcodesException BAD_RESOLUTION
   */
  public String encodeOrNull(double lat, double lng, int resolution) {
    requireResolution(resolution);
    return pool.use(kernel -> kernel.encodeOne(lat, lng, resolution) == 0 ? kernel.code() : null);
  }

  /**
   * The codes of many positions; any number, 4,096 in each call of the kernel.
   *
   * @throws HexcodesException BAD_RESOLUTION, or BAD_ARGUMENT for arrays of different lengths; never for a position
   */
  public Batch encodeBatch(double[] lat, double[] lng, int resolution) {
    requireResolution(resolution);
    int size = requireSameLength(lat, lng);
    byte[] records = new byte[Math.multiplyExact(Kernel.RECORD_BYTES, size)];
    int failed =
        pool.use(
            kernel -> {
              int sum = 0;
              for (int from = 0; from < size; from += Kernel.CAPACITY) {
                sum += kernel.encodeBatch(lat, lng, from, Math.min(Kernel.CAPACITY, size - from), resolution, records);
              }
              return sum;
            });
    return new Batch(records, failed);
  }

  /** The H3 cells of many positions, those of their codes; 0 where a position has none. Throws as encodeBatch. */
  public long[] encodeCells(double[] lat, double[] lng, int resolution) {
    requireResolution(resolution);
    long[] cells = new long[requireSameLength(lat, lng)];
    return pool.use(
        kernel -> {
          for (int from = 0; from < cells.length; from += Kernel.CAPACITY) {
            kernel.encodeCells(lat, lng, from, Math.min(Kernel.CAPACITY, cells.length - from), resolution, cells);
          }
          return cells;
        });
  }

  /** Reads a hexcode in any spelling that docs/code-format.md allows; null for any other text. It never corrects one. */
  public Decoded decode(String text) {
    requireNonNull("text", text);
    return pool.use(kernel -> kernel.readText(text));
  }

  /** Whether decode reads a text. */
  public boolean check(String text) {
    return decode(text) != null;
  }

  /** The positions of many texts, each read as decode does; null is not a hexcode. */
  public Positions decodeBatch(String[] texts) {
    requireNonNull("texts", texts);
    Positions found =
        new Positions(new double[texts.length], new double[texts.length], new byte[texts.length]);
    return pool.use(
        kernel -> {
          for (int from = 0; from < texts.length; from += Kernel.CAPACITY) {
            int count = Math.min(Kernel.CAPACITY, texts.length - from);
            kernel.decodeBatch(texts, from, count, found.lat, found.lng, found.resolution);
          }
          return found;
        });
  }

  /** The province that holds a position; null outside. */
  public Province province(double lat, double lng) {
    return provinceOf(pool.use(kernel -> kernel.regionOf(lat, lng)));
  }

  /**
   * The province of each position; null outside.
   *
   * @throws HexcodesException BAD_ARGUMENT for arrays of different lengths
   */
  public Province[] provinces(double[] lat, double[] lng) {
    Province[] found = new Province[requireSameLength(lat, lng)];
    return pool.use(
        kernel -> {
          for (int from = 0; from < found.length; from += Kernel.CAPACITY) {
            byte[] numbers = kernel.locateBatch(lat, lng, from, Math.min(Kernel.CAPACITY, found.length - from));
            for (int n = 0; n < numbers.length; n++) found[from + n] = provinceOf(numbers[n] & 255);
          }
          return found;
        });
  }

  /**
   * The name of the province that held a position before July 2025, as in {@link Province#merged()}; null outside.
   *
   * @throws HexcodesException BAD_DATA with boundaries that lack those provinces
   */
  public String formerProvince(double lat, double lng) {
    if (units == null) {
      throw new HexcodesException(Code.BAD_DATA, "The boundary index has no provinces from before July 2025");
    }
    int unit = pool.use(kernel -> kernel.unitOf(lat, lng));
    return unit < units.length ? units[unit] : null;
  }

  /** How sure the province of a position is, and which other one it may be; null outside. */
  public Certainty certainty(double lat, double lng) {
    return pool.use(
        kernel -> {
          if (kernel.regionOf(lat, lng) == Kernel.OUTSIDE) return null;
          int metres = kernel.borderOf(lat, lng);
          Province neighbour = provinceOf(kernel.neighbourOf(lat, lng));
          return new Certainty(metres == Kernel.NO_BORDER ? -1 : metres, shareAt(metres), neighbour);
        });
  }

  /** Waits for the calls under way and gives the memory up. A call after it throws IllegalStateException. */
  @Override
  public void close() {
    pool.close();
  }

  /** How many instances of the kernel are idle, for tests. */
  int idle() {
    return pool.idle();
  }

  private double shareAt(int metres) {
    for (int n = 0; n < bandLimits.length; n++) if (metres < bandLimits[n]) return bandShares[n];
    return Double.NaN;
  }

  private static String[] formerOf(JsonArray units) {
    String[] names = new String[units.size()];
    for (int n = 0; n < names.length; n++) {
      names[n] = units.getObject(n).getString("name");
      Province province = provinceOf(units.getObject(n).getInt("admin", Kernel.OUTSIDE));
      if (province == null || !province.merged().contains(names[n])) return null;
    }
    return names.length == Province.ALL.stream().mapToInt(each -> each.merged().size()).sum() ? names : null;
  }

  private static Province provinceOf(int number) {
    return number < Province.ALL.size() ? Province.ALL.get(number) : null;
  }

  /** What an index that useIndex has accepted says of itself. */
  private static JsonObject descriptionOf(byte[] index) {
    ByteBuffer header = ByteBuffer.wrap(index).order(ByteOrder.LITTLE_ENDIAN);
    long at = Integer.toUnsignedLong(header.getInt(48));
    long size = Integer.toUnsignedLong(header.getInt(52));
    try {
      if (at + size <= index.length) {
        return JsonParser.object().from(new String(index, (int) at, (int) size, StandardCharsets.UTF_8));
      }
    } catch (JsonParserException fault) {
      // told below
    }
    throw Kernel.refused("boundary index", "what it says of itself is damaged");
  }

  private static byte[] resource(String name) {
    try (InputStream file = Hexcodes.class.getResourceAsStream(name)) {
      if (file == null) throw Kernel.refused(name, "the package has lost it");
      return file.readAllBytes();
    } catch (IOException fault) {
      throw new UncheckedIOException(fault);
    }
  }

  private static void requireResolution(int resolution) {
    if (resolution < 0 || resolution > 15) {
      throw new HexcodesException(
          Code.BAD_RESOLUTION, "resolution is an integer from 0 to 15, not " + resolution);
    }
  }

  private static void requireNonNull(String name, Object value) {
    if (value == null) throw new HexcodesException(Code.BAD_ARGUMENT, name + " is null");
  }

  private static int requireSameLength(double[] lat, double[] lng) {
    requireNonNull("lat", lat);
    requireNonNull("lng", lng);
    if (lat.length != lng.length) {
      throw new HexcodesException(
          Code.BAD_ARGUMENT, "lng has as many positions as lat: " + lat.length + ", not " + lng.length);
    }
    return lat.length;
  }
}
