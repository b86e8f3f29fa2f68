/**
 * The keys of the whole installation by which agents know that we sent a browser to them, and that
 * an update is ours. There are always two, the one that signs and the one that will: agents know
 * both long before the second is used, so one can be replaced at any time.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, CompactSign } from 'jose'
import type { DEVICE_MESSAGES } from '../../shared/device/messages.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import { eq } from '../store/drizzle.ts'
import { schema } from '../store/schema.ts'
import { findBy } from '../store/statements.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Store } from '../store/store.ts'

const FACT = 'device_challenge_keys'
const ROTATED = 'device_challenge_keys_rotated'
const PURPOSE = 'facts.device_challenge_keys'

const TOO_SOON =
  'The key was rotated less than 30 days ago. Devices that have been off since then would have to enroll again; use force if the key has leaked.'

/** With each check-in. */
const findFact = findBy(schema.facts, 'name')

interface SigningKey {
  readonly kid: string
  readonly key: KeyObject
  readonly public: Readonly<Record<string, string>>
}

export type ChallengeKeys = ReturnType<typeof createChallengeKeys>

export function createChallengeKeys({ store, vault }: { store: Store; vault: Vault }) {
  let known: { readonly sealed: string; readonly keys: Promise<readonly SigningKey[]> } | undefined

  const make = () =>
    String(
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
        format: 'pem',
        type: 'pkcs8',
      }),
    )
  const sealed = (pems: readonly string[]) => vault.seal(JSON.stringify(pems), PURPOSE)

  const find = async (queries: Queries): Promise<string | undefined> =>
    (await findFact(queries, FACT))?.value

  const opened = (value: string) => JSON.parse(vault.open(value, PURPOSE)) as string[]

  /** Made when they are first asked for. */
  const open = () =>
    store.change(async ({ queries }) => {
      const before = await find(queries)
      if (before !== undefined) return before
      const value = sealed([make(), make()])
      await queries.insert(schema.facts).values({ name: FACT, value })
      return value
    })

  /**
   * Looked up each time: another control plane may have rotated them, and one that has leaked must
   * neither sign here nor be told to agents any more. Only reading them is saved.
   */
  async function keys(): Promise<readonly SigningKey[]> {
    const value = (await find(store.read)) ?? (await open())
    if (known?.sealed !== value)
      known = { sealed: value, keys: Promise.all(opened(value).map(signingKeyOf)) }
    return known.keys
  }

  return {
    /** What agents pin: the one that signs comes first. */
    jwks: async () => ({ keys: (await keys()).map((one) => one.public) }),

    async sign(typ: (typeof DEVICE_MESSAGES)['challenge' | 'update'], content: object) {
      const [first] = await keys()
      if (first === undefined) throw new Error('there are no challenge keys')
      return new CompactSign(Buffer.from(JSON.stringify(content)))
        .setProtectedHeader({ alg: 'ES256', typ, kid: first.kid })
        .sign(first.key)
    },

    /**
     * The next one signs from now on. Machines that were off since the last time know neither of
     * both, and enroll anew: so it is refused soon after, unless the key that signs has leaked.
     */
    async rotate({ force }: { readonly force: boolean }, actor: Actor): Promise<readonly string[]> {
      await keys()
      await store.change(async (change) => {
        const { queries, nowMs } = change
        const { facts } = schema
        const last = await findFact(queries, ROTATED)
        const isSoon = last && nowMs < Number(last.value) + LIMITS.deviceKeysRotatedMsMin
        if (isSoon === true && !force) throw new Refusal('rotation_state', {}, TOO_SOON)
        const before = await find(queries)
        const value = sealed([...(before === undefined ? [] : opened(before)).slice(1), make()])
        await queries.update(facts).set({ value }).where(eq(facts.name, FACT))
        const rotated = { name: ROTATED, value: String(nowMs) }
        await queries.insert(facts).values(rotated).onConflictDoUpdate({
          target: facts.name,
          set: rotated,
        })
        await change.audit(actor, { action: 'device_challenge_keys.rotated', content: { force } })
      })
      return (await keys()).map(({ kid }) => kid)
    },
  }
}

async function signingKeyOf(pem: string): Promise<SigningKey> {
  const key = createPrivateKey(pem)
  const { kty = '', crv = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' })
  const point = { kty, crv, x, y }
  const kid = await calculateJwkThumbprint(point)
  return { kid, key, public: { ...point, kid, alg: 'ES256', use: 'sig' } }
}
