import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * An application that sends with each notification the last market update of the same key. Both topics have equal counts and
 * equal keys, and yet it finds nothing as long as the two are read in different sub-topologies: their tasks go where they like.
 *
 * <p>usage: Placement separate|shared|joined describe
 * <br>usage: Placement separate|shared|joined BOOTSTRAP APPLICATION_ID UPDATES NOTIFICATIONS [CONFIG=VALUE...]
 */
public final class Placement {
    private static final String UPDATES = "market-updates";
    private static final String NOTIFICATIONS = "notifications";

    public static void main(String[] args) throws InterruptedException {
        if (args.length == 2 && args[1].equals("describe")) {
            System.out.print(topology(args[0], UPDATES, NOTIFICATIONS).describe());
            return;
        }
        if (args.length < 5) {
            System.err.println("usage: Placement separate|shared|joined BOOTSTRAP APPLICATION_ID UPDATES NOTIFICATIONS [CONFIG=VALUE...]");
            System.exit(2);
        }
        Properties config = new Properties();
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[1]);
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, args[2]);
        for (int at = 5; at < args.length; at++) {
            String[] pair = args[at].split("=", 2);
            config.put(pair[0], pair[1]);
        }
        KafkaStreams streams = new KafkaStreams(topology(args[0], args[3], args[4]), config);
        CountDownLatch over = new CountDownLatch(1);
        streams.setStateListener((now, before) -> {
            System.out.println(now);
            if (now == KafkaStreams.State.ERROR || now == KafkaStreams.State.NOT_RUNNING) {
                over.countDown();
            }
        });
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
        over.await();
        // Kafka Streams stops itself if topics that it joins have unequal counts; of topics that meet in a shared store it does not look.
        Runtime.getRuntime().halt(streams.state() == KafkaStreams.State.ERROR ? 1 : 0);
    }

    private static Topology topology(String which, String updates, String notifications) {
        switch (which) {
            case "separate": return separate(updates, notifications);
            case "shared": return shared(updates, notifications);
            case "joined": return joined(updates, notifications);
            default: throw new IllegalArgumentException("separate, shared or joined, not " + which);
        }
    }

    /**
     * Each processor has a store of its own, and the notifications' is never filled: one might think that a map in memory, filled by
     * the other processor, would do. Nothing connects the two, so they are two sub-topologies, and the map would be in another process.
     */
    private static Topology separate(String updates, String notifications) {
        return new Topology()
            .addSource("updates", Serdes.String().deserializer(), Serdes.String().deserializer(), updates)
            .addSource("notifications", Serdes.String().deserializer(), Serdes.String().deserializer(), notifications)
            .addProcessor("keep", () -> new Keep("last-updates"), "updates")
            .addProcessor("enrich", () -> new Enrich("last-updates-seen-here"), "notifications")
            .addStateStore(store("last-updates"), "keep")
            .addStateStore(store("last-updates-seen-here"), "enrich");
    }

    /**
     * One store for both: that makes them one sub-topology, whose task reads the same partition of both topics.
     */
    private static Topology shared(String updates, String notifications) {
        return new Topology()
            .addSource("updates", Serdes.String().deserializer(), Serdes.String().deserializer(), updates)
            .addSource("notifications", Serdes.String().deserializer(), Serdes.String().deserializer(), notifications)
            .addProcessor("keep", () -> new Keep("last-updates"), "updates")
            .addProcessor("enrich", () -> new Enrich("last-updates"), "notifications")
            .addStateStore(store("last-updates"), "keep", "enrich");
    }

    /** The same in the DSL: a join is one sub-topology too, and the only one of these that checks for equal counts. */
    private static Topology joined(String updates, String notifications) {
        StreamsBuilder builder = new StreamsBuilder();
        Consumed<String, String> strings = Consumed.with(Serdes.String(), Serdes.String());
        KTable<String, String> last = builder.table(updates, strings, Materialized.as(Stores.inMemoryKeyValueStore("last-updates")));
        builder.stream(notifications, strings)
            .leftJoin(last, (notification, update) -> notification + " at " + update)
            .foreach((key, enriched) -> System.out.println(key + ": " + enriched));
        return builder.build();
    }

    private static StoreBuilder<KeyValueStore<String, String>> store(String name) {
        return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.String());
    }

    /** Keeps the last update of each key. */
    private static final class Keep implements Processor<String, String, Void, Void> {
        private final String name;
        private KeyValueStore<String, String> store;

        Keep(String name) {
            this.name = name;
        }

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            store = context.getStateStore(name);
        }

        @Override
        public void process(Record<String, String> update) {
            store.put(update.key(), update.value());
        }
    }

    /** Prints each notification with the last update of its key. */
    private static final class Enrich implements Processor<String, String, Void, Void> {
        private final String name;
        private KeyValueStore<String, String> store;

        Enrich(String name) {
            this.name = name;
        }

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            store = context.getStateStore(name);
        }

        @Override
        public void process(Record<String, String> notification) {
            System.out.println(notification.key() + ": " + notification.value() + " at " + store.get(notification.key()));
        }
    }
}
