import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.WindowedSerdes;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;

/**
 * A Kafka Streams application that groups its input by key and window and writes what comes out, keyed by both, to the
 * topics. Streams itself chooses the partitioner there, because the key's serializer is a windowed one.
 */
public class WindowedOutput {
    private static final Duration DAY = Duration.ofDays(1);

    public static void main(String[] args) throws Exception {
        String bootstrap = args[0];
        List<String> topics = Produce.topics(args);
        List<byte[]> keys = Produce.keys();
        String application = "windowed-" + topics.get(0);
        String input = application + "-input";
        try (var admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(input, Optional.of(1), Optional.empty()))).all().get();
            Produce.send(bootstrap, List.of(input), keys, (key, count) -> 0);
            run(bootstrap, application, args[1], input, topics, keys.size());
            admin.deleteTopics(List.of(input)).all().get();
        }
    }

    private static void run(String bootstrap, String application, String kind, String input, List<String> topics,
            int expected) throws Exception {
        var left = new CountDownLatch(expected);
        var builder = new StreamsBuilder();
        var grouped = builder.stream(input, Consumed.with(Serdes.ByteArray(), Serdes.ByteArray())).groupByKey();
        switch (kind) {
            case "time windows" -> write(timed(grouped), topics, left,
                new WindowedSerdes.TimeWindowedSerde<>(Serdes.ByteArray(), DAY.toMillis()));
            case "session windows" -> write(sessions(grouped), topics, left,
                new WindowedSerdes.SessionWindowedSerde<>(Serdes.ByteArray()));
            default -> throw new IllegalArgumentException("no kind of window " + kind);
        }

        var config = new Properties();
        config.put("application.id", application);
        config.put("bootstrap.servers", bootstrap);
        config.put("auto.offset.reset", "earliest");
        // The stores are in memory, but Streams notes here that it runs.
        config.put("state.dir", Path.of(System.getProperty("java.io.tmpdir"), application).toString());
        config.put("dsl.store.suppliers.class",
            "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers");
        var failure = new AtomicReference<Throwable>();
        try (var streams = new KafkaStreams(builder.build(), config)) {
            streams.setUncaughtExceptionHandler(e -> {
                failure.set(e);
                while (left.getCount() > 0) {
                    left.countDown();
                }
                return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            });
            streams.start();
            if (!left.await(120, TimeUnit.SECONDS)) {
                throw new IllegalStateException(left.getCount() + " of " + expected + " records did not come out");
            }
            // Closing sends what is still in the producer's buffers, and waits for it.
            streams.close();
            streams.cleanUp();
        }
        if (failure.get() != null) {
            throw new IllegalStateException("the application failed", failure.get());
        }
    }

    private static KStream<Windowed<byte[]>, byte[]> timed(KGroupedStream<byte[], byte[]> grouped) {
        return grouped.windowedBy(TimeWindows.ofSizeAndGrace(DAY, DAY))
            .reduce((before, now) -> now, Materialized.<byte[], byte[], WindowStore<Bytes, byte[]>>as("windows")
                .withCachingDisabled().withLoggingDisabled())
            .toStream();
    }

    private static KStream<Windowed<byte[]>, byte[]> sessions(KGroupedStream<byte[], byte[]> grouped) {
        return grouped.windowedBy(SessionWindows.ofInactivityGapAndGrace(DAY, DAY))
            .reduce((before, now) -> now, Materialized.<byte[], byte[], SessionStore<Bytes, byte[]>>as("sessions")
                .withCachingDisabled().withLoggingDisabled())
            .toStream()
            // A session that grows is deleted under its old bounds.
            .filter((key, value) -> value != null);
    }

    private static void write(KStream<Windowed<byte[]>, byte[]> out, List<String> topics, CountDownLatch left,
            Serde<Windowed<byte[]>> keys) {
        for (String topic : topics) {
            out.to(topic, Produced.with(keys, Serdes.ByteArray()));
        }
        out.foreach((key, value) -> left.countDown());
    }
}
