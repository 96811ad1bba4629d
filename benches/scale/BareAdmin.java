import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/**
 * The bare reference: what Kafka's own admin client takes to create topics, and to grow them, in batched requests and
 * with nothing around them. Prints `name milliseconds` lines, measured inside, so that the start of the JVM is not part
 * of them.
 *
 * usage: --bootstrap-server HOST:PORT PREFIX TOPICS PARTITIONS [GROWN_PARTITIONS]
 */
public final class BareAdmin {
    /** KRaft refuses a request that makes more than 10,000 records; this is half of that. */
    private static final int MOST_RECORDS = 5_000;
    private static final int LOOK_MS = 1_000;
    private static final long DEADLINE_MS = TimeUnit.MINUTES.toMillis(10);

    public static void main(String[] args) throws Exception {
        String prefix = args[2];
        int topics = Integer.parseInt(args[3]);
        int partitions = Integer.parseInt(args[4]);
        List<String> names = new ArrayList<>();
        for (int n = 0; n < topics; n++) {
            names.add(prefix + n);
        }
        Properties config = new Properties();
        config.put("bootstrap.servers", args[1]);
        config.put("client.id", "bare-admin");
        config.put("request.timeout.ms", Long.toString(DEADLINE_MS));
        config.put("default.api.timeout.ms", Long.toString(DEADLINE_MS));
        try (Admin admin = Admin.create(config)) {
            // Connected first, as the reference is about requests.
            admin.describeCluster().nodes().get();
            create(admin, names, partitions);
            if (args.length > 5) {
                grow(admin, names, partitions, Integer.parseInt(args[5]));
            }
        }
    }

    private static void create(Admin admin, List<String> names, int partitions) throws Exception {
        long began = System.nanoTime();
        List<KafkaFuture<Void>> answers = new ArrayList<>();
        for (List<String> batch : batches(names, partitions)) {
            List<NewTopic> wanted = new ArrayList<>();
            for (String name : batch) {
                wanted.add(new NewTopic(name, Optional.of(partitions), Optional.of((short) 1)));
            }
            answers.add(admin.createTopics(wanted).all());
        }
        await(answers);
        print("create_answered", began);
        untilVisible(admin, names, partitions);
        print("create_visible", began);
        untilLed(admin, names, partitions);
        print("create_led", began);
    }

    private static void grow(Admin admin, List<String> names, int from, int to) throws Exception {
        long began = System.nanoTime();
        List<KafkaFuture<Void>> answers = new ArrayList<>();
        for (List<String> batch : batches(names, to - from)) {
            Map<String, NewPartitions> wanted = new HashMap<>();
            for (String name : batch) {
                wanted.put(name, NewPartitions.increaseTo(to));
            }
            answers.add(admin.createPartitions(wanted).all());
        }
        await(answers);
        print("grow_answered", began);
        untilVisible(admin, names, to);
        print("grow_visible", began);
        untilLed(admin, names, to);
        print("grow_led", began);
    }

    private static List<List<String>> batches(List<String> names, int partitions) {
        int size = Math.max(1, MOST_RECORDS / (partitions + 1));
        List<List<String>> batches = new ArrayList<>();
        for (int from = 0; from < names.size(); from += size) {
            batches.add(names.subList(from, Math.min(names.size(), from + size)));
        }
        return batches;
    }

    private static void await(List<KafkaFuture<Void>> answers) throws Exception {
        for (KafkaFuture<Void> answer : answers) {
            answer.get();
        }
    }

    /** Until a broker shows all topics with all partitions, each with a leader. */
    private static void untilVisible(Admin admin, List<String> names, int partitions) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
        List<String> left = names;
        while (!left.isEmpty()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(left.size() + " topics do not show, such as " + left.get(0));
            }
            List<String> missing = new ArrayList<>();
            Map<String, KafkaFuture<TopicDescription>> described =
                admin.describeTopics(left, new DescribeTopicsOptions()).topicNameValues();
            for (Map.Entry<String, KafkaFuture<TopicDescription>> entry : described.entrySet()) {
                if (!shows(entry.getValue(), partitions)) {
                    missing.add(entry.getKey());
                }
            }
            left = missing;
        }
    }

    private static boolean shows(KafkaFuture<TopicDescription> described, int partitions) throws Exception {
        try {
            TopicDescription topic = described.get();
            return topic.partitions().size() == partitions
                && topic.partitions().stream().allMatch(partition -> partition.leader() != null);
        } catch (ExecutionException unknown) {
            return false;
        }
    }

    /**
     * Until each leader answers for its partitions. A broker shows a topic as soon as it has read of it, and only then
     * makes the logs, one after the other: before that nobody can write to it.
     */
    private static void untilLed(Admin admin, List<String> names, int partitions) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
        Map<TopicPartition, OffsetSpec> left = new HashMap<>();
        for (String name : names) {
            for (int partition = 0; partition < partitions; partition++) {
                left.put(new TopicPartition(name, partition), OffsetSpec.latest());
            }
        }
        // One attempt a request: the client's own retries would wait for the slowest partition of all.
        ListOffsetsOptions once = new ListOffsetsOptions().timeoutMs(LOOK_MS);
        while (!left.isEmpty()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(left.size() + " partitions are not led, such as " + left.keySet().iterator().next());
            }
            ListOffsetsResult answer = admin.listOffsets(left, once);
            Map<TopicPartition, OffsetSpec> missing = new HashMap<>();
            for (TopicPartition partition : left.keySet()) {
                if (!isDone(answer.partitionResult(partition))) {
                    missing.put(partition, OffsetSpec.latest());
                }
            }
            left = missing;
        }
    }

    private static boolean isDone(KafkaFuture<?> answer) throws Exception {
        try {
            answer.get();
            return true;
        } catch (ExecutionException notYet) {
            return false;
        }
    }

    private static void print(String name, long began) {
        System.out.println(name + " " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
    }
}
