import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers;
import org.apache.kafka.streams.state.Stores;

/**
 * Members of consumer groups, many in one process: Members BOOTSTRAP. Standard input has one command a line:
 *
 * <pre>
 * consumer NAME GROUP classic|consumer ASSIGNOR TOPIC,TOPIC...
 * streams NAME APPLICATION classic|streams join|apart|shared TOPIC,TOPIC
 * close NAME
 * </pre>
 *
 * An application joins its topics, or only reads each (two sub-topologies), or reads each into one shared store. "NAME closed"
 * is printed once a member has left.
 */
public class Members {
    private static final Map<String, String> ASSIGNORS = Map.of(
        "range", "org.apache.kafka.clients.consumer.RangeAssignor",
        "roundrobin", "org.apache.kafka.clients.consumer.RoundRobinAssignor",
        "sticky", "org.apache.kafka.clients.consumer.StickyAssignor",
        "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");

    public static void main(String[] args) throws Exception {
        var members = new HashMap<String, AutoCloseable>();
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null; ) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "consumer" -> members.put(words[1], consumer(args[0], words));
                case "streams" -> members.put(words[1], streams(args[0], words));
                case "close" -> {
                    members.remove(words[1]).close();
                    System.out.println(words[1] + " closed");
                }
                default -> throw new IllegalArgumentException(line);
            }
        }
        System.exit(0);
    }

    private static AutoCloseable consumer(String bootstrap, String[] words) {
        var config = new HashMap<String, Object>();
        config.put("bootstrap.servers", bootstrap);
        config.put("client.id", words[1]);
        config.put("group.id", words[2]);
        config.put("group.protocol", words[3]);
        if (words[3].equals("classic")) {
            config.put("partition.assignment.strategy", ASSIGNORS.get(words[4]));
        } else {
            config.put("group.remote.assignor", words[4]);
        }
        var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(words[5].split(",")));
        var thread = new Thread(() -> {
            try (consumer) {
                while (true) {
                    consumer.poll(Duration.ofMillis(200));
                }
            } catch (WakeupException closed) {
                // As asked.
            }
        }, words[1]);
        thread.setDaemon(true);
        thread.start();
        return () -> {
            consumer.wakeup();
            thread.join();
        };
    }

    private static AutoCloseable streams(String bootstrap, String[] words) throws Exception {
        var config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("application.id", words[2]);
        config.put("client.id", words[1]);
        config.put("group.protocol", words[3]);
        config.put("state.dir", Files.createTempDirectory("members").toString());
        config.put("default.key.serde", "org.apache.kafka.common.serialization.Serdes$ByteArraySerde");
        config.put("default.value.serde", "org.apache.kafka.common.serialization.Serdes$ByteArraySerde");
        // A member that is closed leaves at once, as consumers do.
        config.put("internal.leave.group.on.close", true);
        String[] topics = words[5].split(",");
        var streams = new KafkaStreams(topology(words[4], topics[0], topics[1]), config);
        streams.setUncaughtExceptionHandler(e -> {
            System.out.println(words[1] + " stops: " + e.getMessage());
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.start();
        return streams;
    }

    private static Topology topology(String shape, String left, String right) {
        var builder = new StreamsBuilder();
        var bytes = Consumed.with(Serdes.ByteArray(), Serdes.ByteArray());
        if (shape.equals("shared")) {
            builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.inMemoryKeyValueStore("seen"), Serdes.ByteArray(), Serdes.ByteArray()));
        }
        var a = builder.stream(left, bytes);
        var b = builder.stream(right, bytes);
        switch (shape) {
            case "join" -> a.join(b, (one, other) -> one,
                JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofSeconds(1)),
                StreamJoined.with(Serdes.ByteArray(), Serdes.ByteArray(), Serdes.ByteArray())
                    .withDslStoreSuppliers(new InMemoryDslStoreSuppliers()))
                .foreach((key, value) -> { });
            case "apart" -> {
                a.foreach((key, value) -> { });
                b.foreach((key, value) -> { });
            }
            case "shared" -> {
                a.process(Seen::new, "seen");
                b.process(Seen::new, "seen");
            }
            default -> throw new IllegalArgumentException(shape);
        }
        return builder.build();
    }

    private static class Seen extends ContextualProcessor<byte[], byte[], Void, Void> {
        @Override
        public void process(Record<byte[], byte[]> record) {
        }
    }
}
