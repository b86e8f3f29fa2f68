/** Other applications that sign in by a tenant's realm, as they are sent and answered. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { readReceiverUrl } from '../outbound/public-address.ts'
import { described, time } from './described.ts'
import { flag, name } from './fields.ts'

const ADDRESS_WISH = 'an https:// address without user name and fragment'
const address = v.pipe(v.string(ADDRESS_WISH), v.check(isAddress, ADDRESS_WISH))
const LIST_WISH = `a list of at most ${LIMITS.realmClientAddressesMax} https:// addresses`
const addresses = v.pipe(
  v.array(address, LIST_WISH),
  v.maxLength(LIMITS.realmClientAddressesMax, LIST_WISH),
)
const SOME_WISH = `${LIST_WISH}, and at least one`

export const NewRealmClientBody = v.strictObject({
  name: described(name, 'For the list and the audit trail.'),
  redirect_uris: described(
    v.pipe(addresses, v.minLength(1, SOME_WISH)),
    'Where people return to. Compared character by character.',
  ),
  post_logout_redirect_uris: described(
    v.optional(addresses, []),
    'Where people return to who have signed out.',
  ),
  backchannel_logout_uri: described(
    v.optional(v.nullable(address), null),
    'Where it hears of sessions that have ended, at a public address. null: nowhere.',
  ),
  is_told_groups: described(
    v.optional(flag, false),
    'Its tokens hold `groups`, the names of the groups that a person is in.',
  ),
})

export const RealmClientAnswer = v.strictObject({
  client_id: v.string(),
  name: v.string(),
  redirect_uris: v.array(v.string()),
  post_logout_redirect_uris: v.array(v.string()),
  backchannel_logout_uri: v.nullable(v.string()),
  is_told_groups: v.boolean(),
  issuer: described(
    v.string(),
    'Where the application finds all else, by OpenID Connect Discovery.',
  ),
  created_at: time,
})

export const NewRealmClientAnswer = v.strictObject({
  ...RealmClientAnswer.entries,
  client_secret: described(v.string(), 'Never shown again.'),
})

/** Compared as it stands: a star would stand for itself. */
function isAddress(text: string): boolean {
  try {
    return !readReceiverUrl(text).hostname.includes('*')
  } catch {
    return false
  }
}
