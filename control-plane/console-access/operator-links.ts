/**
 * A link that makes whoever opens it an operator: how the first one comes into being. Printed at
 * the terminal by who holds the operator key; for one use, for a quarter of an hour, found by hash.
 */
import { randomBytes } from 'node:crypto'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { User } from '../accounts/users.ts'
import {
  ALL_TENANTS,
  deleteLinks,
  insertLink,
  isLinkGood,
  isRunAtAll,
  spendLink,
} from '../store/queries/console.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor } from '../store/store.ts'
import { give } from './roles.ts'
import type { ConsoleAccessWorld } from './world.ts'

interface NewOperator {
  readonly email: string
  readonly name: string
  readonly password: string
}

/** Begins a link that holds although there is an operator; it is hashed with the rest. */
const MEANT = 'another-'

export const WELCOME_PATH = '/console/welcome'

export function createOperatorLinks(world: ConsoleAccessWorld) {
  const { store, vault, users, baseUrl, clock } = world

  return {
    /** The one before it is void: somebody else may have read it. */
    async make(isForced: boolean, actor: Actor) {
      const secret = (isForced ? MEANT : '') + randomBytes(24).toString('base64url')
      const expiresAtMs = clock.nowMs() + LIMITS.consoleLinkMs
      await store.change(async (change) => {
        const { queries, nowMs } = change
        const hasOperator = await isRunAtAll(queries)
        if (hasOperator && !isForced) throw new Refusal('operator_exists')
        await deleteLinks(queries)
        const linkHash = vault.hash(secret)
        await insertLink(queries, { linkHash, createdAt: nowMs, expiresAt: expiresAtMs })
        await change.audit(actor, { action: 'console.operator_link_made' })
      })
      return { url: `${baseUrl}${WELCOME_PATH}?link=${secret}`, expiresAtMs }
    },

    /** Opening the link uses nothing up: programs that look for malware open links too. */
    async isGood(secret: string): Promise<boolean> {
      if (!(await isWanted(store.read, secret))) return false
      return isLinkGood(store.read, vault.hash(secret), clock.nowMs())
    },

    /** Account, role and the end of the link are one change: of two at once one is an operator. */
    async redeem(secret: string, person: NewOperator, requestId: string): Promise<User> {
      const actor = { name: `console:${person.email}`, requestId }
      const account = { ...person, username: person.email }
      return users.create(CONSOLE_REALM, account, actor, async (change, { userId }) => {
        const { queries, nowMs } = change
        const isGood =
          (await isWanted(queries, secret)) && (await spendLink(queries, vault.hash(secret), nowMs))
        if (!isGood) throw new Refusal('ticket_spent')
        await give(change, userId, ALL_TENANTS, { ...actor, id: userId })
      })
    },
  }
}

/** A link to the first operator lies in a terminal, and is over once somebody is one. */
async function isWanted(queries: Queries, secret: string): Promise<boolean> {
  return secret.startsWith(MEANT) || !(await isRunAtAll(queries))
}
