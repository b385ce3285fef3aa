import hexcodes.Hexcodes;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Flink: the code of each "lat,lng", in their order; "-" where there is none. */
public class CodeMap extends RichMapFunction<String, String> {
  private static final long serialVersionUID = 1;
  /** One for each task, closed with it: a value that is static would outlive the class loader of the job. */
  private transient Hexcodes hexcodes;

  @Override
  public void open(OpenContext context) {
    hexcodes = Hexcodes.load();
  }

  @Override
  public void close() {
    if (hexcodes != null) hexcodes.close();
  }

  @Override
  public String map(String position) {
    String[] numbers = position.split(",");
    String code = hexcodes.encodeOrNull(Double.parseDouble(numbers[0]), Double.parseDouble(numbers[1]), 13);
    return code == null ? "-" : code;
  }

  public static void main(String[] args) throws Exception {
    var environment = StreamExecutionEnvironment.createLocalEnvironment(1);
    var codes = environment.fromData(List.of(args)).map(new CodeMap());
    try (var found = codes.executeAndCollect()) {
      found.forEachRemaining(System.out::println);
    }
  }
}
