// An assigner that gives one member the same-numbered partitions of all topics. KafkaJS has only round-robin, which deals out the
// partitions of all topics in one row: with two topics of five partitions and two members, partition 0 of one topic goes
// to the first member and partition 0 of the other to the second.
//
// It does what Kafka's own range assignor does, topic by topic over the members in the order of their ids, and goes by its name, so
// that members with another client can be in the group too.
import kafkajs from 'kafkajs'

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol

/** For `partitionAssigners` of a consumer. */
export const range = ({ cluster }) => ({
  name: 'range',
  version: 0,

  async assign ({ members }) {
    const assignments = new Map(members.map(({ memberId }) => [memberId, {}]))
    for (const [topic, readers] of readersByTopic(members)) {
      const partitions = cluster.findTopicPartitionMetadata(topic)
        .map(({ partitionId }) => partitionId)
        .sort((a, b) => a - b)
      shares(partitions, readers.length).forEach((share, at) => {
        if (share.length > 0) assignments.get(readers[at])[topic] = share
      })
    }
    return [...assignments].map(([memberId, assignment]) => ({
      memberId,
      memberAssignment: MemberAssignment.encode({ version: this.version, assignment, userData: Buffer.alloc(0) })
    }))
  },

  protocol ({ topics }) {
    return {
      name: this.name,
      metadata: MemberMetadata.encode({ version: this.version, topics, userData: Buffer.alloc(0) })
    }
  }
})

/** The members that subscribe to each topic, in the order of their ids. */
function readersByTopic (members) {
  const readers = new Map()
  for (const { memberId, memberMetadata } of members) {
    for (const topic of MemberMetadata.decode(memberMetadata).topics) {
      readers.set(topic, [...(readers.get(topic) ?? []), memberId])
    }
  }
  return new Map([...readers].map(([topic, ids]) => [topic, ids.sort()]))
}

/** As equal parts as can be, in order; the first ones have one more where it does not come out even. */
export function shares (partitions, number) {
  const least = Math.floor(partitions.length / number)
  const more = partitions.length % number
  return Array.from({ length: number }, (_, at) => {
    const begin = at * least + Math.min(at, more)
    return partitions.slice(begin, begin + least + (at < more ? 1 : 0))
  })
}
