/**
 * People that a provider pushes: accounts without credentials, which it alone has made and alone may
 * change. Whoever was here before is never taken over, by whatever address: nobody is found by one.
 */
import { LIMITS } from '../../shared/limits.ts'
import { isEmailAddress } from '../accounts/email-address.ts'
import { fold } from '../accounts/login-keys.ts'
import {
  accountWithoutCredentials,
  patchUserIn,
  type Alongside,
  type UserPatch,
} from '../accounts/user-changes.ts'
import { removeUser } from '../accounts/user-removal.ts'
import { createFairSemaphore } from '../concurrency/fair-semaphore.ts'
import { Refusal } from '../../shared/errors.ts'
import type { Enforced } from '../store/enforced.ts'
import type { Queries } from '../store/engine.ts'
import {
  findScimPerson,
  insertScimPerson,
  scimPeopleListed,
  updateScimPerson,
  type PeopleTerm,
  type ScimPerson,
  type ScimPersonRow,
} from '../store/queries/scim.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import { findUser, findUserByKey, insertUser, type UserRow } from '../store/queries/users.ts'
import type { Actor, Store } from '../store/store.ts'
import {
  emptyDraft,
  ruledOf,
  writePath,
  writeResource,
  type PersonDraft,
} from './person-attributes.ts'
import type { Operation } from './patch-operations.ts'
import { alterAttributesIn } from '../tenants/person-attributes.ts'
import { ScimError } from './scim-error.ts'
import { rememberSubject } from './subjects.ts'
import type { ScimToken } from './tokens.ts'

export type ScimPeople = ReturnType<typeof createScimPeople>

interface PeopleWorld {
  readonly store: Store
  /** To the address that somebody had until then. */
  readonly tellChanged: Alongside
}

interface Asking {
  readonly token: ScimToken
  readonly actor: Actor
}

/** With what of the request is not kept. */
interface Answered extends ScimPerson {
  readonly ignored: readonly string[]
  /** Where sessions have ended: who refuses them by now. */
  readonly enforced?: Enforced | undefined
}

export function createScimPeople({ store, tellChanged }: PeopleWorld) {
  /** One after the other: of many at once each turn of the event loop would hold a part of all. */
  const walks = createFairSemaphore({ concurrency: 1 })

  /** `work` makes the next draft of the one before, in the change that writes it: none is lost. */
  async function alter(
    { token, actor }: Asking,
    userId: string,
    work: (before: PersonDraft) => PersonDraft,
  ): Promise<Answered> {
    const { tenantId } = token
    const { ended, ...answered } = await store.change(async (change) => {
      const before = await requirePerson(change.queries, tenantId, userId)
      const draft = work(draftOf(before))
      const account = accountOf(draft, before.user)
      const row = rowOf(draft, before.person, account.name)
      if (row.userNameKey !== before.person.userNameKey)
        await requireFree(change.queries, tenantId, row.userName, userId)
      const isOther = JSON.stringify(row) !== JSON.stringify(before.person)
      if (isOther) await updateScimPerson(change.queries, { ...row, updatedAt: change.nowMs })
      const isAnother = row.externalId !== before.person.externalId
      const unlinked = isAnother ? await rememberSubject(change, token, row) : undefined
      const whose = { tenantId, userId, source: 'scim' } as const
      await alterAttributesIn(change, whose, ruledOf(draft), actor)
      const patch = patchOf(account, draft, before)
      const patching = { tenantId, userId, patch, actor, alongside: tellChanged }
      const isPatched = Object.keys(patch).length > 0
      const ended = isPatched ? (await patchUserIn(change, patching)).ended : undefined
      if (isOther && !isPatched) {
        const content = { user_id: userId }
        await change.audit(actor, { action: 'scim.user_changed', tenantId, content })
      }
      const after = await requirePerson(change.queries, tenantId, userId)
      return { ...after, ignored: [...draft.ignored], ended: ended ?? unlinked }
    })
    return { ...answered, enforced: await ended?.enforced }
  }

  return {
    async create({ token, actor }: Asking, resource: object): Promise<Answered> {
      const { tenantId } = token
      const draft = emptyDraft()
      writeResource(draft, resource, 'add')
      requireUserName(draft)
      const wished = accountOf(draft, undefined)
      return store.change(async (change) => {
        const { queries, nowMs } = change
        await requireTenant(queries, tenantId)
        const made = accountWithoutCredentials({ tenantId, ...wished }, nowMs)
        const user = { ...made, isDisabled: !draft.isActive }
        await requireFree(queries, tenantId, draft.userName, user.userId)
        await insertUser(queries, user)
        const { userId } = user
        const times = { createdAt: nowMs, updatedAt: nowMs }
        const person = rowOf(draft, { tenantId, userId, ...times }, wished.name)
        await insertScimPerson(queries, person)
        await rememberSubject(change, token, person)
        const whose = { tenantId, userId, source: 'scim', isNew: true } as const
        await alterAttributesIn(change, whose, ruledOf(draft), actor)
        const content = { user_id: userId, source: 'scim' }
        await change.audit(actor, { action: 'user.created', tenantId, content })
        return { person, user, ignored: [...draft.ignored] }
      })
    },

    get: (tenantId: string, userId: string) => requirePerson(store.read, tenantId, userId),

    /** undefined: no provider has made this account. */
    find: (tenantId: string, userId: string) => findScimPerson(store.read, tenantId, userId),

    list: (
      tenantId: string,
      terms: readonly PeopleTerm[],
      place: { readonly offset: number; readonly limit: number },
    ) => {
      const list = () => scimPeopleListed(store.read, tenantId, terms, place)
      return terms.some(({ of }) => of === 'isActive') ? walks.take(list, tenantId) : list()
    },

    /**
     * An account of before, by the word of an administrator: from now on a provider sees it under its
     * address, and what it says of it counts. Nothing of the account is another by that.
     */
    async handOver(tenantId: string, userId: string, actor: Actor): Promise<ScimPersonRow> {
      return store.change(async (change) => {
        const { queries, nowMs } = change
        await requireTenant(queries, tenantId)
        const user = await findUser(queries, tenantId, userId)
        if (user === undefined || user.source === 'trial') throw new Refusal('user_not_found')
        if (user.source === 'directory') throw new Refusal('user_elsewhere')
        const known = await findScimPerson(queries, tenantId, userId)
        if (known !== undefined) return known
        const { email: userName, name: displayName } = user
        const draft = { ...emptyDraft(), userName, displayName }
        const row = rowOf(
          draft,
          { tenantId, userId, createdAt: nowMs, updatedAt: nowMs },
          user.name,
        )
        await insertScimPerson(queries, row)
        const content = { user_id: userId }
        await change.audit(actor, { action: 'user.handed_over', tenantId, content })
        return row
      })
    },

    /** What is left out is gone, but for whether they may come in and by what they are known there. */
    replace: (asking: Asking, userId: string, resource: object): Promise<Answered> =>
      alter(asking, userId, ({ isActive, externalId }) => {
        const draft = { ...emptyDraft(), isActive, externalId }
        writeResource(draft, resource, 'replace')
        requireUserName(draft)
        return draft
      }),

    patch: (asking: Asking, userId: string, operations: readonly Operation[]): Promise<Answered> =>
      alter(asking, userId, (draft) => {
        for (const { op, path, value } of operations)
          if (path === undefined) writeResource(draft, value as object, op)
          else writePath(draft, path, value, op)
        return draft
      }),

    /** With their sessions, as if an operator had deleted them. */
    async remove({ token: { tenantId }, actor }: Asking, userId: string): Promise<Enforced> {
      const ended = await removeUser(store, { tenantId, userId }, actor, ({ queries }) =>
        requirePerson(queries, tenantId, userId),
      )
      return ended.enforced
    },
  }
}

async function requirePerson(
  queries: Queries,
  tenantId: string,
  userId: string,
): Promise<ScimPerson> {
  const person = await findScimPerson(queries, tenantId, userId)
  const user = person && (await findUser(queries, tenantId, userId))
  if (person === undefined || user === undefined)
    throw new ScimError(
      404,
      'No provisioned user has this id. Look the user up by userName or externalId, or create it.',
    )
  return { person, user }
}

function requireUserName({ userName }: PersonDraft) {
  if (userName === '') throw new ScimError(400, 'Send a userName.', 'invalidValue')
}

/** Nobody else signs in with it, and it is nobody's address: whoever it was given to was here first. */
async function requireFree(queries: Queries, tenantId: string, userName: string, userId: string) {
  for (const column of ['usernameKey', 'emailKey'] as const) {
    const other = await findUserByKey(queries, tenantId, column, fold(userName))
    if (other !== undefined && other.userId !== userId)
      throw new Refusal(column === 'emailKey' ? 'email_taken' : 'username_taken')
  }
}

function draftOf({ person, user }: ScimPerson): PersonDraft {
  const { userName, externalId, displayName, details } = person
  return {
    ...{ userName, externalId, displayName, details: { ...details } },
    isActive: !user.isDisabled,
    email: user.email,
    ignored: new Set(),
  }
}

/** A name with an @ must be the person's own address here, and at a provider it often is another. */
function accountOf(draft: PersonDraft, before: UserRow | undefined) {
  const { userName, displayName, details } = draft
  const email = draft.email ?? (isEmailAddress(userName) ? userName : before?.email)
  if (email === undefined || !isEmailAddress(email))
    throw new ScimError(
      400,
      'A user needs an email address: map the attribute emails[type eq "work"].value at your provider to one.',
      'invalidValue',
    )
  const isAddress = fold(userName).includes('@')
  if (!isAddress && userName.length > LIMITS.usernameCharactersMax)
    throw new ScimError(
      400,
      `"userName" must be an email address or at most ${LIMITS.usernameCharactersMax} characters.`,
      'invalidValue',
    )
  const { givenName, familyName, formatted } = details
  const parts = [givenName, familyName].filter((part) => part !== undefined).join(' ')
  const called = [displayName, formatted, parts].find((one) => one !== null && one) ?? userName
  return { email, username: isAddress ? email : userName, name: nameOf(called) }
}

const nameOf = (called: string) => called.slice(0, LIMITS.nameCharactersMax).toWellFormed()

function rowOf(
  { userName, externalId, displayName, details }: PersonDraft,
  kept: Pick<ScimPersonRow, 'tenantId' | 'userId' | 'createdAt' | 'updatedAt'>,
  name: string,
): ScimPersonRow {
  const { tenantId, userId, createdAt, updatedAt } = kept
  const shown = displayName ?? name
  return {
    ...{ tenantId, userId, externalId, userName, userNameKey: fold(userName) },
    ...{ displayName: shown, displayKey: fold(shown), details, createdAt, updatedAt },
  }
}

/** Only what is another: an account is not changed by saying once more what it is. */
function patchOf(
  account: ReturnType<typeof accountOf>,
  { isActive, userName }: PersonDraft,
  { user, person }: ScimPerson,
): UserPatch {
  const { username, email, name } = account
  const isCalledAnew = userName !== person.userName || email !== user.email
  return {
    ...(isCalledAnew && username !== user.username && { username }),
    ...(email !== user.email && { email }),
    ...(name !== user.name && name !== person.displayName && { name }),
    ...(isActive === user.isDisabled && { isDisabled: !isActive }),
  }
}
