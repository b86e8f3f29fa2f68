/** Whoever waits for a connection of a connector keeps its place and its time, whatever others end. */
import { duplexPair, type Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createUpstreamRuntime } from '../../../gateway/upstream/runtime.ts'
import { createUpstream } from '../../../gateway/upstream/upstream.ts'
import type { Opening, ResponseSink } from '../../../gateway/wire/upstream-call.ts'

const ignore = () => undefined
const CONNECT_MS = 1000

function start(t: Test) {
  const clock = { ms: 0, nowMs: () => clock.ms, steadyMs: () => clock.ms }
  const runtime = createUpstreamRuntime({ clock, sweepMs: 2 ** 30 })
  const openings: Opening[] = []
  const upstream = createUpstream({
    origin: 'http://application.internal',
    runtime,
    limits: { upstreamSocketsMax: 1 },
    timeouts: { connectMs: CONNECT_MS, firstByteMs: 60_000, idleMs: 60_000 },
    way: {
      open: (opening) => void openings.push(opening),
      isCrowded: () => false,
      hasRoomFor: () => true,
      roomNow: () => () => true,
    },
  })
  t.teardown(() => runtime.close())
  const told: string[] = []
  const ask = (who: string) => {
    const sink: ResponseSink = {
      ...{ wantsRawChunks: false, onInformational: ignore, onHead: ignore, onData: ignore },
      ...{ onText: ignore, onReadEnd: ignore, onDrain: ignore },
      onEnd: () => void told.push(who),
      onError: ({ code }) => void told.push(`${who} ${code}`),
    }
    const plain = { lines: 'Host: a\r\n', bodyLength: 0, hasLength: false, firstBody: '' }
    const request = { ...plain, isBodyWhole: true, isRawChunked: false }
    upstream.request({ ...request, method: 'GET', target: `/${who}`, client: who }, sink)
  }
  return {
    ask,
    told,
    /** Another connection of the application, if one is wanted, and its end. */
    dialled(): Duplex | undefined {
      const opening = openings.shift()
      if (opening?.isWanted() !== true) return undefined
      const [near, far] = duplexPair()
      t.teardown(() => near.destroy())
      near.on('error', ignore).resume()
      opening.onOpened(Object.assign(far, { setNoDelay: () => far }) as unknown as Socket)
      return near
    },
    pass(ms: number) {
      clock.ms += ms
      runtime.deadlines.sweep()
    },
  }
}

const ok = (connection: string) =>
  `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: ${connection}\r\n\r\nok`

async function settled(told: readonly string[], count: number) {
  while (told.length < count) await turn()
}

t.test('an application that closes behind each answer lets nobody be overtaken', async (t) => {
  const { ask, told, dialled } = start(t)
  for (const who of ['first', 'second', 'third']) ask(who)
  for (let count = 1; count <= 3; count++) {
    dialled()!.write(ok('close'))
    await settled(told, count)
    ask(`late ${count}`)
  }
  t.same(told, ['first', 'second', 'third'])
})

t.test('nor wait for longer than the first time was', async (t) => {
  const { ask, told, dialled, pass } = start(t)
  ask('first')
  const near = dialled()!
  ask('second')
  pass(CONNECT_MS - 1)
  near.write(ok('close'))
  await settled(told, 1)
  pass(1)
  t.same(told, ['first', 'second upstream_connect_timeout'])
})

t.test('whose connection was dead is the next, with what is left of its time', async (t) => {
  for (const isInTime of [true, false]) {
    const { ask, told, dialled, pass } = start(t)
    ask('first')
    const near = dialled()!
    ask('repeated')
    ask('other')
    pass(CONNECT_MS - 1)
    near.write(ok('keep-alive'))
    await settled(told, 1)
    near.destroy() // before it has answered the second
    await turn()
    if (!isInTime) pass(1)
    if (isInTime) {
      dialled()!.write(ok('close'))
      await settled(told, 2)
    }
    t.equal(told[1], isInTime ? 'repeated' : 'other upstream_connect_timeout')
    t.equal(told[2], isInTime ? undefined : 'repeated upstream_connect_timeout')
  }
})
