/** Groups and rules, as they are sent and answered. */
import * as v from 'valibot'
import { GROUP_NAME } from '../../shared/fleet/access-rules.ts'
import { count, time } from './described.ts'
import { text } from './fields.ts'

const NAME_WISH = 'a name of 1 to 64 letters, digits, spaces, dots, dashes and underscores'

export const NewGroupBody = v.strictObject({
  name: v.pipe(v.string(NAME_WISH), v.regex(GROUP_NAME, NAME_WISH)),
  description: v.optional(text('text', 200)),
})

export const GroupAnswer = v.strictObject({
  name: v.string(),
  description: v.string(),
  members: count,
  created_at: time,
})

export const MemberAnswer = v.strictObject({
  user_id: v.string(),
  source: v.string(),
  created_at: time,
})
