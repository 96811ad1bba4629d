// Sends keys with a client library for Node: produce.mjs CLIENT BOOTSTRAP PARTITIONER TOPIC...
// On standard input: one key a line as hex, "-" for none. The record's value is the line's number.
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'

const require = createRequire(import.meta.url)
process.env.KAFKAJS_NO_PARTITIONER_WARNING = '1'

const [client, bootstrap, partitioner, ...topics] = process.argv.slice(2)
const keys = readFileSync(0, 'utf8').split('\n').slice(0, -1)
  .map(line => line === '-' ? null : Buffer.from(line, 'hex'))

function unknown () {
  throw new Error(`no partitioner ${partitioner} of ${client}`)
}

/** With `choose` the partition is set on each record; else the producer's partitioner chooses. */
async function kafkajs (library, createPartitioner, choose) {
  const kafka = new library.Kafka({ brokers: bootstrap.split(','), logLevel: library.logLevel.ERROR })
  const producer = kafka.producer(createPartitioner ? { createPartitioner } : {})
  await producer.connect()
  for (const topic of topics) {
    const count = choose ? await partitions(kafka, topic) : undefined
    const messages = keys.map((key, line) => {
      const message = { key, value: String(line) }
      return choose ? { ...message, partition: choose(key, count) } : message
    })
    await producer.send({ topic, messages, acks: -1 })
  }
  await producer.disconnect()
}

async function partitions (kafka, topic) {
  const admin = kafka.admin()
  await admin.connect()
  const { topics: [found] } = await admin.fetchTopicMetadata({ topics: [topic] })
  await admin.disconnect()
  return found.partitions.length
}

async function kafkajs2 () {
  const library = require('kafkajs')
  const named = library.Partitioners[partitioner]
  if (partitioner !== 'default' && !named) unknown()
  await kafkajs(library, partitioner === 'default' ? undefined : named)
}

async function kafkajs1 () {
  if (partitioner !== 'default') unknown()
  await kafkajs(require('kafkajs-1'))
}

async function platformatic () {
  const { Producer, ProduceAcks, compatibilityPartitioner, defaultPartitioner } = await import('@platformatic/kafka')
  const known = { default: undefined, compatibilityPartitioner, defaultPartitioner }
  if (!(partitioner in known)) unknown()
  const config = { clientId: 'conformance', bootstrapBrokers: bootstrap.split(',') }
  // Naming the default is not the same as leaving it out: a key that is missing is then looked at too.
  if (known[partitioner]) config.partitioner = known[partitioner]
  const producer = new Producer(config)
  for (const topic of topics) {
    const messages = keys.map((key, line) => {
      const message = { topic, value: Buffer.from(String(line)) }
      return key === null ? message : { ...message, key }
    })
    await producer.send({ messages, acks: ProduceAcks.ALL })
  }
  await producer.close()
}

/**
 * kafka-node ended in 2020 and sends requests that a broker of today has dropped. So its own class chooses, for keys of
 * text, and KafkaJS sends.
 */
async function kafkaNode () {
  if (partitioner !== 'partitionerType 3') unknown()
  const keyed = new (require('kafka-node/lib/partitioner').KeyedPartitioner)()
  const choose = (key, count) => keyed.getPartition([...Array(count).keys()], key === null ? null : key.toString())
  await kafkajs(require('kafkajs'), undefined, choose)
}

const clients = { kafkajs: kafkajs2, 'kafkajs-1': kafkajs1, platformatic, 'kafka-node': kafkaNode }
await clients[client]()
