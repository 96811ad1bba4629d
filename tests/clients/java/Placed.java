import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Sends what another program has placed, for clients that speak to no broker of today. Standard input has on each line the
 * topic, the partition, the key as hex ("-" for none) and the value.
 */
public class Placed {
    public static void main(String[] args) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        try (var producer = Produce.producer(args[0])) {
            var sent = new ArrayList<Future<?>>();
            for (String line; (line = lines.readLine()) != null; ) {
                String[] words = line.split(" ");
                byte[] key = words[2].equals("-") ? null : HexFormat.of().parseHex(words[2]);
                sent.add(producer.send(
                    new ProducerRecord<>(words[0], Integer.valueOf(words[1]), key, words[3].getBytes())));
            }
            for (Future<?> one : sent) {
                one.get();
            }
        }
    }
}
