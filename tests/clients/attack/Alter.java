import java.io.FileInputStream;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;

/** usage: Alter BOOTSTRAP PROPERTIES TOPIC COUNT */
public class Alter {
  public static void main(String[] args) throws Exception {
    Properties properties = new Properties();
    try (FileInputStream file = new FileInputStream(args[1])) {
      properties.load(file);
    }
    properties.put("bootstrap.servers", args[0]);
    try (Admin admin = Admin.create(properties)) {
      NewPartitions wanted = NewPartitions.increaseTo(Integer.parseInt(args[3]));
      admin.createPartitions(Map.of(args[2], wanted)).all().get();
    } catch (ExecutionException refused) {
      System.err.println(refused.getCause());
      System.exit(1);
    }
  }
}
