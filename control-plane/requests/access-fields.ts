/** Groups and rules, as they are sent and answered. */
import * as v from 'valibot'
import { GROUP_NAME, SERVICE_ID } from '../../shared/fleet/access-rules.ts'
import { HOSTNAME } from '../../shared/hosts.ts'
import { LIMITS } from '../../shared/limits.ts'
import { isAddress } from '../../shared/networks.ts'
import { count, time } from './described.ts'
import { flag, text, whole } from './fields.ts'

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

const PATH_WISH = 'a path as a browser sends it, like /reports/2026'
const IP_WISH = 'an IP address'
const METHOD_WISH = 'a method like GET'
const HOST_WISH = 'a hostname'
const TIME_WISH = 'a time like 2026-11-01T14:00:00Z'
const SERVICE_WISH = 'the id of a machine, like svc_0123456789abcdef'
const WHOSE_WISH = 'a person or a machine: one of user_id and service_id'

/** Who can open this path? */
export const AccessQuestionFields = {
  path: v.pipe(
    v.string(PATH_WISH),
    v.regex(/^\/[!-~]*$/, PATH_WISH),
    v.maxLength(LIMITS.accessPathAskedMax, PATH_WISH),
  ),
  host: v.optional(v.pipe(v.string(HOST_WISH), v.regex(HOSTNAME, HOST_WISH))),
  method: v.optional(v.pipe(v.string(METHOD_WISH), v.regex(/^[A-Z-]{1,20}$/, METHOD_WISH)), 'GET'),
  user_id: v.optional(text('the id of a user', 200)),
  service_id: v.optional(v.pipe(v.string(SERVICE_WISH), v.regex(SERVICE_ID, SERVICE_WISH))),
  /** Left out: not known, so that no network has it. */
  ip: v.optional(v.pipe(v.string(IP_WISH), v.check(isAddress, IP_WISH))),
  second_factor: v.optional(flag, false),
  signed_in_seconds_ago: v.optional(whole(0, LIMITS.ruleAgeSecondsMax, ' of seconds'), 300),
  at: v.optional(v.nullable(v.pipe(v.string(TIME_WISH), v.isoTimestamp(TIME_WISH)))),
}
export const AccessQuestionBody = v.pipe(
  v.strictObject(AccessQuestionFields),
  v.check(
    ({ user_id, service_id }) => (user_id === undefined) !== (service_id === undefined),
    WHOSE_WISH,
  ),
)
