/** What is SAML's own about a connection, as operators write it. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { MappedAttributesAnswer } from './attribute-fields.ts'
import { mappedGroups, SETTINGS as OF_ALL } from './connection-fields.ts'
import { described, time } from './described.ts'
import { flag, text } from './fields.ts'

const { connectionFieldCharactersMax: charactersMax } = LIMITS
const field = text('text', charactersMax)
const METADATA_WISH = `SAML metadata of at most ${LIMITS.providerAnswerBytesMax / 1024} KiB`
const metadata = v.pipe(
  v.string(METADATA_WISH),
  v.regex(/^[^\0-\x08\v\f\x0e-\x1f\x7f]+$/, METADATA_WISH),
  v.check((value) => value.isWellFormed(), METADATA_WISH),
  v.maxBytes(LIMITS.providerAnswerBytesMax, METADATA_WISH),
)
const attribute = (what: string) => described(v.nullable(field), what)

const SETTINGS = {
  name: OF_ALL.name,
  metadata: described(
    v.nullable(metadata),
    "The provider's metadata as text. Give either this or `metadata_url`.",
  ),
  metadata_url: described(
    v.nullable(field),
    'Where the metadata is: `https://`, at public addresses, without a redirect. It is read anew each day.',
  ),
  signs_requests: described(flag, 'Sign-in requests are signed, with the key in our metadata.'),
  subject_attribute: attribute(
    'The attribute that identifies people, never an email address. null: a persistent NameID.',
  ),
  email_attribute: attribute('null: the names that Entra, Okta, Google and AD FS use.'),
  name_attribute: attribute('null: the names that Entra, Okta and AD FS use.'),
  groups_attribute: attribute('null: groups are not taken from the provider.'),
  groups: described(mappedGroups, 'Which value of `groups_attribute` means which group here.'),
  creates_people: OF_ALL.creates_people,
  mfa_values: described(
    OF_ALL.mfa_values,
    'Values of AuthnContextClassRef that count as a second factor here. By default none does.',
  ),
  attributes: OF_ALL.attributes,
}

export const NewSamlBody = v.strictObject({
  ...SETTINGS,
  metadata: v.optional(SETTINGS.metadata, null),
  metadata_url: v.optional(SETTINGS.metadata_url, null),
  signs_requests: v.optional(SETTINGS.signs_requests, false),
  subject_attribute: v.optional(SETTINGS.subject_attribute, null),
  email_attribute: v.optional(SETTINGS.email_attribute, null),
  name_attribute: v.optional(SETTINGS.name_attribute, null),
  groups_attribute: v.optional(SETTINGS.groups_attribute, null),
  groups: v.optional(SETTINGS.groups, []),
  creates_people: v.optional(SETTINGS.creates_people, true),
  mfa_values: v.optional(SETTINGS.mfa_values, []),
  attributes: v.optional(SETTINGS.attributes, []),
})

export const SamlPatchBody = v.partial(v.strictObject(SETTINGS))

export const SamlAnswer = v.strictObject({
  connection_id: v.string(),
  name: v.string(),
  state: v.string(),
  issuer: described(v.string(), 'The entity ID of the provider.'),
  sso_url: described(v.string(), 'Where people are sent to sign in.'),
  entity_id: described(v.string(), 'Ours, for this connection: also the address of our metadata.'),
  acs_url: described(v.string(), 'Where the provider sends its responses.'),
  certificates: described(
    v.array(
      v.strictObject({
        fingerprint: described(v.string(), 'SHA-256.'),
        starts_at: v.string(),
        ends_at: v.string(),
      }),
    ),
    'Every signing certificate of the metadata: a signature by any of them counts.',
  ),
  metadata_url: v.nullable(v.string()),
  metadata_at: described(time, 'When the metadata was last taken.'),
  metadata_problem: described(
    v.nullable(v.string()),
    'Why the newest metadata could not be taken. What was known before goes on to count.',
  ),
  signs_requests: v.boolean(),
  subject_attribute: v.nullable(v.string()),
  email_attribute: v.nullable(v.string()),
  name_attribute: v.nullable(v.string()),
  groups_attribute: v.nullable(v.string()),
  groups: v.array(v.strictObject({ value: v.string(), group: v.string() })),
  creates_people: v.boolean(),
  mfa_values: v.array(v.string()),
  attributes: MappedAttributesAnswer,
})
