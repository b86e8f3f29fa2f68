/**
 * On which machine a browser runs. A sign-in makes a challenge, the browser brings it to the agent on
 * its own machine, the agent proves it to us and gets a code, and the browser brings that back: who
 * has only the challenge, or only the code, or another browser, has nothing
 * (.docs/decisions/0053-on-which-machine-a-browser-runs.md).
 */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../shared/clock.ts'
import { DEVICE_MESSAGES } from '../../shared/device/messages.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { isSameSecret, type Vault } from '../keys/vault.ts'
import {
  challengesOf,
  deleteChallenge,
  deleteChallengesExpiredBefore,
  findChallenge,
  insertChallenge,
  updateChallenge,
  type DeviceChallengeRow,
} from '../store/queries/device-challenges.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import { pruneWith } from '../store/statements.ts'
import type { TenantChange, Store } from '../store/store.ts'
import type { ChallengeKeys } from './challenge-keys.ts'

interface DeviceProofsWorld {
  readonly store: Store
  readonly vault: Pick<Vault, 'hash' | 'seal' | 'open'>
  readonly clock: Clock
  readonly baseUrl: string
  readonly challengeKeys: Pick<ChallengeKeys, 'sign'>
}

/** The sign-in that asks. */
interface AskingSignIn {
  readonly tenantId: string
  readonly uid: string
  readonly userId: string
  /** Of the secret that its browser has (`realm/sign-in/attempt-cookie.ts`). */
  readonly browserHash: string
}

export type DeviceProofs = ReturnType<typeof createDeviceProofs>

export function createDeviceProofs(world: DeviceProofsWorld) {
  const { store, vault, clock, baseUrl, challengeKeys } = world
  const { origin } = new URL(baseUrl)
  const random = () => randomBytes(32).toString('base64url')
  const cidHash = (tenantId: string, cid: string) =>
    vault.hash(`device_challenges/${tenantId}/${cid}`)
  const codeHash = (cid: string, code: string) =>
    vault.hash(`device_challenges.code/${cid}/${code}`)
  const isLive = ({ expiresAt }: DeviceChallengeRow) => clock.nowMs() < expiresAt

  return {
    /** Where the browser goes: to the agent on its own machine, and nowhere else. */
    async begin({ tenantId, uid, userId, browserHash }: AskingSignIn): Promise<string> {
      const cid = random()
      const hash = cidHash(tenantId, cid)
      const uidHash = vault.hash(`device_challenges.uid/${tenantId}/${uid}`)
      const uidSealed = vault.seal(uid, PURPOSES.deviceChallenge({ cidHash: hash }))
      await store.change(async ({ queries, nowMs }) => {
        await requireTenant(queries, tenantId)
        const most = LIMITS.deviceChallengesPerSignInMax
        const open = await challengesOf(queries, tenantId, uidHash, 2 * most)
        for (const { cidHash: surplus } of open.slice(most - 1))
          await deleteChallenge(queries, tenantId, surplus)
        await insertChallenge(queries, {
          ...{ cidHash: hash, tenantId, uidHash, uidSealed, browserHash, userId },
          ...{ createdAt: nowMs, expiresAt: nowMs + LIMITS.deviceChallengeMs },
          ...{ deviceId: null, codeHash: null },
        })
      })
      const content = { iss: origin, cid, aud: tenantId }
      const challenge = await challengeKeys.sign(DEVICE_MESSAGES.challenge, content)
      return `http://127.0.0.1:${LIMITS.deviceProofPort}/p/${challenge}`
    },

    /** In the change in which the machine has proven that it is this device. Once. */
    async redeem(
      { queries, nowMs }: TenantChange,
      asked: { readonly tenantId: string; readonly deviceId: string; readonly cid: string },
    ): Promise<string> {
      const { tenantId, deviceId, cid } = asked
      const hash = cidHash(tenantId, cid)
      const known = await findChallenge(queries, tenantId, hash)
      if (known === undefined || !isLive(known) || known.codeHash !== null)
        throw new Refusal('device_challenge_invalid')
      const code = random()
      const expiresAt = nowMs + LIMITS.deviceProofCodeMs
      const shown = { deviceId, codeHash: codeHash(cid, code), expiresAt }
      await updateChallenge(queries, tenantId, hash, shown)
      return code
    },

    /** The sign-in that a challenge was made for, while it is good for anything. */
    async find(tenantId: string, cid: string): Promise<AskingSignIn | undefined> {
      const hash = cidHash(tenantId, cid)
      const known = await findChallenge(store.read, tenantId, hash)
      if (known === undefined || !isLive(known)) return undefined
      const { userId, browserHash, uidSealed } = known
      return {
        tenantId,
        uid: vault.open(uidSealed, PURPOSES.deviceChallenge({ cidHash: hash })),
        userId,
        browserHash,
      }
    },

    /**
     * On which device it was proven. A challenge is good for one code, right or wrong: who guesses
     * has one guess.
     */
    async take(
      { queries }: TenantChange,
      { tenantId, cid, code }: { tenantId: string; cid: string; code: string },
    ): Promise<string | undefined> {
      const hash = cidHash(tenantId, cid)
      const known = await findChallenge(queries, tenantId, hash)
      if (known === undefined) return undefined
      await deleteChallenge(queries, tenantId, hash)
      const isShown = known.codeHash !== null && isSameSecret(known.codeHash, codeHash(cid, code))
      return isShown && isLive(known) ? (known.deviceId ?? undefined) : undefined
    },

    /** Answers whether there was anything to burn, so that it is recorded once. */
    burn: ({ queries }: TenantChange, tenantId: string, cid: string): Promise<boolean> =>
      deleteChallenge(queries, tenantId, cidHash(tenantId, cid)),

    prune: pruneWith(store, deleteChallengesExpiredBefore, 0),
  }
}
