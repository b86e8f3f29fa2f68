/**
 * What an assertion says, as claims: the same that a verified ID token comes to, so that one gate and
 * one funnel are behind both. Pure. Attributes keep names of their own among them, so that none can pass
 * for a claim that is gone by.
 */
import type { SamlConnectionRow } from '../../store/queries/saml.ts'
import type { Claims, GateProblem } from '../gate.ts'
import { groupsAmong, type MappedGroups } from '../mapped-groups.ts'
import type { GatedAssertion } from './assertion-gate.ts'
import { EMAIL_FORMAT, PERSISTENT } from './names.ts'

type Mapping = Pick<
  SamlConnectionRow,
  'subjectAttribute' | 'emailAttribute' | 'nameAttribute' | 'groupsAttribute' | 'groups'
>

/** As Entra, ADFS, Okta, Google, Keycloak and Shibboleth call it, if nobody has said it. */
const EMAIL_ATTRIBUTES = [
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'email',
  'mail',
]
const NAME_ATTRIBUTES = [
  'http://schemas.microsoft.com/identity/claims/displayname',
  'urn:oid:2.16.840.1.113730.3.1.241',
  'displayName',
  'displayname',
]

export function claimsOf(assertion: GatedAssertion, mapping: Mapping): Claims {
  const { attributes, nameId, authnContext, provenAt } = assertion
  const first = (names: readonly string[]) =>
    names.map((name) => attributes.get(name)?.[0]).find((value) => value !== undefined)
  const { subjectAttribute, emailAttribute, nameAttribute } = mapping
  const ofNameId = nameId?.format === EMAIL_FORMAT ? nameId.value : undefined
  const email = first(emailAttribute === null ? EMAIL_ATTRIBUTES : [emailAttribute]) ?? ofNameId
  const shown = [...attributes].map(([name, values]) => {
    return [`attribute ${name}`, values.length === 1 ? values[0] : values] as const
  })
  return {
    ...Object.fromEntries(shown),
    ...subjectOf(
      subjectAttribute === null ? persistentIn(nameId) : onlyIn(attributes, subjectAttribute),
      email,
    ),
    name_id: nameId?.value,
    name_id_format: nameId?.format,
    email,
    name: first(nameAttribute === null ? NAME_ATTRIBUTES : [nameAttribute]),
    acr: authnContext,
    auth_time: provenAt,
    mapped_groups: groupsOf(attributes, mapping),
  }
}

type Subject = { readonly sub: string } | { readonly problem: GateProblem }

/** An address is given to somebody else one day, whatever a provider calls it. */
function subjectOf(subject: Subject, email: string | undefined): Subject {
  const isAddress = 'sub' in subject && email !== undefined && folded(subject.sub) === folded(email)
  return isAddress ? { problem: 'subject_is_address' } : subject
}

function persistentIn(nameId: GatedAssertion['nameId']): Subject {
  if (nameId?.format !== PERSISTENT) return { problem: 'subject_not_persistent' }
  return nameId.isOfOthers ? { problem: 'subject_of_others' } : { sub: nameId.value }
}

function onlyIn(attributes: GatedAssertion['attributes'], name: string): Subject {
  const [value, other] = attributes.get(name) ?? []
  const isOne = value !== undefined && other === undefined
  return isOne ? { sub: value } : { problem: 'subject_attribute_missing' }
}

/** A provider that says nothing of groups changes none; one that names none takes all of them away. */
function groupsOf(
  attributes: GatedAssertion['attributes'],
  { groupsAttribute, groups }: Mapping,
): MappedGroups | undefined {
  const values = groupsAttribute === null ? undefined : attributes.get(groupsAttribute)
  return values && groupsAmong(groups, values)
}

const folded = (text: string) => text.trim().normalize('NFKC').toLowerCase()
