package hexcodes;

import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.Export;
import com.dylibso.chicory.wasm.types.ExportSection;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.zip.CRC32;

/** One instance of the kernel with its boundaries, 16 MiB, by docs/kernel-abi.md. For one call at a time. */
final class Kernel {
  static final int CAPACITY = 4096;
  static final int RECORD_BYTES = 20;
  static final int OUTSIDE = 255;
  static final int NO_BORDER = 65535;
  static final int MAX_TEXT_UNITS = 64;
  private static final int ABI_VERSION = 1;
  private static final int REACH_ROWS = 16 * 401;
  private static final int MAX_INDEX_BYTES = 64 << 20;
  private static final int ADMIN_UNITS = 34;
  private static final List<String> GLOBALS =
      List.of("ABI_VERSION", "CAPACITY", "RECORD_BYTES", "INPUT", "OUTPUT", "TEXT_IN", "REACH", "INDEX");
  private static final List<String> CALLS =
      List.of(
          "useReach", "useIndex", "encodeBatch", "encodeOne", "encodeCells", "decodeBatch", "readText", "regionOf",
          "locateBatch", "unitOf", "borderOf", "neighbourOf");
  /** Why useIndex refused, by its answer. */
  private static final String[] REFUSALS = {
    "accepted",
    "the file is cut short, or its size is not the one it states",
    "this is not a boundary index",
    "the file has another format version than this build reads",
    "the checksum does not match: the file is damaged",
    "a number of the header is impossible",
    "the arcs do not follow the grammar",
    "the lines do not close: some row of the map ends inside a unit",
    "the index needs more than 64 MiB of memory",
  };

  private final Instance instance;
  private final FlatMemory memory;
  private final int input;
  private final int output;
  private final int textIn;
  private final ExportFunction encodeOne;
  private final ExportFunction encodeBatch;
  private final ExportFunction encodeCells;
  private final ExportFunction decodeBatch;
  private final ExportFunction readText;
  private final ExportFunction regionOf;
  private final ExportFunction unitOf;
  private final ExportFunction locateBatch;
  private final ExportFunction borderOf;
  private final ExportFunction neighbourOf;

  /**
   * An instance of a module that {@link #check} has accepted.
   *
   * @throws HexcodesException BAD_DATA, which names the file
   */
  Kernel(WasmModule module, Function<Instance, Machine> machine, byte[] index, byte[] reach) {
    instance = Instance.builder(module).withMachineFactory(machine).withMemoryFactory(FlatMemory::new).build();
    memory = (FlatMemory) instance.memory();
    input = address("INPUT");
    output = address("OUTPUT");
    textIn = address("TEXT_IN");
    encodeOne = instance.export("encodeOne");
    encodeBatch = instance.export("encodeBatch");
    encodeCells = instance.export("encodeCells");
    decodeBatch = instance.export("decodeBatch");
    readText = instance.export("readText");
    regionOf = instance.export("regionOf");
    unitOf = instance.export("unitOf");
    locateBatch = instance.export("locateBatch");
    borderOf = instance.export("borderOf");
    neighbourOf = instance.export("neighbourOf");
    useReach(reach);
    useIndex(index);
  }

  /** Refuses a module without the exports that are used here, or with another version of them, before it runs. */
  static void check(WasmModule module) {
    Map<String, Export> exports = new HashMap<>();
    ExportSection section = module.exportSection();
    for (int n = 0; n < section.exportCount(); n++) exports.put(section.getExport(n).name(), section.getExport(n));
    for (String name : GLOBALS) {
      if (!exports.containsKey(name)) throw refused("kernel", "it has no export " + name);
    }
    long version = constant(module, exports.get("ABI_VERSION"));
    if (version != ABI_VERSION) {
      throw refused(
          "kernel", "it has version " + version + " of the kernel's interface, this build reads " + ABI_VERSION);
    }
    for (String name : CALLS) {
      if (!exports.containsKey(name)) throw refused("kernel", "it has no export " + name);
    }
    if (constant(module, exports.get("CAPACITY")) != CAPACITY
        || constant(module, exports.get("RECORD_BYTES")) != RECORD_BYTES) {
      throw refused("kernel", "it is of another build");
    }
  }

  private static long constant(WasmModule module, Export export) {
    return module.globalSection().getGlobal(export.index()).initInstructions().get(0).operand(0);
  }

  static HexcodesException refused(String what, String reason) {
    return new HexcodesException(
        HexcodesException.Code.BAD_DATA, "The " + what + " cannot be used: " + reason);
  }

  /** Writes the record of a position to the output; its status. */
  int encodeOne(double lat, double lng, int resolution) {
    return (int) encodeOne.apply(bits(lat), bits(lng), resolution)[0];
  }

  /** The code of the record that encodeOne has written. */
  String code() {
    return textOf(memory.readBytes(output, RECORD_BYTES), 0);
  }

  int encodeBatch(double[] lat, double[] lng, int from, int count, int resolution, byte[] records) {
    putPoints(lat, lng, from, count);
    int failed = (int) encodeBatch.apply(count, resolution)[0];
    memory.read(output, records, RECORD_BYTES * from, RECORD_BYTES * count);
    return failed;
  }

  void encodeCells(double[] lat, double[] lng, int from, int count, int resolution, long[] cells) {
    putPoints(lat, lng, from, count);
    encodeCells.apply(count, resolution);
    for (int n = 0; n < count; n++) cells[from + n] = memory.readLong(output + 8 * n);
  }

  /** The admin number of each point, {@link #OUTSIDE} outside. */
  byte[] locateBatch(double[] lat, double[] lng, int from, int count) {
    putPoints(lat, lng, from, count);
    locateBatch.apply(count);
    return memory.readBytes(output, count);
  }

  /** Reads a text as docs/code-format.md allows; null where it is not a hexcode. */
  Hexcodes.Decoded readText(String text) {
    if (text.length() > MAX_TEXT_UNITS) return null;
    for (int n = 0; n < text.length(); n++) memory.writeShort(textIn + 2 * n, (short) text.charAt(n));
    if (readText.apply(text.length())[0] != 0) return null;
    byte[] answer = memory.readBytes(output, 32 + RECORD_BYTES);
    ByteBuffer numbers = ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN);
    return new Hexcodes.Decoded(
        numbers.getDouble(0),
        numbers.getDouble(8),
        answer[24],
        textOf(answer, 32),
        Province.ALL.get(answer[25]),
        numbers.getLong(16));
  }

  void decodeBatch(String[] texts, int from, int count, double[] lat, double[] lng, byte[] resolutions) {
    for (int n = 0; n < count; n++) memory.write(input + RECORD_BYTES * n, recordOf(texts[from + n]));
    decodeBatch.apply(count);
    for (int n = 0; n < count; n++) {
      lat[from + n] = memory.readDouble(output + 16 * n);
      lng[from + n] = memory.readDouble(output + 16 * n + 8);
      boolean isCode = memory.read(output + 17 * count + n) == 0;
      resolutions[from + n] = isCode ? memory.read(output + 16 * count + n) : -1;
    }
  }

  int regionOf(double lat, double lng) {
    return (int) regionOf.apply(bits(lat), bits(lng))[0];
  }

  int unitOf(double lat, double lng) {
    return (int) unitOf.apply(bits(lat), bits(lng))[0];
  }

  int borderOf(double lat, double lng) {
    return (int) borderOf.apply(bits(lat), bits(lng))[0];
  }

  int neighbourOf(double lat, double lng) {
    return (int) neighbourOf.apply(bits(lat), bits(lng))[0];
  }

  /** The text of a record. */
  static String textOf(byte[] records, int at) {
    int end = at;
    while (end < at + RECORD_BYTES - 1 && records[end] != 0) end++;
    return new String(records, at, end - at, StandardCharsets.ISO_8859_1);
  }

  /** A text as a record: its bytes where they fit, else its canonical text; "!", which is not a code, for any other text. */
  private byte[] recordOf(String text) {
    byte[] record = new byte[RECORD_BYTES];
    record[0] = '!';
    if (text == null || text.isEmpty()) return record;
    if (text.length() < RECORD_BYTES) {
      int all = 0;
      boolean hasNul = false;
      for (int n = 0; n < text.length(); n++) {
        char unit = text.charAt(n);
        record[n] = (byte) unit;
        all |= unit;
        hasNul |= unit == 0;
      }
      if (all < 128 && !hasNul) return record;
    }
    Hexcodes.Decoded found = readText(text);
    return found == null ? new byte[] {'!', 0} : (found.code() + "\0").getBytes(StandardCharsets.ISO_8859_1);
  }

  private void putPoints(double[] lat, double[] lng, int from, int count) {
    for (int n = 0; n < count; n++) {
      memory.writeF64(input + 16 * n, lat[from + n]);
      memory.writeF64(input + 16 * n + 8, lng[from + n]);
    }
  }

  private static long bits(double value) {
    return Double.doubleToRawLongBits(value);
  }

  private int address(String name) {
    return (int) instance.exports().global(name).getValue();
  }

  private void useReach(byte[] file) {
    ByteBuffer rows = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    if (file.length < 16 || rows.getInt(0) != 0x45525848) throw refused("reach", "this is not a reach file");
    if (rows.getInt(4) != 1) {
      throw refused("reach", "the file has another format version than this build reads");
    }
    if (file.length - 16 != 10 * Integer.toUnsignedLong(rows.getInt(8))) {
      throw refused("reach", "the file is cut short or too long");
    }
    CRC32 sum = new CRC32();
    sum.update(file, 16, file.length - 16);
    if (sum.getValue() != Integer.toUnsignedLong(rows.getInt(12))) {
      throw refused("reach", "the checksum does not match: the file is damaged");
    }
    int table = address("REACH");
    int last = -1;
    for (int at = 16; at < file.length; at += 10) {
      int row = Short.toUnsignedInt(rows.getShort(at));
      long mask = rows.getLong(at + 2);
      int head = row / 401;
      int pair = row % 401;
      boolean isPossible = row < REACH_ROWS && pair != 400 && (pair == 0 || (head != 0 && head != 6 && head != 11));
      if (row <= last || !isPossible) throw refused("reach", "row " + row + " is impossible or out of order");
      if (mask == 0 || mask >>> ADMIN_UNITS != 0) {
        throw refused("reach", "row " + row + " names no province or one beyond the 34");
      }
      memory.writeLong(table + 8 * row, mask);
      last = row;
    }
    if (instance.export("useReach").apply()[0] != 0) throw refused("reach", "a row names a province beyond the 34");
  }

  private void useIndex(byte[] file) {
    if (file.length > MAX_INDEX_BYTES) throw refused("boundary index", "it is larger than 64 MiB");
    int at = address("INDEX");
    int missing = at + file.length - memory.pages() * Memory.PAGE_SIZE;
    if (missing > 0 && memory.grow((missing + Memory.PAGE_SIZE - 1) / Memory.PAGE_SIZE) < 0) {
      throw refused("boundary index", "there is no memory for it");
    }
    memory.write(at, file);
    int refusal = (int) instance.export("useIndex").apply(file.length)[0];
    if (refusal != 0) throw refused("boundary index", REFUSALS[Math.min(refusal, REFUSALS.length - 1)]);
  }
}
