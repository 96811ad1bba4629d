package main

import (
	"context"
	"hash/crc32"
	"hash/fnv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func sendWithFranz(j job) error {
	keyed := func(hasher kgo.PartitionerHasher) []kgo.Opt {
		return []kgo.Opt{kgo.RecordPartitioner(kgo.StickyKeyPartitioner(hasher))}
	}
	fnv32a := func(key []byte) uint32 {
		hash := fnv.New32a()
		hash.Write(key)
		return hash.Sum32()
	}
	options, err := pick(j, map[string][]kgo.Opt{
		"default":                    nil,
		"StickyKeyPartitioner(nil)":  keyed(nil),
		"KafkaHasher(fnv32a)":        keyed(kgo.KafkaHasher(fnv32a)),
		"SaramaHasher(fnv32a)":       keyed(kgo.SaramaHasher(fnv32a)),
		"SaramaHasher(crc32)":        keyed(kgo.SaramaHasher(crc32.ChecksumIEEE)),
		"SaramaCompatHasher(fnv32a)": keyed(kgo.SaramaCompatHasher(fnv32a)),
	})
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(j.brokers...), kgo.RequiredAcks(kgo.AllISRAcks()))...)
	if err != nil {
		return err
	}
	defer client.Close()
	var records []*kgo.Record
	j.each(func(topic string, key, value []byte) {
		records = append(records, &kgo.Record{Topic: topic, Key: key, Value: value})
	})
	// It would try for ever.
	limited, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return client.ProduceSync(limited, records...).FirstErr()
}
