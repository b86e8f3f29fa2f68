/** A key is replaced step by step; whichever answer is lost, and whatever cannot be written, one that counts is left. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Problem } from '../../../../../control-plane/downloads/command-line/exit.ts'
import { createIdentity } from '../../../../../control-plane/downloads/connector/running/identity.ts'
import { createOwnKey } from '../../../../../control-plane/downloads/connector/running/own-key.ts'
import {
  createService,
  type Service,
} from '../../../../../control-plane/downloads/connector/service/service.ts'
import {
  createStateFolder,
  type Joined,
} from '../../../../../control-plane/downloads/connector/state/state-folder.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { connectorHere, startJoinable } from '../../../../support/connector-program.ts'

const never = new AbortController().signal
const DAY_MS = 24 * 3600 * 1000

async function start(t: Test) {
  const server = await startJoinable(t)
  const environment = {
    SERVICE_BASE_URL: server.baseUrl,
    SERVICE_CONNECTOR_TOKEN: await server.token(),
  }
  const here = connectorHere(t, environment)
  const path = join(here.home, 'state')
  await here.call(['join', '--origin', 'http://127.0.0.1:3000', '--state', path])
  const folder = createStateFolder(path, { userId: process.getuid?.() })
  const real = createService({ baseUrl: server.baseUrl, proxies: () => undefined })
  let nowMs = Date.now()
  let answersLost = 0
  let isFull = false
  const moves: string[] = []
  let only = ''

  /** Asked and answered, and the answer does not arrive. */
  const service: Pick<Service, 'state'> = {
    async state(...asked) {
      const answer = await real.state(...asked)
      if (answersLost === 0) return answer
      answersLost--
      throw new Problem('unreachable', 'lost')
    },
  }
  /** A connector that is started with what is on the disk. */
  async function begin() {
    const joined = await folder.require()
    only = joined.key.key_id
    const ownKey = createOwnKey({
      identity: createIdentity(joined, {
        write: (changed: Joined) =>
          isFull ? Promise.reject(new Error('the disk is full')) : folder.write(changed),
      }),
      service,
      nowMs: () => nowMs,
      log: { info: () => undefined, warn: () => undefined },
      tunnels: { moveTo: (key) => void moves.push(key.key_id), isOnlyOn: (id) => id === only },
    })
    ownKey.resume()
    return ownKey
  }
  return {
    ...{ begin, folder, moves },
    advance: (byMs: number) => (nowMs += byMs),
    lose: (count: number) => (answersLost = count),
    fill: (now: boolean) => (isFull = now),
    moved: () => (only = moves.at(-1) ?? only),
    /** The keys that the service knows by now. */
    async known(): Promise<string[]> {
      const { key, next_key: next } = await folder.require()
      const good: string[] = []
      for (const one of [
        key,
        ...(next?.key_id === undefined ? [] : [{ ...next, key_id: next.key_id }]),
      ])
        await real.state({ connectorId: (await folder.require()).connector_id, key: one }).then(
          () => good.push(one.key_id),
          () => undefined,
        )
      return good
    },
  }
}

void t.test('after a month, and not before', async (t) => {
  const { begin, folder, moves, advance, moved } = await start(t)
  const ownKey = await begin()
  const { key: first } = await folder.require()
  advance(LIMITS.connectorKeyDays * DAY_MS - 60_000)
  await ownKey.ask(never)
  t.strictSame(moves, [])
  advance(120_000)
  await ownKey.ask(never)
  const { key, next_key: next } = await folder.require()
  t.equal(key.key_id, first.key_id, 'it counts until the next one is used')
  t.strictSame(moves, [next?.key_id])
  await ownKey.ask(never)
  t.equal((await folder.require()).next_key?.key_id, next?.key_id, 'there is one next key')
  moved()
  await ownKey.ask(never)
  const after = await folder.require()
  t.equal(after.key.key_id, next?.key_id)
  t.equal(after.next_key, undefined)
  moves.length = 0
  await ownKey.ask(never)
  t.strictSame(moves, [])
})

void t.test('a clock that is set back makes it sooner', async (t) => {
  const { begin, moves, advance } = await start(t)
  const ownKey = await begin()
  advance(-(LIMITS.connectorKeyDays + 1) * DAY_MS)
  await ownKey.ask(never)
  t.equal(moves.length, 1)
})

void t.test('answers that are lost, and ends in between', async (t) => {
  const { begin, folder, moves, lose, moved } = await start(t)
  let ownKey = await begin()
  ownKey.wish()
  lose(1)
  await t.rejects(ownKey.ask(never))
  const { next_key: made } = await folder.require()
  t.match(made, { private_key: String, key_id: undefined }, 'it is kept before it is told')
  ownKey = await begin()
  await ownKey.ask(never)
  const { next_key: named } = await folder.require()
  t.equal(named?.private_key, made?.private_key, 'it is the same one')
  t.strictSame(moves, [named?.key_id])

  moved()
  lose(1)
  await t.rejects(ownKey.ask(never), 'the last step is taken, and nobody here knows')
  moves.length = 0
  ownKey = await begin()
  t.strictSame(moves, [named?.key_id], 'so both are tried')
  await ownKey.ask(never)
  t.equal((await folder.require()).key.key_id, named?.key_id)
})

void t.test('a full disk: nobody hears of a key that is not kept', async (t) => {
  const { begin, folder, moves, fill, moved, known } = await start(t)
  const ownKey = await begin()
  const { key: first } = await folder.require()
  ownKey.wish()
  fill(true)
  await ownKey.ask(never)
  t.strictSame(moves, [])
  t.equal((await folder.require()).next_key, undefined)
  fill(false)
  await ownKey.ask(never)
  t.equal(moves.length, 1)
  moved()
  fill(true)
  await ownKey.ask(never)
  const { key, next_key: next } = await folder.require()
  t.equal(key.key_id, first.key_id, 'the last step could not be written down')
  t.strictSame(await known(), [next?.key_id], 'but was taken')
  fill(false)
  await ownKey.ask(never)
  t.equal((await folder.require()).key.key_id, next?.key_id)
})
