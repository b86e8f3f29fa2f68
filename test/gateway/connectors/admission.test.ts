/** The one line that each end says first, however it is cut; without TLS around it. */
import { duplexPair } from 'node:stream'
import t from 'tap'
import { admit } from '../../../gateway/connectors/admission.ts'
import type { Refusal } from '../../../gateway/connectors/refusals.ts'
import {
  importConnectorKey,
  signHello,
  type ConnectorHello,
  type GatewayHello,
} from '../../../shared/connector/handshake.ts'
import { newConnectorKeys, TENANT } from '../../support/dialled-in.ts'

const keys = newConnectorKeys()
const key = importConnectorKey(keys.publicKey)
/** Both ends of one connection have the same. */
const exporting = { exportKeyingMaterial: () => Buffer.alloc(32, 'x') }

/** Somebody who has been told who we are. */
async function knock() {
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
  }
  const gone = new Promise((resolve) => ours.once('close', resolve))
  admit(socket, world, (hello) => void admitted.push(hello))
  const first = await new Promise<Buffer>((resolve) => theirs.once('data', resolve))
  const hello = JSON.parse(first.toString()) as GatewayHello
  const claim: Omit<ConnectorHello, 'signature'> = {
    tenant_id: TENANT,
    connector_id: 'con_1',
    key_id: 'k1',
    kind: 'control',
    version: 1,
    program: '0.0.0',
  }
  const signed = signHello(hello, claim, exporting, keys.privateKey)
  const line = Buffer.from(`${JSON.stringify(signed)}\n`)
  const say = (bytes: Buffer) => new Promise((resolve) => theirs.write(bytes, resolve))
  return { socket, line, say, gone, admitted, refused }
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
