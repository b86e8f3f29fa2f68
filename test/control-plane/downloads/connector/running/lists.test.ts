/** Which lists of gateways are followed: signed by the service that was joined, for this connector, and none older. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { CompactSign } from 'jose'
import t, { type Test } from 'tap'
import { Problem } from '../../../../../control-plane/downloads/command-line/exit.ts'
import { createRunning } from '../../../../../control-plane/downloads/connector/running/running.ts'
import { makeKey } from '../../../../../control-plane/downloads/connector/state/own-keys.ts'
import { readGatewayList } from '../../../../../control-plane/downloads/connector/service/gateway-list.ts'
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

/** The word of one key for the next. */
const word = (by: typeof OURS, next: typeof OURS) =>
  signed({ next: next.publicKey }, by.privateKey, { alg: 'EdDSA', typ: 'connector-handover+jwt' })

interface Answer {
  readonly document: string
  readonly handovers?: string[]
}

async function start(
  t: Test,
  kept: string | null,
  write?: () => Promise<void>,
  authorities: Pick<Joined, 'authority' | 'next_authority'> = { authority: OURS.publicKey },
) {
  const path = join(temporaryFolder(t), 'state')
  const folder = createStateFolder(path, { userId: process.getuid?.() })
  /** What was written down, in its order, and what is not to be any more. */
  const steps: string[] = []
  let isCutAt = Infinity
  const step = async (name: string, write: () => Promise<void>) => {
    if (steps.length >= isCutAt) throw new Problem('state_unwritable', 'The disk is full.')
    await write()
    steps.push(name)
  }
  const joined: Joined = {
    version: 1,
    base_url: 'http://127.0.0.1:1',
    origin: 'http://127.0.0.1:1',
    tenant_id: 'acme',
    connector_id: 'con_1',
    name: 'web-1',
    ...authorities,
    key: { ...makeKey(Date.now()), key_id: 'cok_1' },
  }
  if (kept !== null) await folder.writeList(kept)
  const warnings: string[] = []
  let answer: string | Answer | Error = new Problem('unreachable', 'nobody answers')
  let isOfReleaseBefore = false
  const confirmed: (string | undefined)[] = []
  const running = createRunning({
    joined,
    state: {
      ...folder,
      write: (changed) => step('identity', () => folder.write(changed)),
      writeList: write ?? ((document) => step('list', () => folder.writeList(document))),
    },
    service: {
      state: async (_signing, { authority } = {}) => {
        confirmed.push(authority)
        if (answer instanceof Error) throw answer
        if (isOfReleaseBefore && authority !== undefined)
          throw new Problem('service_refused', 'authority is not known')
        return {
          ...(typeof answer === 'string' ? { document: answer } : answer),
          poll_seconds: 0.001,
        }
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
  if (kept !== null) await folder.write(joined)
  t.teardown(() => running.close())
  await running.start()
  const { facts, tunnels } = running
  return {
    ...{ facts, folder, warnings, steps },
    gateways: () => tunnels.gateways,
    /** What it has told the service to have on its disk, last. */
    confirmed: () => confirmed.at(-1),
    putReleaseBefore: () => (isOfReleaseBefore = true),
    cutAt: (count: number) => (isCutAt = count),
    kept: () => folder.require(),
    answer: (now: string | Answer | Error) => (answer = now),
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

const [NEXT, LATER] = [newConnectorKeys(), newConnectorKeys()]
const OTHER_GATEWAY = { ...GATEWAY, gateway_id: 'gateway-2' }
/** Signed by the first, naming it and the next. */
const naming = (keys: readonly (typeof OURS)[], changes: object = {}) =>
  signed(
    list({ authorities: keys.map(({ publicKey }) => publicKey), ...changes }),
    keys[0]!.privateKey,
  )

void t.test('the next key of the service is kept before it is confirmed', async (t) => {
  const { answer, kept, confirmed, followed, steps, cutAt } = await start(t, await naming([OURS]))
  await until(() => confirmed() === undefined)
  cutAt(1)
  answer(await naming([OURS, NEXT], { sequence: 8 }))
  await followed(8)
  for (let count = 0; count < 20; count++) await new Promise((resolve) => setTimeout(resolve, 2))
  t.strictSame(steps, ['list'])
  t.equal(confirmed(), undefined, 'what is not on the disk is not confirmed')
  t.equal((await kept()).next_authority, undefined)
  cutAt(Infinity)
  await until(() => confirmed() === NEXT.publicKey)
  t.match(await kept(), { authority: OURS.publicKey, next_authority: NEXT.publicKey })

  answer(await naming([NEXT], { sequence: 9, gateways: [OTHER_GATEWAY] }))
  await until(() => confirmed() === undefined)
  const { authority, next_authority: next } = await kept()
  t.strictSame([authority, next], [NEXT.publicKey, undefined])
})

void t.test('a list by the next key is believed, and then none by the one before', async (t) => {
  const { answer, followed, gateways, problem, kept } = await start(t, await naming([OURS]))
  answer(await naming([OURS, NEXT], { sequence: 8 }))
  await until(() => gateways().length === 1)
  await followed(8)
  await until(async () => (await kept()).next_authority === NEXT.publicKey)
  answer(await naming([NEXT, LATER], { sequence: 9, gateways: [OTHER_GATEWAY] }))
  await followed(9)
  t.strictSame(gateways(), ['gateway-2'])
  await until(async () => (await kept()).authority === NEXT.publicKey)
  t.equal((await kept()).next_authority, LATER.publicKey)
  answer(await naming([OURS], { sequence: 10 }))
  await problem('its signature is not')
  t.strictSame(gateways(), ['gateway-2'])
})

void t.test('who was away goes by the words of the keys, and by nothing else', async (t) => {
  const document = await naming([LATER], { sequence: 12, gateways: [OTHER_GATEWAY] })
  const words = [await word(OURS, NEXT), await word(NEXT, LATER)]
  for (const [what, handovers] of [
    ['no word', []],
    ['none from a key that it believes', words.slice(1)],
    ['one of a stranger', [await word(STRANGERS, LATER)]],
    ['one that leads elsewhere', [await word(OURS, STRANGERS)]],
    ['a word of another kind', [await signed({ next: LATER.publicKey }, OURS.privateKey)]],
  ] as const) {
    const { answer, problem, gateways, kept, steps } = await start(t, await naming([OURS]))
    answer({ document, handovers: [...handovers] })
    await problem('service-connector leave, then join with a new token')
    t.strictSame(gateways(), ['gateway-1'], what)
    t.strictSame([steps, (await kept()).authority], [[], OURS.publicKey], what)
  }
  const { answer, followed, gateways, kept } = await start(t, await naming([OURS]))
  answer({ document, handovers: words })
  await followed(12)
  t.strictSame(gateways(), ['gateway-2'])
  await until(async () => (await kept()).authority === LATER.publicKey)
  t.equal((await kept()).next_authority, undefined)
})

void t.test('whenever it ends in between, its next start has a list to follow', async (t) => {
  const document = await naming([NEXT], { sequence: 12, gateways: [OTHER_GATEWAY] })
  const handovers = [await word(OURS, NEXT)]
  for (const [cut, gateway] of [
    [0, 'gateway-1'],
    [1, 'gateway-1'],
    [2, 'gateway-2'],
    [3, 'gateway-2'],
  ] as const) {
    const first = await start(t, await naming([OURS]))
    first.cutAt(cut)
    first.answer({ document, handovers })
    await first.followed(12)
    await until(() => first.steps.length === cut)
    t.strictSame(first.steps, ['identity', 'list', 'identity'].slice(0, cut))
    const read = readGatewayList((await first.folder.readList()) ?? '', await first.kept())
    t.match(read, { gateways: [{ gateway_id: gateway }] }, `after ${cut} steps`)
    first.cutAt(Infinity)
    await until(async () => (await first.kept()).authority === NEXT.publicKey)
    t.equal((await first.kept()).next_authority, undefined, 'and it goes on where it was')
  }
})

void t.test('numbers that a leaked key has given are nothing to the key after it', async (t) => {
  const { answer, followed, gateways, kept } = await start(t, await naming([OURS]))
  const forged = { sequence: Number.MAX_SAFE_INTEGER, gateways: [OTHER_GATEWAY] }
  answer(await naming([OURS, NEXT], forged))
  await followed(Number.MAX_SAFE_INTEGER)
  await until(async () => (await kept()).next_authority === NEXT.publicKey)
  answer(await naming([NEXT], { sequence: 9 }))
  await until(async () => (await kept()).authority === NEXT.publicKey)
  t.strictSame(gateways(), ['gateway-1'])
  await followed(9)
})

void t.test(
  'what the next key has signed is not gone back on, though nothing can be kept',
  async (t) => {
    const { answer, followed, gateways, problem, cutAt, kept } = await start(
      t,
      await naming([OURS, NEXT]),
      undefined,
      { authority: OURS.publicKey, next_authority: NEXT.publicKey },
    )
    cutAt(0)
    answer(await naming([NEXT], { sequence: 8 }))
    await followed(8)
    answer(await naming([OURS, NEXT], { sequence: 9, gateways: [OTHER_GATEWAY] }))
    await problem('its signature is not')
    t.strictSame(gateways(), ['gateway-1'])
    t.equal((await kept()).authority, OURS.publicKey)
  },
)

void t.test('who ended before it forgot the key before does so with its next start', async (t) => {
  const { kept } = await start(t, await naming([NEXT], { sequence: 12 }), undefined, {
    authority: OURS.publicKey,
    next_authority: NEXT.publicKey,
  })
  const { authority, next_authority: next } = await kept()
  t.strictSame([authority, next], [NEXT.publicKey, undefined])
})

void t.test(
  'a service of the release before, put back, is asked without a word of keys',
  async (t) => {
    const { answer, followed, confirmed, putReleaseBefore } = await start(t, await naming([OURS]))
    answer(await naming([OURS, NEXT], { sequence: 8 }))
    await until(() => confirmed() === NEXT.publicKey)
    putReleaseBefore()
    answer(await signed(list({ sequence: 9 })))
    await followed(9)
    t.equal(confirmed(), undefined)
  },
)

void t.test('a list that names another key than the one of its signature is none', async (t) => {
  const { answer, problem, gateways } = await start(t, await naming([OURS]))
  const authorities = [NEXT.publicKey, OURS.publicKey]
  answer(await signed(list({ sequence: 8, gateways: [], authorities })))
  await problem('it names another key')
  t.strictSame(gateways(), ['gateway-1'])
})

void t.test('a service that names no keys is asked as ever', async (t) => {
  const { answer, followed, confirmed, steps, kept } = await start(t, await signed(list()))
  answer(await signed(list({ sequence: 8 })))
  await followed(8)
  await until(() => steps.length > 0)
  t.strictSame([steps, confirmed()], [['list'], undefined])
  t.equal((await kept()).authority, OURS.publicKey)
})

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 2))
}
