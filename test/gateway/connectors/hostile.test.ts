/** A connector with a key that counts, which keeps to nothing: it ends, and nobody else notices. */
// apart: measures the memory of its process
import t, { type Test } from 'tap'
import { systemClock, type Clock } from '../../../shared/clock.ts'
import { signHello } from '../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { movableClock } from '../../support/control-plane.ts'
import { ask, dialIn, newConnectorKeys, openDoor, TENANT } from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { knock, type Stranger } from '../../support/knocking.ts'
import { startOrigin } from '../../support/wire.ts'

/** Beside a connector of another tenant's: whatever the first does, this one is as it was. */
async function start(t: Test, clock: Clock = systemClock) {
  const origin = await startOrigin(t)
  const [keys, others] = [newConnectorKeys(), newConnectorKeys()]
  const door = await openDoor(t, { others: { globex: { con_9: others } }, clock })
  door.allow({ con_1: keys })
  const beside = dialIn(t, door, others, {
    origin: origin.url,
    tenantId: 'globex',
    connectorId: 'con_9',
  })
  await beside.until('connected')
  const dial = async (kind: 'control' | 'data'): Promise<Stranger> => {
    const stranger = await knock(t, door)
    const claim = { tenant_id: TENANT, connector_id: 'con_1', key_id: 'k1', kind } as const
    const given = { ...claim, version: 1, program: '0.0.0' }
    const { socket, hello } = stranger
    socket.write(`${JSON.stringify(signHello(hello, given, socket, keys.privateKey))}\n`)
    return stranger
  }
  const control = await dial('control')
  await until(() => control.said.some((line) => line.includes('welcome')))
  const memberOf = (tenantId: string) =>
    [...door.connectors.present()].find((one) => one.tenantId === tenantId)?.member
  const cutOff = () =>
    door.logged.flatMap(({ msg, reason }) => (msg === 'a connector was cut off' ? [reason] : []))
  return {
    door,
    dial,
    control,
    cutOff,
    member: memberOf(TENANT)!,
    others: () => {
      t.equal(memberOf('globex')?.isReached, true, 'the other tenant has its own')
      t.notOk(beside.events.some(({ type }) => type === 'lost'))
    },
  }
}

t.test('who asks and reads no answer is not remembered for long', async (t) => {
  const { control, cutOff, member, others } = await start(t)
  const before = process.memoryUsage().rss
  control.socket.pause()
  // Words that it was not asked for are few: so the gateway speaks, as when requests come.
  let told = 0
  while (cutOff().length === 0 && told < 1_000_000) {
    for (let count = 0; count < 1000; count++) member.want(1, 1)
    told += 1000
    await new Promise((next) => setImmediate(next))
  }
  t.same(cutOff(), ['reads_nothing'], `after ${told} words`)
  t.ok(process.memoryUsage().rss - before < 100 << 20)
  t.equal(LIMITS.connectorUnreadBytesMax, 256 * 1024)
  control.socket.resume()
  await control.gone
  others()
})

t.test('who answers pings says nothing of its own accord, however many there are', async (t) => {
  const { control, cutOff, member } = await start(t)
  const pong = `${JSON.stringify({ say: 'pong' })}\n`
  for (let count = 0; count < 2 * LIMITS.connectorWords.burst; count++) {
    member.ping()
    control.socket.write(pong)
    await until(() => member.unanswered === 0)
  }
  t.same(cutOff(), [])
})

t.test('a flood of words is cut off, and logged once', async (t) => {
  // the clock stands, so that no more are allowed meanwhile
  const { control, cutOff, others } = await start(t, movableClock())
  const { burst } = LIMITS.connectorWords
  const check = `${JSON.stringify({ say: 'check', id: 1 })}\n`
  const answers = () => control.said.filter((line) => line.includes('"checked"')).length
  control.socket.write(check.repeat(burst - 20))
  await until(() => answers() === burst - 20)
  t.same(cutOff(), [], 'so many at once are nothing')
  control.socket.write(check.repeat(20 * burst))
  await control.gone
  t.ok(answers() <= burst + 10, 'and what stood behind them is not looked at')
  t.same(cutOff(), ['too_many_words'])
  others()
})

t.test('an answer to each request is no flood', async (t) => {
  const { control, dial, door, cutOff, member } = await start(t)
  const word = `${JSON.stringify({ say: 'application', is_reached: false, reason: 'refused' })}\n`
  const requests = 2 * LIMITS.connectorWords.burst
  for (let count = 0; count < requests; count++) {
    const asked = ask(door.upstream)
    const data = await dial('data')
    data.socket.once('data', () => {
      control.socket.write(word)
      data.socket.end('NO refused\n')
    })
    t.match(await asked, { failure: 'upstream_refused' })
    if (count === 0) t.comment(`${requests} requests`)
    while (member.isReached) await new Promise((next) => setImmediate(next))
    member.know(true)
  }
  t.same(cutOff(), [])
})

t.test('no more connections than are wanted', async (t) => {
  const { dial, member, others } = await start(t)
  const unasked = await dial('data')
  await unasked.gone
  t.equal(member.spares, 0)
  member.want(2)
  const wanted = [await dial('data'), await dial('data')]
  await until(() => member.spares === 2)
  const more = await dial('data')
  await wanted[0]!.gone
  t.equal(member.spares, 2, 'the oldest makes room: nobody knows whether it is still alive')
  member.want(2, 1)
  await dial('data')
  await until(() => member.spares === 3)
  t.notOk([wanted[1]!, more].some(({ socket }) => socket.destroyed))
  others()
})

t.test('what it says of its application is text that can be shown and kept', async (t) => {
  const { control, member, others } = await start(t)
  const say = (reason: string) =>
    control.socket.write(`${JSON.stringify({ say: 'application', is_reached: false, reason })}\n`)
  say('\u0000re\u001b[31mfused\u202e\n')
  await until(() => member.reason !== null)
  t.equal(member.reason, 're[31mfused', 'no byte that a database or a terminal minds')
  say(`${'x'.repeat(LIMITS.connectorReasonCharactersMax - 1)}😀`)
  await until(() => member.reason?.startsWith('x') === true)
  t.ok(member.reason?.isWellFormed())
  t.equal(member.reason?.length, LIMITS.connectorReasonCharactersMax)
  say('\ud800')
  await until(() => member.reason?.startsWith('x') === false)
  t.equal(member.reason, '\ufffd')
  t.equal(member.lastError?.reason, '\ufffd')
  others()
})

t.test('what drops each connection that it is asked on, for somebody who has left', async (t) => {
  const { dial, door, member } = await start(t)
  member.want(3)
  let [isWanted, asked, gone] = [true, 0, 0]
  for (const data of [await dial('data'), await dial('data'), await dial('data')]) {
    data.socket.once('data', () => {
      asked++
      isWanted = false
      data.socket.destroy()
    })
    void data.gone.then(() => gone++)
  }
  await until(() => member.spares === 3)
  door.connectors.wayTo(TENANT).open({
    isWanted: () => isWanted,
    onOpened: () => ({ served: 0, isPooled: false, client: undefined, retire: () => undefined }),
    onFailed: () => undefined,
  })
  await until(() => member.connections === 2 && gone > 0)
  t.equal(gone, 1)
  t.equal(asked, 1, 'the others are not asked for nobody')
})

t.test('who says again and again that it drains has said it once', async (t) => {
  const { control, dial, member } = await start(t)
  member.want(1)
  const { socket: data } = await dial('data')
  await until(() => member.spares === 1)
  data.on('data', (chunk: Buffer) => void (String(chunk) === 'OPEN\n' && data.write('OK\n')))
  let retired = 0
  const inUse = { served: 1, isPooled: false, client: undefined, retire: () => void retired++ }
  await new Promise<void>((resolve) =>
    member.open({ nowMs: 0, withinMs: 60_000 }, (answer, socket) => {
      t.equal(answer, 'opened')
      member.use(socket, inUse)
      resolve()
    }),
  )
  control.socket.write('{"say":"drain"}\n'.repeat(100) + '{"say":"check","id":7}\n')
  await until(() => control.said.some((line) => line.includes('"checked"')))
  t.equal(retired, 1, 'to each of its requests it would be a line to another gateway')
})
