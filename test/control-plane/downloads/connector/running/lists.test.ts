/** Which lists of gateways are followed: signed by the service that was joined, for this connector, and none older. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { CompactSign } from 'jose'
import t, { type Test } from 'tap'
import { Problem } from '../../../../../control-plane/downloads/command-line/exit.ts'
import { createRunning } from '../../../../../control-plane/downloads/connector/running/running.ts'
import { makeKey } from '../../../../../control-plane/downloads/connector/state/own-keys.ts'
import {
  createStateFolder,
  type Joined,
} from '../../../../../control-plane/downloads/connector/state/state-folder.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { newConnectorKeys } from '../../../../support/dialled-in.ts'

const [OURS, STRANGERS] = [newConnectorKeys(), newConnectorKeys()]
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const HEADER = { alg: 'EdDSA', typ: 'connector-gateways+jwt' }
const GATEWAY = { gateway_id: 'gateway-1', address: '127.0.0.1:1', certificate: 'AAAA' }
const list = (changes: object = {}) => ({
  tenant_id: 'acme',
  connector_id: 'con_1',
  gateways: [GATEWAY],
  sequence: 7,
  ...changes,
})

const signed = (payload: unknown, key = OURS.privateKey, header = HEADER) =>
  new CompactSign(Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)))
    .setProtectedHeader(header)
    .sign(key)

async function start(t: Test, kept: string | null, write?: () => Promise<void>) {
  const path = join(temporaryFolder(t), 'state')
  const folder = createStateFolder(path, { userId: process.getuid?.() })
  const joined: Joined = {
    version: 1,
    base_url: 'http://127.0.0.1:1',
    origin: 'http://127.0.0.1:1',
    tenant_id: 'acme',
    connector_id: 'con_1',
    name: 'web-1',
    authority: OURS.publicKey,
    key: { ...makeKey(Date.now()), key_id: 'cok_1' },
  }
  if (kept !== null) await folder.writeList(kept)
  const warnings: string[] = []
  let answer: string | Error = new Problem('unreachable', 'nobody answers')
  const running = createRunning({
    joined,
    state: { ...folder, writeList: write ?? folder.writeList },
    service: {
      state: async () => {
        if (typeof answer !== 'string') throw answer
        return { document: answer, poll_seconds: 0.001 }
      },
    },
    proxies: () => undefined,
    log: {
      info: () => undefined,
      warn: ({ error = '' }, message) => void warnings.push(`${message}: ${String(error)}`),
    },
    nowMs: Date.now,
    upMs: () => performance.now(),
    random: () => 0,
    onEvent: () => undefined,
  })
  t.teardown(() => running.close())
  await running.start()
  const { facts, tunnels } = running
  return {
    ...{ facts, folder, warnings },
    gateways: () => tunnels.gateways,
    answer: (now: string | Error) => (answer = now),
    problem: (text: string) => until(() => facts().controlPlaneProblem.includes(text)),
    followed: (sequence: number) => until(() => facts().listSequence === sequence),
  }
}

void t.test('the one that was kept is followed before anybody answers', async (t) => {
  const { facts, gateways, problem } = await start(t, await signed(list()))
  t.equal(facts().listSequence, 7)
  t.strictSame(gateways(), ['gateway-1'])
  t.equal(facts().listConfirmedMs, undefined)
  await problem('nobody answers')
  t.strictSame(gateways(), ['gateway-1'])
})

void t.test('one that was kept and is none is not followed', async (t) => {
  const forged = await signed(list(), STRANGERS.privateKey)
  for (const kept of ['', 'half of a li', forged, await signed(list({ connector_id: 'con_2' }))]) {
    const { facts, gateways, warnings, answer, followed } = await start(t, kept)
    t.strictSame(gateways(), [])
    t.match(warnings, [/^the saved list of gateways is not used: it/])
    answer(await signed(list()))
    await followed(7)
    t.strictSame(gateways(), ['gateway-1'])
    t.equal(facts().controlPlaneProblem, '')
  }
})

void t.test('what answers something else changes nothing', async (t) => {
  const other = { ...GATEWAY, gateway_id: 'evil' }
  const whole = await signed(list({ sequence: 9, gateways: [other] }))
  const [header = '', , signature = ''] = whole.split('.')
  const payloadOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const none = payloadOf({ alg: 'none', typ: HEADER.typ })
  const evil = list({ sequence: 9, gateways: [other] })
  const wrong: readonly (readonly [string, string])[] = [
    ['', 'it is not a signed list'],
    [whole.slice(0, -10), 'it is not a signed list'],
    [`${whole} `, 'it is not a signed list'],
    [`${none}.${payloadOf(evil)}.`, 'it is not a signed list'],
    [`${none}.${payloadOf(evil)}.${signature}`, 'its signature'],
    [`${header}.${payloadOf({ ...evil, sequence: 10 })}.${signature}`, 'its signature'],
    [await signed(evil, STRANGERS.privateKey), 'its signature'],
    [await signed(evil, RSA, { ...HEADER, alg: 'RS256' }), 'it is not a signed list'],
    [await signed(evil, OURS.privateKey, { ...HEADER, typ: 'JWT' }), 'it is not a list'],
    [await signed('{"tenant_id":"ac'), 'it is not a list'],
    [await signed({ ...evil, sequence: -1 }), 'it is not a list'],
    [await signed({ ...evil, gateways: [{ address: 'evil:1' }] }), 'it is not a list'],
    [await signed(list({ ...evil, tenant_id: 'globex' })), 'it is for another connector'],
    [await signed(list({ ...evil, connector_id: 'con_2' })), 'it is for another connector'],
    [await signed(list({ ...evil, sequence: 6 })), 'it is older (6) than the one that is kept (7)'],
  ]
  const kept = await signed(list())
  const { gateways, answer, problem, folder, followed, facts } = await start(t, kept)
  for (const [document, reason] of wrong) {
    answer(new Problem('unreachable', 'in between'))
    await problem('in between')
    answer(document)
    await problem(reason)
    t.strictSame(gateways(), ['gateway-1'], reason)
    t.equal(await folder.readList(), kept)
  }
  answer(await signed(list({ sequence: 7, gateways: [] })))
  await until(() => gateways().length === 0)
  answer(await signed(list({ sequence: 8 })))
  await followed(8)
  t.strictSame(gateways(), ['gateway-1'])
  await until(() => facts().controlPlaneProblem === '')
})

void t.test('one that cannot be saved is followed all the same, and saved later', async (t) => {
  let isFull = true
  let saved = ''
  const { gateways, answer, followed, warnings, facts } = await start(t, null, async () => {
    if (isFull) throw new Problem('state_unwritable', 'The disk is full.')
    saved = 'yes'
  })
  answer(await signed(list()))
  await followed(7)
  t.strictSame(gateways(), ['gateway-1'])
  await until(() => warnings.some((line) => /could not be saved.*The disk is full/.test(line)))
  isFull = false
  await until(() => saved === 'yes')
  t.equal(facts().controlPlaneProblem, '')
})

void t.test('a refusal is told once, and it goes on asking', async (t) => {
  const { answer, followed, warnings, problem } = await start(t, null)
  answer(new Problem('connector_refused', 'unknown'))
  await problem('this connector was revoked, or is not known')
  const told = warnings.length
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(warnings.length, told)
  answer(await signed(list()))
  await followed(7)
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2))
}
