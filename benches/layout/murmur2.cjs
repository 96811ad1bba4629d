// What a KafkaJS producer does with the keys of a file: node murmur2.cjs FILE PARTITIONS MODULES prints how many each
// partition gets. MODULES is the folder in which kafkajs is installed.
const { createReadStream } = require('node:fs')
const { createRequire } = require('node:module')
const { createInterface } = require('node:readline')

const [file, partitions, modules] = process.argv.slice(2)
const murmur2 = createRequire(`${modules}/`)('kafkajs/src/producer/partitioners/default/murmur2')

const counts = new Array(Number(partitions)).fill(0)
const keys = createInterface({ input: createReadStream(file, { highWaterMark: 1 << 20 }), crlfDelay: Infinity })
keys.on('line', key => {
  counts[(murmur2(key) & 0x7fffffff) % counts.length] += 1
})
keys.on('close', () => console.log(counts.join('\n')))
