/** The end of the TLS front, and what outlives it: handshakes under way and tickets. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { TICKET_PERIOD_MS } from '../../../gateway/tls/ticket-keys.ts'
import { HOST, startSecureWire, type SecureWire } from '../../support/secure-wire.ts'
import { startOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

/** Nothing here ends for lack of time. */
const PATIENT = { timeouts: { headMs: 600_000 } }

const tick = () => new Promise((next) => setImmediate(next))

async function beginHandshake(t: Parameters<typeof startOrigin>[0], wire: SecureWire) {
  const silent = connect(wire.port, '127.0.0.1')
  silent.on('error', () => undefined)
  t.teardown(() => silent.destroy())
  const before = wire.front.handshakes()
  while (wire.front.handshakes() === before) await tick()
  return silent
}

t.test(
  'whoever is in the middle of a handshake is waited for, until it ends either way',
  async (t) => {
    const wire = await startSecureWire(t, (await startOrigin(t)).url, PATIENT)
    await wire.front.settled()
    const [one, two] = [await beginHandshake(t, wire), await beginHandshake(t, wire)]
    let isSettled = false
    const settled = wire.front.settled().then(() => (isSettled = true))
    one.destroy()
    while (wire.front.handshakes() > 1) await tick()
    await tick()
    t.notOk(isSettled, 'the other one is still there')
    two.destroy()
    await settled
  },
)

t.test('closing ends every handshake, and counts nobody any more', async (t) => {
  const wire = await startSecureWire(t, (await startOrigin(t)).url, PATIENT)
  const sockets = [await beginHandshake(t, wire), await beginHandshake(t, wire)]
  const gone = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
  wire.front.close()
  await gone
  await wire.front.settled()
  t.equal(wire.addresses.of('127.0.0.1'), 0)
})

t.test('tickets are resumed within their period, and not when the keys have changed', async (t) => {
  let nowMs = 10 * TICKET_PERIOD_MS
  const wire = await startSecureWire(t, (await startOrigin(t)).url, {
    clock: clockOf(() => nowMs),
  })
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const range = { minVersion: version, maxVersion: version }
    const visit = async (ticket?: Buffer) => {
      const socket = wire.tls({ ...range, ...(ticket && { session: ticket }) })
      const issued = new Promise<Buffer>((resolve) => socket.once('session', resolve))
      await once(socket, 'secureConnect')
      socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
      socket.resume()
      const isReused = socket.isSessionReused()
      return { isReused, ticket: isReused ? undefined : await issued }
    }
    const { ticket } = await visit()
    t.ok((await visit(ticket)).isReused, version)
    nowMs += TICKET_PERIOD_MS
    t.notOk((await visit(ticket)).isReused, `${version}: keys of another half day`)
  }
})
