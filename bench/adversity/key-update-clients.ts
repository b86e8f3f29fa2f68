/** Its own process: sealing records takes longer than sending them. Arguments: port, connections, updates. */
import { connectKeyUpdater } from '../../test/support/key-updates.ts'
import { LIVE_HOST } from '../../test/support/live-gateway.ts'

const ATTACKER = '127.0.0.66'
const [port = 0, connections = 0, updates = 0] = process.argv.slice(2).map(Number)

const opened = await Promise.allSettled(
  Array.from({ length: connections }, async () => {
    const client = await connectKeyUpdater(port, LIVE_HOST, ATTACKER)
    return { socket: client.socket, records: client.updates(updates) }
  }),
)
process.send?.(opened.filter(({ status }) => status === 'rejected').length)
process.once('message', () => {
  let sent = 0
  for (const one of opened)
    if (one.status === 'fulfilled' && one.value.socket.writable) {
      one.value.socket.write(one.value.records)
      sent += updates
    }
  process.send?.(sent)
})
process.once('disconnect', () => process.exit())
