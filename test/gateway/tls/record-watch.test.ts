/** Bytes of TLS that bring nothing: who pays for them, and who does not. */
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { RecordWatch } from '../../../gateway/tls/record-watch.ts'
import { createAddressCounts } from '../../../gateway/wire/address-counts.ts'
import { CONNECTOR_ALPN } from '../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { openDoor } from '../../support/dialled-in.ts'
import { connectKeyUpdater, KEY_UPDATE_BYTES } from '../../support/key-updates.ts'
import { ask, HOST, startSecureWire } from '../../support/secure-wire.ts'
import { startOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const ATTACKER = '127.0.0.66'
const RECORD = LIMITS.tlsRecordBytesMax
const { burst } = LIMITS.emptyRecordBytes
/** More of them than a site may send at once: the shortest, and ones that take us less time to seal. */
const TOO_MANY_BYTES = burst + 3 * RECORD
const MANY = Math.ceil(TOO_MANY_BYTES / KEY_UPDATE_BYTES)
const PADDING = 20 * KEY_UPDATE_BYTES
const FEWER = Math.ceil(TOO_MANY_BYTES / (KEY_UPDATE_BYTES + PADDING))
/** Nothing is earned while a test goes on. */
const clock = clockOf(() => 1_000_000)

t.test('whoever changes its key all the time is ended, and does not come again', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, { clock })
  const session = wire.http2Client()
  t.match(await ask(session, { ':path': '/' }), { status: 200 })
  for (const [protocol, attacker, count, padding] of [
    ['http/1.1', ATTACKER, MANY, 0],
    ['h2', '127.0.1.67', FEWER, PADDING],
  ] as const) {
    const flood = await connectKeyUpdater(wire.port, HOST, attacker, [protocol])
    const beside = await connectKeyUpdater(wire.port, HOST, attacker, [protocol])
    flood.socket.write(flood.updates(count, padding))
    await flood.closed
    await t.rejects(connectKeyUpdater(wire.port, HOST, attacker), 'no handshake while it owes')
    t.notOk(beside.socket.closed, 'one beside it that sent nothing of the kind goes on')
    beside.socket.destroy()
  }
  t.same(wire.abuses, ['empty_records', 'empty_records'])
  t.match(await ask(session, { ':path': '/' }), { status: 200 }, 'nobody else suffers')
  t.match(await ask(wire.http2Client(), { ':path': '/' }), { status: 200 })
})

t.test('leaving does not pay', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, { clock })
  const flood = await connectKeyUpdater(wire.port, HOST, ATTACKER)
  flood.socket.end(flood.updates(FEWER, PADDING))
  await flood.closed
  t.ok(await isRefused(wire.port, HOST))
})

t.test('behind a balancer each connection pays for itself', async (t) => {
  const origin = await startOrigin(t)
  const isExempt = (address: string) => address === ATTACKER
  const wire = await startSecureWire(t, origin.url, { clock, isExempt, front: { isExempt } })
  const flood = async () => {
    const { socket, updates, closed } = await connectKeyUpdater(wire.port, HOST, ATTACKER)
    socket.write(updates(FEWER, PADDING))
    await closed
  }
  await flood()
  const beside = await connectKeyUpdater(wire.port, HOST, ATTACKER)
  beside.socket.write(beside.updates(Math.ceil(RECORD / KEY_UPDATE_BYTES) + 1))
  await flood() // when it has been looked at, the other one has been as well
  t.notOk(beside.socket.closed, 'it is somebody else')
  beside.socket.destroy()
})

t.test('so does whoever says to be a connector', async (t) => {
  const door = await openDoor(t, { clock, connectionsMax: 10 })
  const flood = await connectKeyUpdater(door.port, '', ATTACKER, [CONNECTOR_ALPN])
  flood.socket.write(flood.updates(FEWER, PADDING))
  await flood.closed
  t.ok(await isRefused(door.port, '', [CONNECTOR_ALPN]))
})

t.test('an honest client pays nothing', (t) => {
  const { watch, paid, connect } = startWatch()
  t.teardown(() => watch.close())
  const uploads = connect('192.0.2.1')
  for (let count = 0; count < 1000; count++) {
    uploads.receive(RECORD - 1, 0) // all of it but its last byte
    watch.look()
    uploads.receive(1, 16_384)
    watch.look()
  }
  const talks = connect('192.0.2.2')
  for (let count = 0; count < 1000; count++) {
    talks.receive(100_000 * (22 + 22), 100_000 * 22) // TLS 1.3: what seals a byte and more
    watch.look()
  }
  t.same([paid('192.0.2.1'), paid('192.0.2.2')], [0, 0])
  t.end()
})

t.test('what a record can still bring is not paid for, until its connection is over', (t) => {
  const { watch, ended, paid, connect } = startWatch()
  t.teardown(() => watch.close())
  const [one, other] = [connect('192.0.2.1'), connect('192.0.2.1')]
  one.receive(RECORD, 0)
  watch.look()
  t.equal(paid('192.0.2.1'), 0)
  one.receive(1, 0)
  watch.look()
  t.equal(paid('192.0.2.1'), 1)
  one.secure.destroy()
  watch.look()
  t.equal(paid('192.0.2.1'), RECORD + 1)
  other.receive(burst - 1, 0)
  watch.look()
  t.ok(other.secure.destroyed, 'all together')
  t.same(ended, ['192.0.2.1'], 'one was over by itself')
  t.end()
})

t.test('what was brought before pays for nothing later, and a site earns', (t) => {
  const { watch, ended, paid, later, connect } = startWatch()
  t.teardown(() => watch.close())
  const one = connect('192.0.2.1')
  one.receive(2 ** 30, 2 ** 30)
  watch.look()
  one.receive(RECORD + 1000, 0)
  watch.look()
  t.equal(paid('192.0.2.1'), 1000)
  later(1000)
  t.equal(paid('192.0.2.1'), 0)
  t.notOk(watch.hasSpent('192.0.2.1'))
  one.receive(burst, 0)
  watch.look()
  t.ok(watch.hasSpent('192.0.2.1'))
  t.same(ended, ['192.0.2.1'])
  later(1000)
  t.notOk(watch.hasSpent('192.0.2.1'))
  t.end()
})

t.test('many connections are looked at a thousand at a time, and all behind a long turn', (t) => {
  const { watch, paid, later, connect } = startWatch()
  t.teardown(() => watch.close())
  const many = Array.from({ length: 2 * LIMITS.emptyRecordsLookedAt + 1 }, () => connect('::1'))
  for (const one of many) one.receive(RECORD + 1, 0)
  later(1)
  watch.look() // the first one is late, whatever the clock says
  t.equal(paid('::1'), many.length)
  for (const one of many) one.receive(1, 0)
  const looks = [1, 2, 3].map(() => {
    watch.look()
    return paid('::1')
  })
  t.same(
    looks,
    [1000, 2000, 3000].map((count) => many.length + Math.min(count, many.length)),
  )
  for (const one of many) one.receive(1, 0)
  later(2 * LIMITS.emptyRecordsLookMs + 1)
  watch.look()
  t.equal(paid('::1'), many.length, 'all in one look; what was before has been earned')
  t.end()
})

t.test('where there is time to spare few are looked at, and all in turn', (t) => {
  let share = 0.9 * LIMITS.emptyRecordsBusyShareMin
  const { watch, paid, connect } = startWatch(() => share)
  t.teardown(() => watch.close())
  watch.look() // the first one is late, whatever the clock says
  const some = LIMITS.emptyRecordsLookedAtIdle
  const many = Array.from({ length: 3 * some }, () => connect('::1'))
  for (const one of many) one.receive(RECORD + 1, 0)
  const paidAfterLook = () => {
    watch.look()
    return paid('::1')
  }
  t.equal(paidAfterLook(), some)
  t.equal(paidAfterLook(), 2 * some, 'the next ones')
  share = LIMITS.emptyRecordsBusyShareMin
  t.equal(paidAfterLook(), 3 * some)
  for (const one of many) one.receive(1, 0)
  t.equal(paidAfterLook(), 6 * some, 'all, where it works')
  t.end()
})

/** What somebody owes who has left is known at the next look, which may be a while away. */
async function isRefused(port: number, host: string, protocols?: string[]): Promise<boolean> {
  for (let tries = 0; tries < 300; tries++) {
    const connected = connectKeyUpdater(port, host, ATTACKER, protocols)
    const isIn = await connected.then(
      ({ socket }) => Boolean(socket.destroy()),
      () => false,
    )
    if (!isIn) return true
    await wait(100)
  }
  return false
}

/** One whose connections say what a test wants. */
/** A thread that works all the time, unless it is said otherwise. */
function startWatch(busyShare = () => 1) {
  let nowMs = 1000
  const ended: string[] = []
  const addresses = createAddressCounts({ connectionsMax: 9, clock: clockOf(() => nowMs) })
  const watch = new RecordWatch({
    addresses,
    clock: clockOf(() => nowMs),
    onEnded: (address) => void ended.push(address),
    busyShare,
  })
  return {
    watch,
    ended,
    /** What somebody has paid so far. */
    paid: (address: string) =>
      burst - (addresses.siteOf(address).emptyRecords?.leftAt(nowMs) ?? burst),
    later: (ms: number) => void (nowMs += ms),
    connect(address: string) {
      const raw = { bytesRead: 500 }
      const secure = { bytesRead: 0, destroyed: false, destroy: () => (secure.destroyed = true) }
      watch.add(secure as never, raw as never, address, false)
      return {
        secure,
        receive(rawBytes: number, clearBytes: number) {
          raw.bytesRead += rawBytes
          secure.bytesRead += clearBytes
        },
      }
    },
  }
}
