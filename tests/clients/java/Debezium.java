import io.debezium.data.Envelope;
import io.debezium.transforms.partitions.PartitionRouting;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Debezium's transformation that routes by a field of the row, here one of text. It sets the record's partition, and
 * Connect then passes that to a plain producer, as this program does.
 */
public class Debezium {
    private static final Schema ROW = SchemaBuilder.struct().name("server.table.Value").field("id", Schema.STRING_SCHEMA).build();
    private static final Schema SOURCE = SchemaBuilder.struct().name("source").build();
    private static final Envelope ENVELOPE =
        Envelope.defineSchema().withName("server.table.Envelope").withRecord(ROW).withSource(SOURCE).build();

    public static void main(String[] args) throws Exception {
        Produce.only("PartitionRouting", args);
        Produce.send(args[0], Produce.topics(args), Produce.keys(), Debezium::partition);
    }

    private static Integer partition(byte[] key, int count) {
        try (var routing = new PartitionRouting<SourceRecord>()) {
            routing.configure(Map.of("partition.payload.fields", "after.id", "partition.topic.num", Integer.toString(count)));
            Struct row = new Struct(ROW).put("id", new String(key, StandardCharsets.UTF_8));
            Struct change = ENVELOPE.create(row, new Struct(SOURCE), Instant.EPOCH);
            var routed = routing.apply(new SourceRecord(Map.of(), Map.of(), "server.table", ENVELOPE.schema(), change));
            if (routed.kafkaPartition() == null) {
                throw new IllegalStateException("the transformation has left the record alone");
            }
            return routed.kafkaPartition();
        }
    }
}
