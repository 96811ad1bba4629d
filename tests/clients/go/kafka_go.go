package main

import (
	"context"
	"time"

	"github.com/segmentio/kafka-go"
)

func sendWithKafkaGo(j job) error {
	balancer, err := pick(j, map[string]kafka.Balancer{
		// The Writer then takes turns and looks at no key.
		"default":                           nil,
		"Hash":                              &kafka.Hash{},
		"ReferenceHash":                     &kafka.ReferenceHash{},
		"CRC32Balancer":                     kafka.CRC32Balancer{},
		"CRC32Balancer{Consistent: true}":   kafka.CRC32Balancer{Consistent: true},
		"Murmur2Balancer":                   kafka.Murmur2Balancer{},
		"Murmur2Balancer{Consistent: true}": kafka.Murmur2Balancer{Consistent: true},
	})
	if err != nil {
		return err
	}
	writer := &kafka.Writer{
		Addr:         kafka.TCP(j.brokers...),
		Balancer:     balancer,
		RequiredAcks: kafka.RequireAll,
		// It waits this long, by default a second, for a batch to fill.
		BatchTimeout: 5 * time.Millisecond,
	}
	var messages []kafka.Message
	j.each(func(topic string, key, value []byte) {
		messages = append(messages, kafka.Message{Topic: topic, Key: key, Value: value})
	})
	if err := writer.WriteMessages(context.Background(), messages...); err != nil {
		return err
	}
	return writer.Close()
}
