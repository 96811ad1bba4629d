// usage: alter.mjs CLIENTS BOOTSTRAP PROPERTIES TOPIC COUNT
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'

const [clients, bootstrap, properties, topic, count] = process.argv.slice(2)
const { Kafka, logLevel } = createRequire(`${clients}/`)('kafkajs')

const text = readFileSync(properties, 'utf8')
const find = (pattern) => text.match(pattern)[1]
const kafka = new Kafka({
  clientId: 'hurried',
  brokers: bootstrap.split(','),
  logLevel: logLevel.NOTHING,
  retry: { retries: 3 },
  ssl: { ca: [readFileSync(find(/^ssl\.truststore\.location=(.*)$/m))] },
  sasl: { mechanism: 'plain', username: find(/username="([^"]*)"/), password: find(/password="([^"]*)"/) },
})
const admin = kafka.admin()
try {
  await admin.connect()
  await admin.createPartitions({ topicPartitions: [{ topic, count: Number(count) }] })
} catch (error) {
  console.error(error.type ?? error.name, error.message)
  process.exitCode = 1
} finally {
  await admin.disconnect()
}
