import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Java's own producer with no partitioner configured. It runs from this file alone, with nothing but Kafka's jars. */
public class Produce {
    /** What the other programs here put in place of the producer's own choice, which null leaves to it. */
    interface Choice {
        Integer partition(byte[] key, int count);
    }

    public static void main(String[] args) throws Exception {
        only("default", args);
        send(args[0], topics(args), keys(), (key, count) -> null);
    }

    static List<String> topics(String[] args) {
        return Arrays.asList(args).subList(2, args.length);
    }

    static void only(String setting, String[] args) {
        if (!args[1].equals(setting)) {
            throw new IllegalArgumentException("no partitioner " + args[1]);
        }
    }

    /** One key a line as hex; "-" is no key, and an empty line an empty one. */
    static List<byte[]> keys() throws Exception {
        var keys = new ArrayList<byte[]>();
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            keys.add(line.equals("-") ? null : HexFormat.of().parseHex(line));
        }
        return keys;
    }

    static KafkaProducer<byte[], byte[]> producer(String bootstrap) {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "acks", "all", "delivery.timeout.ms", 60_000,
            "request.timeout.ms", 30_000);
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Sends each key to each topic with the line's number as the value, and waits until Kafka has all of them. */
    static void send(String bootstrap, List<String> topics, List<byte[]> keys, Choice choice) throws Exception {
        try (var producer = producer(bootstrap)) {
            var sent = new ArrayList<Future<?>>();
            for (String topic : topics) {
                int count = producer.partitionsFor(topic).size();
                for (int line = 0; line < keys.size(); line++) {
                    byte[] key = keys.get(line);
                    byte[] value = Integer.toString(line).getBytes();
                    sent.add(producer.send(new ProducerRecord<>(topic, choice.partition(key, count), key, value)));
                }
            }
            for (Future<?> one : sent) {
                one.get();
            }
        }
    }
}
