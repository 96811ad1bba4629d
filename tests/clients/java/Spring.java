import java.nio.charset.StandardCharsets;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.cloud.stream.binder.PartitionHandler;
import org.springframework.cloud.stream.binder.ProducerProperties;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.messaging.support.MessageBuilder;

/**
 * Spring Cloud Stream with a partition key expression over text. Its own class chooses and a plain producer sends, since
 * the class does not see what transport is below; a binder would bring a whole Spring application.
 */
public class Spring {
    public static void main(String[] args) throws Exception {
        Produce.only("partition-key-expression", args);
        Produce.send(args[0], Produce.topics(args), Produce.keys(), Spring::partition);
    }

    private static Integer partition(byte[] key, int count) {
        var properties = new ProducerProperties();
        properties.setPartitionKeyExpression(new SpelExpressionParser().parseExpression("payload"));
        properties.setPartitionCount(count);
        var handler = new PartitionHandler(new StandardEvaluationContext(), properties, new DefaultListableBeanFactory());
        return handler.determinePartition(MessageBuilder.withPayload(new String(key, StandardCharsets.UTF_8)).build());
    }
}
