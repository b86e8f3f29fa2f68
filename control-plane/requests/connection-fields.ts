/** Identity providers of a tenant, as operators write them. */
import * as v from 'valibot'
import { GROUP_NAME } from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  CONNECTION_PRESETS,
  CONNECTION_STATES,
  CLIENT_PRESETS,
} from '../store/connection-tables.ts'
import { mappedAttributesField, MappedAttributesAnswer } from './attribute-fields.ts'
import { described, time } from './described.ts'
import { flag, oneOf, text } from './fields.ts'

const field = text('text', LIMITS.connectionFieldCharactersMax)
const SECRET_WISH = `printable ASCII of 1 to ${LIMITS.connectionSecretCharactersMax} characters`
const secret = v.pipe(
  v.string(SECRET_WISH),
  v.regex(/^[\x20-\x7e]+$/, SECRET_WISH),
  v.maxLength(LIMITS.connectionSecretCharactersMax, SECRET_WISH),
)
const VALUES_WISH = `a list of at most ${LIMITS.connectionMfaValuesMax} values`
const mfaValues = v.pipe(
  v.array(field, VALUES_WISH),
  v.maxLength(LIMITS.connectionMfaValuesMax, VALUES_WISH),
)

const { samlGroupsMappedMax: groupsMax } = LIMITS
const GROUPS_WISH = `a list of at most ${groupsMax} objects with a value and a group`
const GROUP_WISH = 'the name of one of your groups'
export const mappedGroups = v.pipe(
  v.array(
    v.strictObject(
      { value: field, group: v.pipe(v.string(GROUP_WISH), v.regex(GROUP_NAME, GROUP_WISH)) },
      GROUPS_WISH,
    ),
    GROUPS_WISH,
  ),
  v.maxLength(groupsMax, GROUPS_WISH),
)

export const SETTINGS = {
  name: described(
    text('text', LIMITS.connectionNameCharactersMax),
    'On the sign-in page: "Continue with NAME".',
  ),
  issuer: described(
    field,
    'As the provider writes it. For `entra`: `https://login.microsoftonline.com/` with your directory ID and `/v2.0`. For `github`: `https://github.com`, or your GitHub Enterprise Server.',
  ),
  client_id: field,
  client_secret: described(secret, 'Never shown again.'),
  hosted_domain: described(
    v.nullable(field),
    '`google` only, and required there: your Google Workspace domain.',
  ),
  organization: described(
    v.nullable(field),
    '`github` only: the organization whose members can sign in. null only where no accounts are created, or on your own GitHub Enterprise Server.',
  ),
  signs_out: described(
    flag,
    'People who sign out are sent to the provider to sign out there as well, if it names an `end_session_endpoint`.',
  ),
  creates_people: described(flag, 'New people get an account when they first sign in.'),
  mfa_values: described(
    mfaValues,
    'Values of `amr` or `acr` that count as a second factor here. By default none does.',
  ),
  attributes: mappedAttributesField,
  groups_claim: described(
    v.nullable(field),
    'The claim of the ID token that names groups. null: groups are not taken from the provider.',
  ),
  groups: described(mappedGroups, 'Which value of `groups_claim` means which group here.'),
}

export const NewConnectionBody = v.strictObject({
  ...SETTINGS,
  preset: oneOf(CLIENT_PRESETS),
  hosted_domain: v.optional(SETTINGS.hosted_domain, null),
  organization: v.optional(SETTINGS.organization, null),
  signs_out: v.optional(SETTINGS.signs_out, false),
  creates_people: v.optional(SETTINGS.creates_people, true),
  mfa_values: v.optional(SETTINGS.mfa_values, []),
  attributes: v.optional(SETTINGS.attributes, []),
  groups_claim: v.optional(SETTINGS.groups_claim, null),
  groups: v.optional(SETTINGS.groups, []),
})

export const ConnectionPatchBody = v.partial(v.strictObject(SETTINGS))

export const ConnectionAnswer = v.strictObject({
  connection_id: v.string(),
  tenant_id: v.string(),
  preset: v.picklist(CONNECTION_PRESETS),
  name: v.string(),
  issuer: described(v.string(), 'For `saml`: the entity ID of the provider.'),
  client_id: described(v.string(), 'Empty for `saml`.'),
  hosted_domain: v.nullable(v.string()),
  organization: v.nullable(v.string()),
  signs_out: v.boolean(),
  creates_people: v.boolean(),
  mfa_values: v.array(v.string()),
  attributes: MappedAttributesAnswer,
  groups_claim: described(v.nullable(v.string()), 'null for `saml`, which has `groups_attribute`.'),
  groups: v.array(v.strictObject({ value: v.string(), group: v.string() })),
  redirect_uri: described(
    v.string(),
    'Enter it at the provider, exactly like this. For `saml`: the ACS URL.',
  ),
  post_logout_redirect_uri: described(
    v.nullable(v.string()),
    'With `signs_out`: enter it at the provider as an address that people return to. `null` where the provider offers no sign-out.',
  ),
  back_channel_logout_uri: described(
    v.nullable(v.string()),
    'Enter it at a provider that speaks OpenID Connect Back-Channel Logout: sessions that it ends are ended here. `null` for `github` and `saml`.',
  ),
  state: described(
    v.picklist(CONNECTION_STATES),
    '`draft` until someone has completed a test sign-in with these settings. Only an `active` one is on the sign-in page.',
  ),
  tested_at: described(v.nullable(time), 'null: not with these settings.'),
  created_at: time,
  updated_at: time,
})

export const IdentityAnswer = v.strictObject({
  connection_id: v.string(),
  name: described(v.string(), 'Of the connection.'),
  issuer: v.string(),
  subject: described(v.string(), 'What the provider calls them.'),
  created_at: time,
})

export const ConnectionTestAnswer = v.strictObject({
  test_url: described(v.string(), 'Open it in a browser and sign in at the provider.'),
  expires_at: time,
})
