// A member of a consumer group, which prints what it was given each time that members come or go, until it is stopped.
// usage: node consumer.mjs BOOTSTRAP GROUP range|roundrobin|both TOPIC...
import kafkajs from 'kafkajs'
import { range } from './range.mjs'

const { Kafka, PartitionAssigners, logLevel } = kafkajs
const ASSIGNERS = {
  range: [range],
  roundrobin: [PartitionAssigners.roundRobin],
  // For a rolling change: all members know both before the first one leaves one out.
  both: [range, PartitionAssigners.roundRobin]
}

const [bootstrap, groupId, assigner, ...topics] = process.argv.slice(2)
if (topics.length === 0 || !(assigner in ASSIGNERS)) {
  console.error('usage: node consumer.mjs BOOTSTRAP GROUP range|roundrobin|both TOPIC...')
  process.exit(2)
}

// To KafkaJS each rebalance is an error worth a line; what ends a consumer is printed below.
const kafka = new Kafka({ clientId: 'kafkajs-example', brokers: bootstrap.split(','), logLevel: logLevel.NOTHING })
const consumer = kafka.consumer({ groupId, partitionAssigners: ASSIGNERS[assigner] })

consumer.on(consumer.events.GROUP_JOIN, ({ payload: { memberId, memberAssignment } }) => {
  console.log(JSON.stringify({ memberId, memberAssignment }))
})
consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
  console.error(error.message)
  if (!restart) process.exit(1)
})
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => consumer.disconnect().then(() => process.exit(0)))
}

await consumer.connect()
await consumer.subscribe({ topics })
await consumer.run({
  eachMessage: async ({ topic, partition, message }) => {
    console.log(JSON.stringify({ topic, partition, key: message.key?.toString() }))
  }
})
