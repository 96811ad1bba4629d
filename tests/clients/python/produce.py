"""Sends keys with a client library for Python: produce.py CLIENT BOOTSTRAP PARTITIONER TOPIC...

On standard input: one key a line as hex, "-" for none. The record's value is the line's number.
"""

import asyncio
import sys


def records(topics, keys):
    for topic in topics:
        for line, key in enumerate(keys):
            yield topic, key, str(line).encode()


def kafka_python(bootstrap, partitioner, topics, keys):
    from kafka import KafkaProducer
    from kafka.partitioner.sticky import StickyPartitioner

    known = {"default": lambda: {}, "StickyPartitioner": lambda: {"partitioner": StickyPartitioner()}}
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", **known[partitioner]())
    sent = [producer.send(topic, key=key, value=value) for topic, key, value in records(topics, keys)]
    for future in sent:
        future.get(timeout=60)
    producer.close()


def aiokafka(bootstrap, partitioner, topics, keys):
    from aiokafka import AIOKafkaProducer

    if partitioner != "default":
        sys.exit(f"no partitioner {partitioner}")

    async def send():
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all")
        await producer.start()
        try:
            sent = [await producer.send(topic, key=key, value=value) for topic, key, value in records(topics, keys)]
            await asyncio.wait_for(asyncio.gather(*sent), 60)
        finally:
            await producer.stop()

    asyncio.run(send())


def confluent_kafka(bootstrap, partitioner, topics, keys):
    from confluent_kafka import Producer

    failures = []

    def done(error, _):
        if error is not None:
            failures.append(error)

    config = {"bootstrap.servers": bootstrap, "allow.auto.create.topics": False}
    if partitioner != "default":
        # Else all of 10 ms go to one partition, which cannot be told from pinned.
        config |= {"partitioner": partitioner, "sticky.partitioning.linger.ms": 0}
    producer = Producer(config)
    for topic, key, value in records(topics, keys):
        producer.produce(topic, key=key, value=value, on_delivery=done)
        producer.poll(0)
    left = producer.flush(60)
    if failures or left:
        sys.exit(f"{left} records are not sent, {len(failures)} failed: {failures[:1]}")


def main():
    client, bootstrap, partitioner, *topics = sys.argv[1:]
    clients = {"kafka-python": kafka_python, "aiokafka": aiokafka, "confluent-kafka": confluent_kafka}
    keys = [None if line == "-" else bytes.fromhex(line) for line in sys.stdin.read().splitlines()]
    clients[client](bootstrap, partitioner, topics, keys)


main()
