/** The one line that each end says first, however it is cut; without TLS around it. */
import { duplexPair } from 'node:stream'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { admit } from '../../../gateway/connectors/admission.ts'
import { Turns } from '../../../gateway/connectors/turns.ts'
import type { Refusal } from '../../../gateway/connectors/refusals.ts'
import {
  importConnectorKey,
  signHello,
  type ConnectorHello,
  type GatewayHello,
} from '../../../shared/connector/handshake.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { newConnectorKeys, TENANT } from '../../support/dialled-in.ts'

const keys = newConnectorKeys()
const key = importConnectorKey(keys.publicKey)
/** Both ends of one connection have the same. */
const exporting = { exportKeyingMaterial: () => Buffer.alloc(32, 'x') }
const turns = new Turns()

/** Somebody who has been told who we are. */
async function knock(its: Pick<Turns, 'add'> = turns, kind: ConnectorHello['kind'] = 'control') {
  const [ours, theirs] = duplexPair()
  const socket = Object.assign(ours, exporting, { destroySoon: () => ours.destroy() })
  const admitted: unknown[] = []
  const refused: Refusal[] = []
  const world = {
    gatewayId: 'gateway-1',
    worker: 1,
    workers: 1,
    keyOf: () => key,
    gatewayKeyOf: () => undefined,
    onRefused: (reason: Refusal) => void refused.push(reason),
    turns: its,
  }
  const gone = new Promise((resolve) => ours.once('close', resolve))
  const knocking = { onAdmitted: () => {} }
  admit(socket, world, (hello) => {
    admitted.push(hello)
    knocking.onAdmitted()
  })
  const first = await new Promise<Buffer>((resolve) => theirs.once('data', resolve))
  const hello = JSON.parse(first.toString()) as GatewayHello
  const claim: Omit<ConnectorHello, 'signature'> = {
    tenant_id: TENANT,
    connector_id: 'con_1',
    key_id: 'k1',
    kind,
    version: 1,
    program: '0.0.0',
  }
  const signed = signHello(hello, claim, exporting, keys.privateKey)
  const line = Buffer.from(`${JSON.stringify(signed)}\n`)
  const say = (bytes: Buffer) => new Promise((resolve) => theirs.write(bytes, resolve))
  return Object.assign(knocking, { socket, line, say, gone, admitted, refused })
}

t.test('a hello that is cut off at any byte is none', async (t) => {
  const { length } = (await knock()).line
  const wrong: unknown[] = []
  for (let bytes = 0; bytes < length; bytes++) {
    const { socket, line, say, gone, admitted, refused } = await knock()
    if (bytes > 0) await say(line.subarray(0, bytes))
    socket.destroy()
    await gone
    // who says nothing has only looked whether somebody is there
    const expected = bytes === 0 ? [] : ['malformed']
    if (admitted.length > 0 || refused.join() !== expected.join())
      wrong.push([bytes, admitted, refused])
  }
  t.ok(length > 200)
  t.same(wrong, [])
})

t.test('a hello that comes in two pieces, cut at any byte, is one', async (t) => {
  const { length } = (await knock()).line
  const wrong: unknown[] = []
  for (let bytes = 1; bytes < length; bytes++) {
    const { line, say, admitted, refused } = await knock()
    await say(line.subarray(0, bytes))
    await say(line.subarray(bytes))
    await turn()
    if (admitted.length !== 1 || refused.length > 0) wrong.push([bytes, admitted, refused])
  }
  t.same(wrong, [])
})

t.test('a hello with any byte changed is refused once', async (t) => {
  const { length } = (await knock()).line
  const wrong: unknown[] = []
  for (let at = 0; at < length; at++) {
    const { socket, line, say, gone, admitted, refused } = await knock()
    line[at]! ^= 1
    const said = say(line)
    // without its end it is waited for
    if (at === length - 1) void said.then(() => socket.destroy())
    await gone
    if (admitted.length > 0 || refused.length !== 1) wrong.push([at, admitted, refused])
  }
  t.same(wrong, [])
})

t.test(
  'those that sign at the same moment are judged one in a turn, and all of them',
  async (t) => {
    const all: Awaited<ReturnType<typeof knock>>[] = []
    for (let count = 0; count < 20; count++) all.push(await knock())
    const [first, ...others] = all
    await Promise.all(all.map(({ say, line }) => say(line)))
    const judged = () => all.filter(({ admitted }) => admitted.length > 0).length
    let most = 0
    for (let before = judged(); before < all.length; before = judged()) {
      await turn()
      most = Math.max(most, judged() - before)
    }
    t.equal(most, 1)
    t.same(first!.refused, [])
    t.same(
      others.flatMap(({ refused }) => refused),
      [],
    )
    t.equal(turns.size, 0)
  },
)

t.test('who leaves before its turn has none, and keeps nobody', async (t) => {
  const [leaving, closing, staying] = [await knock(), await knock(), await knock()]
  leaving.socket.exportKeyingMaterial = () => {
    throw new Error('it has no handle any more')
  }
  await Promise.all([leaving, closing, staying].map(({ say, line }) => say(line)))
  leaving.socket.destroy()
  closing.socket.destroy()
  await Promise.all([leaving.gone, closing.gone])
  while (turns.size > 0) await turn()
  t.same([leaving.admitted, closing.admitted], [[], []])
  t.equal(staying.admitted.length, 1)
})

t.test(
  'what is said while its proof waits is heard behind it, and no more than a little',
  async (t) => {
    const held: (() => void)[] = []
    const own = { add: (judge: () => void) => (held.push(judge), () => undefined) }
    const [talking, flooding] = [await knock(own), await knock(own)]
    for (const { say, line } of [talking, flooding]) await say(line)
    for (const word of ['one\n', 'two\n']) await talking.say(Buffer.from(word))
    t.same(talking.admitted, [], 'it waits')
    const heard: string[] = []
    const [judge] = held
    talking.onAdmitted = () =>
      void talking.socket.on('data', (chunk: Buffer) => void heard.push(chunk.toString()))
    judge!()
    t.equal(talking.admitted.length, 1)
    t.same(heard, ['one\n', 'two\n'])
    void flooding.say(Buffer.alloc(LIMITS.connectorHandshakeBytesMax + 1, 'x'))
    await flooding.gone
    t.same([flooding.admitted, flooding.refused], [[], ['malformed']])
  },
)

/** Whose turn comes when the test says so. */
function heldTurn() {
  const held: (() => void)[] = []
  const add = (work: () => void) => {
    held.push(work)
    return () => {}
  }
  return { add, come: () => held.shift()?.() }
}

t.test('whoever waits for its turn was in time', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const held = heldTurn()
  const knocking = await knock(held)
  await knocking.say(knocking.line)
  mock.timers.tick(LIMITS.connectorHandshakeMsMax + 1)
  held.come()
  t.same([knocking.admitted.length, knocking.refused], [1, []])
})

t.test(
  'what carries requests says nothing meanwhile, or it would pass for an answer',
  async (t) => {
    const held = heldTurn()
    const knocking = await knock(held, 'data')
    await knocking.say(knocking.line)
    await knocking.say(Buffer.from('{"say":"opened"}\n'))
    held.come()
    t.same([knocking.admitted, knocking.refused], [[], ['unasked']])
  },
)
