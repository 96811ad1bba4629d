// Sends keys with a client library for Go: clients CLIENT BOOTSTRAP PARTITIONER TOPIC...
// On standard input: one key a line as hex, "-" for none. The record's value is the line's number.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// job is what every client gets to do.
type job struct {
	brokers     []string
	partitioner string
	topics      []string
	// A nil key is none; an empty one is not nil.
	keys [][]byte
}

// each calls f for every record that is to be sent.
func (j job) each(f func(topic string, key, value []byte)) {
	for _, topic := range j.topics {
		for line, key := range j.keys {
			f(topic, key, []byte(strconv.Itoa(line)))
		}
	}
}

// pick gives the partitioner of the wanted name.
func pick[P any](j job, named map[string]P) (P, error) {
	partitioner, found := named[j.partitioner]
	if !found {
		return partitioner, fmt.Errorf("no partitioner %s", j.partitioner)
	}
	return partitioner, nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 4 {
		return fmt.Errorf("usage: clients CLIENT BOOTSTRAP PARTITIONER TOPIC...")
	}
	keys, err := readKeys(os.Stdin)
	if err != nil {
		return err
	}
	j := job{strings.Split(args[1], ","), args[2], args[3:], keys}
	switch args[0] {
	case "sarama":
		return sendWithSarama(j)
	case "kafka-go":
		return sendWithKafkaGo(j)
	case "franz-go":
		return sendWithFranz(j)
	}
	return fmt.Errorf("no client %s", args[0])
}

func readKeys(from io.Reader) ([][]byte, error) {
	var keys [][]byte
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if lines.Text() == "-" {
			keys = append(keys, nil)
			continue
		}
		key, err := hex.DecodeString(lines.Text())
		if err != nil {
			return nil, err
		}
		keys = append(keys, append([]byte{}, key...))
	}
	return keys, lines.Err()
}
