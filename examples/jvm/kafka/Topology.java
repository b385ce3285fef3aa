import hexcodes.Hexcodes;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;

/** Kafka Streams: the code of each "lat,lng", under the key of its vehicle; positions without a code go on as "-". */
class Topology {
  static final Hexcodes HEXCODES = Hexcodes.load();

  static String codeOf(String position) {
    String[] numbers = position.split(",");
    String code = HEXCODES.encodeOrNull(Double.parseDouble(numbers[0]), Double.parseDouble(numbers[1]), 13);
    return code == null ? "-" : code;
  }

  public static void main(String[] args) {
    var builder = new StreamsBuilder();
    builder.<String, String>stream("positions").mapValues(Topology::codeOf).to("codes");
    var settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "hexcodes");
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    // The driver of tests stands for the broker.
    try (var driver = new TopologyTestDriver(builder.build(), settings)) {
      var positions = driver.createInputTopic("positions", new StringSerializer(), new StringSerializer());
      for (String position : args) positions.pipeInput("29C-12345", position);
      driver
          .createOutputTopic("codes", new StringDeserializer(), new StringDeserializer())
          .readValuesToList()
          .forEach(System.out::println);
    }
  }
}
