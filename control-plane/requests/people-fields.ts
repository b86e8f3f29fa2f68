/** People, as operators and administrators write them; and whose sessions end. */
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import { TENANT_ID } from '../../shared/fleet/snapshot.ts'
import { isEmailAddress } from '../accounts/email-address.ts'
import { described } from './described.ts'
import { flag, name, text } from './fields.ts'

const EMAIL_WISH = 'an email address'
export const email = v.pipe(
  v.string(EMAIL_WISH),
  v.maxLength(LIMITS.emailCharactersMax, EMAIL_WISH),
  v.check(isEmailAddress, EMAIL_WISH),
)
const PASSWORD_WISH = `text of at least ${LIMITS.passwordCharactersMin} characters and at most ${LIMITS.passwordBytesMax} bytes`
const password = v.pipe(
  v.string(PASSWORD_WISH),
  v.check((value) => [...value].length >= LIMITS.passwordCharactersMin, PASSWORD_WISH),
  v.maxBytes(LIMITS.passwordBytesMax, PASSWORD_WISH),
  v.check((value) => value.isWellFormed(), PASSWORD_WISH),
)
const username = v.pipe(
  text('text', LIMITS.usernameCharactersMax),
  v.check((value) => value === value.trim(), 'text without leading or trailing spaces'),
)

export const NewUserBody = v.strictObject({
  username,
  email,
  name: v.optional(name),
  password: v.optional(password),
  invite: v.optional(flag, false),
})
const readOnly = v.optional(
  described(flag, 'Sees everything but secrets, and changes nothing.'),
  false,
)

/** Nothing is left out: whoever is made read-only by accident loses what they have sent. */
export const ConsoleRoleBody = v.strictObject({
  read_only: described(flag, 'Sees everything but secrets, and changes nothing.'),
})

/** Of a colleague the address, and what they may do: the rest they say themselves. */
export const ColleagueBody = v.strictObject({ email, read_only: readOnly })
export const UserPatchBody = v.partial(
  v.strictObject({ username, email, name, password, disabled: flag }),
)

const ID_WISH = 'an id of 1 to 200 printable characters'
const id = v.pipe(v.string(ID_WISH), v.regex(/^[\x21-\x7e]{1,200}$/, ID_WISH))
export const RevocationBody = v.strictObject({
  all: v.optional(v.literal(true, 'true')),
  subject: v.optional(id),
  sid: v.optional(id),
})

export const OF_TENANT = v.optional(
  described(
    v.pipe(v.string('the id of a tenant'), v.regex(TENANT_ID, 'the id of a tenant')),
    'Whose administrators are meant; left out: the operators.',
  ),
)

export const InvitationBody = v.strictObject({
  email: NewUserBody.entries.email,
  name: NewUserBody.entries.name,
  tenant_id: OF_TENANT,
  read_only: readOnly,
})
