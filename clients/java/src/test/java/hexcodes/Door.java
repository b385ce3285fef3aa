package hexcodes;

import com.dylibso.chicory.runtime.InterpreterMachine;
import com.dylibso.chicory.wasm.Parser;
import com.grack.nanojson.JsonArray;
import com.grack.nanojson.JsonObject;
import com.grack.nanojson.JsonParser;
import com.grack.nanojson.JsonWriter;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

/** The door of test/conformance/doors-elsewhere.test.ts: a question as JSON in a line of standard input, its answer in a line. */
final class Door {
  private Door() {}

  public static void main(String[] args) throws Exception {
    var questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try (Hexcodes hexcodes = Hexcodes.load()) {
      for (String line = questions.readLine(); line != null; line = questions.readLine()) {
        answers.println(JsonWriter.string(answer(hexcodes, JsonParser.object().from(line))));
      }
    }
  }

  private static Object answer(Hexcodes hexcodes, JsonObject question) {
    if (question.getString("ask").equals("refusal")) {
      var files = new HashMap<String, byte[]>();
      question.getObject("files").forEach((name, text) -> files.put(name, Base64.getDecoder().decode((String) text)));
      JsonObject told = new JsonObject();
      told.put("refusal", refusalOf(files));
      return told;
    }
    boolean isSingle = question.getString("kind").equals("single");
    JsonArray found = new JsonArray();
    if (question.getString("ask").equals("decode")) {
      String[] texts = question.getArray("texts").toArray(String[]::new);
      Hexcodes.Positions positions = hexcodes.decodeBatch(texts);
      for (int n = 0; n < texts.length; n++) {
        Hexcodes.Decoded one = isSingle ? hexcodes.decode(texts[n]) : null;
        if (one != null) found.add(JsonArray.from(one.lat(), one.lng(), one.resolution()));
        else if (isSingle || positions.resolution()[n] < 0) found.add(null);
        else found.add(JsonArray.from(positions.lat()[n], positions.lng()[n], positions.resolution()[n]));
      }
      return found;
    }
    JsonArray positions = question.getArray("positions");
    int resolution = question.getInt("resolution");
    double[] lat = new double[positions.size()];
    double[] lng = new double[positions.size()];
    for (int n = 0; n < lat.length; n++) {
      lat[n] = positions.getObject(n).getDouble("lat");
      lng[n] = positions.getObject(n).getDouble("lng");
    }
    Hexcodes.Batch batch = hexcodes.encodeBatch(lat, lng, resolution);
    for (int n = 0; n < lat.length; n++) {
      JsonObject row = new JsonObject();
      try {
        row.put("code", isSingle ? hexcodes.encode(lat[n], lng[n], resolution) : batch.code(n));
        row.put("status", batch.status(n).name());
      } catch (HexcodesException error) {
        row.put("code", null);
        row.put("status", error.code().name());
      }
      found.add(row);
    }
    return found;
  }

  /** The three files of the build, the kernel with its vectors. */
  static Map<String, byte[]> shippedFiles() throws Exception {
    var files = new HashMap<String, byte[]>();
    files.put("kernel", Files.readAllBytes(Path.of("../../dist/kernel.wasm")));
    files.put("index", Files.readAllBytes(Path.of("../../data/index.bin")));
    files.put("reach", Files.readAllBytes(Path.of("../../data/reach.bin")));
    return files;
  }

  /**
   * Why files are refused; null if they are taken. The package has its kernel as bytecode and takes none, so a kernel is
   * given to its loader, whose checks come before the first call, and the others to the kernel that is built in.
   */
  static String refusalOf(Map<String, byte[]> files) {
    try {
      Hexcodes.load(files.get("index"), files.get("reach")).close();
    } catch (HexcodesException error) {
      return error.getMessage();
    }
    try {
      var kernel = files.get("kernel");
      Hexcodes.of(() -> Parser.parse(kernel), InterpreterMachine::new, files.get("index"), files.get("reach")).close();
    } catch (HexcodesException error) {
      return error.getMessage();
    } catch (RuntimeException unrunnable) {
      // Chicory runs no vectors: nothing was found to be wrong before the first of them.
    }
    return null;
  }
}
