// Java's own producer: messages in batches packed by `compression.type`. Arguments: brokers, topic, codec, messages.
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

public class Packed {
  public static void main(String[] args) {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", args[0]);
    settings.put("compression.type", args[2]);
    settings.put("linger.ms", "1000");
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      for (int i = 0; i < Integer.parseInt(args[3]); i++)
        producer.send(new ProducerRecord<>(args[1], "key" + i, "{\"lat\":21.0288,\"lng\":105.8525,\"id\":" + i + "}"));
    }
  }
}
