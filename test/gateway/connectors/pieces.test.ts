/** What is said on connections of a connector, in pieces: networks cut where they like. */
import { createServer, connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { signHello } from '../../../shared/connector/handshake.ts'
import { splitLines } from '../../../shared/connector/lines.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ask, dialIn, newConnectorKeys, openDoor, TENANT } from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { knock } from '../../support/knocking.ts'
import { listening, startOrigin } from '../../support/wire.ts'

const turn = () => new Promise((next) => setTimeout(next, 2))

/** A connector by hand, in its control connection. */
async function join(t: Test) {
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const { socket, hello, said, gone } = await knock(t, door)
  const claim = {
    tenant_id: TENANT,
    connector_id: 'con_1',
    key_id: 'k1',
    kind: 'control',
    version: 1,
    program: '0.0.0',
  } as const
  socket.write(`${JSON.stringify(signHello(hello, claim, socket, keys.privateKey))}\n`)
  await until(() => said.some((line) => line.includes('welcome')))
  return { socket, said, gone, member: [...door.connectors.present()][0]!.member }
}

t.test('words of a connector, cut in two at every byte', async (t) => {
  const { socket, member } = await join(t)
  for (const isReached of [false, true]) {
    const word = { say: 'application', is_reached: isReached, reason: 'ünreachable' }
    const bytes = Buffer.from(`${JSON.stringify(word)}\n`)
    for (let cut = 1; cut < bytes.length; cut++) {
      member.know(!isReached, 'another reason')
      socket.write(bytes.subarray(0, cut))
      await turn()
      t.equal(member.isReached, !isReached, 'not before it is whole')
      socket.write(bytes.subarray(cut))
      await until(() => member.isReached === isReached)
      if (!isReached) t.equal(member.reason, 'ünreachable')
    }
  }
})

t.test('several words at once, and one that is cut off', async (t) => {
  const { socket, said, gone, member } = await join(t)
  const check = (id: number) => `${JSON.stringify({ say: 'check', id })}\n`
  const answers = () => said.filter((line) => line.includes('"checked"')).length
  socket.write(`${check(1)}${check(2)}${check(3).slice(0, 8)}`)
  await until(() => answers() === 2)
  socket.write(check(3).slice(8))
  await until(() => answers() === 3)
  member.know(true)
  socket.end(Buffer.from('{"say":"application","is_reached":false}'))
  await gone
  t.equal(member.isReached, true, 'without its end it was no word')
})

t.test('lines of any length, cut into pieces of one byte', (t) => {
  const heard: string[] = []
  let isTooLong = false
  const lines = splitLines({
    bytesMax: 8,
    onLine: (line) => void heard.push(line),
    onTooLong: () => (isTooLong = true),
  })
  for (const byte of Buffer.from('one\n\n12345678\n')) lines.hear(Buffer.of(byte))
  t.same(heard, ['one', '', '12345678'])
  for (const byte of Buffer.from('123456789\nlater\n')) lines.hear(Buffer.of(byte))
  t.ok(isTooLong)
  t.equal(heard.length, 3, 'nothing more is read')
  t.end()
})

t.test('a line comes in so many pieces, and no more', (t) => {
  for (const more of [0, 1]) {
    const heard: string[] = []
    const pieces = LIMITS.connectorLinePiecesMax + more
    const onTooLong = () => void heard.push('too long')
    const lines = splitLines({ bytesMax: 4096, onLine: (line) => void heard.push(line), onTooLong })
    // what stands behind a line is the first piece of the next one
    for (let line = 0; line < 2; line++) {
      for (let piece = 1; piece < pieces; piece++) lines.hear(Buffer.from('x'))
      lines.hear(Buffer.from('\nx'))
    }
    const line = 'x'.repeat(pieces - 1)
    t.same(heard, more === 0 ? [line, 'too long'] : ['too long'])
  }
  t.end()
})

t.test('a stranger that says its hello in records of one byte is cut off early', async (t) => {
  const door = await openDoor(t, { gatherMs: 10 })
  const { socket, gone } = await knock(t, door)
  // what is written before the write before it has ended shares its record
  for (let byte = 0; byte <= LIMITS.connectorLinePiecesMax && !socket.destroyed; byte++)
    await new Promise<unknown>((resolve) => socket.write('x', resolve))
  await gone
  await until(() => door.logged.some(({ reason }) => reason === 'malformed'))
})

/** Carries each byte by itself. */
async function startDripping(t: Test, port: number): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      let last = Promise.resolve()
      from.on('data', (chunk: Buffer) => {
        last = last.then(async () => {
          for (const byte of chunk) {
            to.write(Buffer.of(byte))
            await new Promise((next) => setImmediate(next))
          }
        })
      })
      from.on('error', () => to.destroy())
      from.on('close', () => void last.then(() => to.destroy()))
    }
  })
  const at = await listening(server)
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${at}`
}

t.test('a way that carries one byte at a time: handshakes, words, requests', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const address = await startDripping(t, door.port)
  await dialIn(t, { ...door, address }, keys, { origin: origin.url }).until('connected')
  t.match(await ask(door.upstream, { method: 'POST', body: 'hello' }), { status: 200 })
  t.equal(origin.seen.at(-1)?.body.toString(), 'hello')
})
