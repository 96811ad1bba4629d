import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Utils;

/** What a Java producer does with the keys of a file: java Murmur2.java FILE PARTITIONS prints how many each partition gets. */
public class Murmur2 {
    public static void main(String[] args) throws Exception {
        long[] counts = new long[Integer.parseInt(args[1])];
        try (BufferedReader keys = new BufferedReader(
                new InputStreamReader(new FileInputStream(args[0]), StandardCharsets.UTF_8), 1 << 20)) {
            for (String key = keys.readLine(); key != null; key = keys.readLine()) {
                byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
                counts[Utils.toPositive(Utils.murmur2(bytes)) % counts.length]++;
            }
        }
        for (long count : counts) {
            System.out.println(count);
        }
    }
}
