package main

import "github.com/IBM/sarama"

func sendWithSarama(j job) error {
	config := sarama.NewConfig()
	partitioner, err := pick(j, map[string]sarama.PartitionerConstructor{
		"default":                         config.Producer.Partitioner,
		"NewHashPartitioner":              sarama.NewHashPartitioner,
		"NewReferenceHashPartitioner":     sarama.NewReferenceHashPartitioner,
		"NewConsistentCRCHashPartitioner": sarama.NewConsistentCRCHashPartitioner,
		"NewMurmur2Partitioner":           sarama.NewMurmur2Partitioner,
	})
	if err != nil {
		return err
	}
	config.Producer.Partitioner = partitioner
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	producer, err := sarama.NewSyncProducer(j.brokers, config)
	if err != nil {
		return err
	}
	defer producer.Close()
	var messages []*sarama.ProducerMessage
	j.each(func(topic string, key, value []byte) {
		message := &sarama.ProducerMessage{Topic: topic, Value: sarama.ByteEncoder(value)}
		// A nil ByteEncoder would be a key to sarama, since the interface around it is not nil.
		if key != nil {
			message.Key = sarama.ByteEncoder(key)
		}
		messages = append(messages, message)
	})
	return producer.SendMessages(messages)
}
