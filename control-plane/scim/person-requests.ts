/** What can be asked of /Users. */
import { fold } from '../accounts/login-keys.ts'
import type { Enforced } from '../store/enforced.ts'
import type { PeopleTerm, ScimPerson } from '../store/queries/scim.ts'
import type { Asked } from './asked.ts'
import type { Term } from './attribute-paths.ts'
import { pageAsked, shapeAsked, termsAsked } from './lists.ts'
import { readOperations } from './patch-operations.ts'
import type { ScimPeople } from './people.ts'
import { listOf, shaped, userResource } from './resources.ts'
import { ScimError } from './scim-error.ts'

interface Changed extends ScimPerson {
  readonly ignored: readonly string[]
  readonly enforced?: Enforced | undefined
}

export function personRequests({ scimPeople }: { readonly scimPeople: ScimPeople }) {
  const one = (asked: Asked, person: ScimPerson) =>
    shaped(userResource(person, asked.base), shapeAsked(asked))

  const changed = (asked: Asked, { ignored, enforced, ...person }: Changed) => ({
    status: 200,
    body: one(asked, person),
    ignored,
    enforced,
  })

  return {
    async list(asked: Asked) {
      const { startIndex, ...place } = pageAsked(asked)
      const terms = termsAsked(asked)
        .filter((term) => !isTypeOfWork(term))
        .map(termOf)
      const { total, found } = await scimPeople.list(asked.token.tenantId, terms, place)
      const resources = found.map((person) => one(asked, person))
      return { status: 200, body: listOf(resources, total, startIndex) }
    },
    async create(asked: Asked) {
      const made = await scimPeople.create(asked, await asked.body())
      const location = `${asked.base}/Users/${made.person.userId}`
      return { ...changed(asked, made), status: 201, location }
    },
    async get(asked: Asked, id: string) {
      return { status: 200, body: one(asked, await scimPeople.get(asked.token.tenantId, id)) }
    },
    async replace(asked: Asked, id: string) {
      return changed(asked, await scimPeople.replace(asked, id, await asked.body()))
    },
    async patch(asked: Asked, id: string) {
      const operations = readOperations(await asked.body())
      return changed(asked, await scimPeople.patch(asked, id, operations))
    },
    async remove(asked: Asked, id: string) {
      return { status: 204, enforced: await scimPeople.remove(asked, id) }
    },
  }
}

/** `emails[type eq "work" and value eq "…"]`: the one address that is kept is that. */
const isTypeOfWork = ({ path, value }: Term) =>
  path.name === 'emails' && path.sub === 'type' && String(value).toLowerCase() === 'work'

function termOf({ path, value }: Term): PeopleTerm {
  const { name, sub, where } = path
  const whole = sub === undefined ? name : `${name}.${sub}`
  const isOfWork = where.every(
    (term) =>
      (term.path.name === 'type' && String(term.value).toLowerCase() === 'work') ||
      (term.path.name === 'primary' && String(term.value).toLowerCase() === 'true'),
  )
  if (whole === 'active' && /^(?:true|false)$/i.test(String(value)))
    return { of: 'isActive', value: String(value).toLowerCase() === 'true' }
  if (typeof value === 'string' && isOfWork)
    switch (whole) {
      case 'id':
        return { of: 'id', value }
      case 'externalid':
        return { of: 'externalId', value }
      case 'username':
        return { of: 'userNameKey', value: fold(value) }
      case 'displayname':
        return { of: 'displayKey', value: fold(value) }
      case 'emails':
      case 'emails.value':
        return { of: 'emailKey', value: fold(value) }
    }
  throw new ScimError(
    400,
    'Filter users by userName, externalId, id, displayName, active or emails[type eq "work"].value.',
    'invalidFilter',
  )
}
