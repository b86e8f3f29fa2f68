/** Tenants as operators write them, and under the names that the inside uses. */
import * as v from 'valibot'
import { excludedProblem, normalPrefix } from '../../shared/enforcement/path.ts'
import { LIMITS } from '../../shared/limits.ts'
import { LICENCES, MODES, PLANS, SESSION_BINDINGS, TENANT_ID } from '../../shared/fleet/snapshot.ts'
import { endsInNumber, HOSTNAME } from '../../shared/hosts.ts'
import { timeZoneNamed } from '../monitoring/weeks.ts'
import { isReserved } from '../store/reserved.ts'
import type { LicenceInput } from '../tenants/licences.ts'
import { LOGO_PIXELS_MAX, logoPixels } from '../tenants/logo.ts'
import type { NewTenant } from '../tenants/tenants.ts'
import { described } from './described.ts'
import { fromOutside } from './field-names.ts'
import { flag, name, oneOf, whole } from './fields.ts'
import { moment } from './monitoring-fields.ts'

const seconds = whole(1, LIMITS.sessionSecondsMax, ' of seconds')

const TENANT_ID_WISH = 'lowercase letters, digits and inner dashes, at most 63 characters'
const tenantId = v.pipe(
  v.string(TENANT_ID_WISH),
  v.regex(TENANT_ID, TENANT_ID_WISH),
  v.check((value) => !isReserved(value), 'an id that is not reserved'),
)

const HOSTNAME_WISH = 'DNS names like app.example.com'
const hostname = v.pipe(
  v.string(HOSTNAME_WISH),
  v.toLowerCase(),
  v.regex(HOSTNAME, HOSTNAME_WISH),
  v.check((value) => !endsInNumber(value), HOSTNAME_WISH),
)
const hostnames = v.pipe(
  v.array(hostname, 'a list of DNS names'),
  v.maxLength(LIMITS.hostnamesPerTenantMax, `at most ${LIMITS.hostnamesPerTenantMax} names`),
)

const ORIGIN_WISH = 'an address like http://10.0.0.5:3000, without a path'
/** Checked before `new URL`, which forgives spaces, backslashes and missing slashes. */
const origin = v.pipe(
  v.string(ORIGIN_WISH),
  v.maxLength(LIMITS.originCharactersMax, ORIGIN_WISH),
  v.regex(/^https?:\/\/(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[1-9]\d{0,4})?\/?$/i, ORIGIN_WISH),
  v.check((value) => URL.canParse(value), ORIGIN_WISH),
  v.transform((value) => new URL(value).origin),
)

const PREFIX_WISH =
  'plain paths that begin with "/": no query, no escapes, no dot segments, no "//"'
const path = v.pipe(
  v.string(PREFIX_WISH),
  v.maxLength(LIMITS.pathPrefixBytesMax, PREFIX_WISH),
  v.check((value) => normalPrefix(value) !== undefined, PREFIX_WISH),
)
const prefix = v.pipe(
  path,
  v.transform((value) => normalPrefix(value) ?? value),
)
const excludedPrefix = v.pipe(
  prefix,
  v.check(
    (value) => excludedProblem(value) === undefined,
    ({ input }) => excludedProblem(input) ?? PREFIX_WISH,
  ),
)

function prefixesOf<Each extends typeof prefix | typeof excludedPrefix>(each: Each) {
  return v.pipe(
    v.array(each, 'a list of paths'),
    v.maxLength(
      LIMITS.pathPrefixesPerTenantMax,
      `at most ${LIMITS.pathPrefixesPerTenantMax} paths`,
    ),
    v.transform((values) => [...new Set(values)]),
  )
}

const TIME_ZONE_WISH = 'a time zone like Europe/Berlin'
const timeZone = v.pipe(
  v.string(TIME_ZONE_WISH),
  v.maxLength(LIMITS.timeZoneCharactersMax, TIME_ZONE_WISH),
  v.check((value) => timeZoneNamed(value) !== undefined, TIME_ZONE_WISH),
  v.transform((value) => timeZoneNamed(value) ?? value),
)

const COLOUR_WISH = 'a color like #1f45ae'
const colour = v.nullable(
  v.pipe(v.string(COLOUR_WISH), v.regex(/^#[0-9a-f]{6}$/i, COLOUR_WISH), v.toLowerCase()),
)

/** SVG is a document with scripts and links, so it is not among the pictures that we show. */
const LOGO_WISH = `a PNG, JPEG or WebP image of at most ${LIMITS.brandLogoBytesMax} bytes and ${LOGO_PIXELS_MAX} pixels each way`
const logo = v.nullable(
  v.pipe(
    v.string(LOGO_WISH),
    v.maxLength(Math.ceil(LIMITS.brandLogoBytesMax / 3) * 4, LOGO_WISH),
    v.base64(LOGO_WISH),
    v.check((value) => {
      const bytes = Buffer.from(value, 'base64')
      const { width = 0, height = 0 } = logoPixels(bytes) ?? {}
      const isSeen = Math.min(width, height) > 0
      const isSmall = Math.max(width, height) <= LOGO_PIXELS_MAX
      return bytes.length <= LIMITS.brandLogoBytesMax && isSeen && isSmall
    }, LOGO_WISH),
  ),
)

const LOGOUT_URI_WISH = 'an http:// or https:// address, or null'
const logoutUri = v.pipe(
  v.string(LOGOUT_URI_WISH),
  v.maxLength(LIMITS.originCharactersMax, LOGOUT_URI_WISH),
  v.regex(/^https?:\/\/[^\s\\@#]+$/i, LOGOUT_URI_WISH),
  v.check((value) => URL.canParse(value), LOGOUT_URI_WISH),
  v.transform((value) => new URL(value).href),
)

const settings = {
  name,
  mode: described(
    oneOf(MODES),
    'Where access is enforced: at the gateway, or inside the application.',
  ),
  hostnames: described(
    hostnames,
    'The public hostnames of the application; at least one, except in sdk mode.',
  ),
  origin: described(origin, `Where the application runs: ${ORIGIN_WISH}.`),
  sealed: described(
    prefixesOf(prefix),
    'Paths that return 404 as if they did not exist: a page, everything below it, and its other names (/admin.json, /index.php/admin).',
  ),
  excluded: described(
    prefixesOf(excludedPrefix),
    'Paths served without a session. Not /_next, which holds the data of pages: use /_next/static.',
  ),
  health: described(path, 'Where the application reports healthy and answers probes.'),
  max_session_seconds: described(seconds, 'Maximum session length.'),
  idle_seconds: described(seconds, 'Idle timeout of a session.'),
  session_binding: described(
    oneOf(SESSION_BINDINGS),
    'What happens when a session is used from another browser or network.',
  ),
}

export const NewTenantBody = v.strictObject({
  tenant_id: tenantId,
  name: v.optional(settings.name),
  mode: v.optional(settings.mode, 'gateway'),
  plan: v.optional(oneOf(PLANS), 'free'),
  hostnames: v.optional(settings.hostnames, []),
  origin: settings.origin,
  sealed: v.optional(settings.sealed, []),
  excluded: v.optional(settings.excluded, []),
  health: v.optional(settings.health, '/health'),
  max_session_seconds: v.optional(settings.max_session_seconds, 28_800),
  idle_seconds: v.optional(settings.idle_seconds, 900),
  session_binding: v.optional(settings.session_binding, 'off'),
  time_zone: v.optional(timeZone, 'UTC'),
})

export const TenantPatchBody = v.partial(
  v.strictObject({
    ...settings,
    time_zone: timeZone,
    brand_colour: described(colour, 'Color of the sign-in pages; null: the default.'),
    brand_logo: described(logo, `${LOGO_WISH}, in base64; null: none.`),
    backchannel_logout_uri: v.nullable(logoutUri),
  }),
)

export const LicenceBody = v.strictObject({
  state: oneOf(LICENCES),
  blocks_signin: v.optional(flag, false),
  grace_from: v.optional(
    v.nullable(moment('When the grace period of an active license starts; null: never.')),
  ),
  expires_at: v.optional(v.nullable(moment('When it expires; null: never.'))),
  blocks_signin_when_expired: v.optional(
    v.pipe(flag, v.description('Whether new sign-ins are refused after it expires.')),
    false,
  ),
})
export const PlanBody = v.strictObject({ plan: oneOf(PLANS) })

/** What was checked by `NewTenantBody`, under the names that the inside uses. */
export function toNewTenant(body: v.InferOutput<typeof NewTenantBody>): NewTenant {
  return { ...fromOutside(body), name: body.name ?? body.tenant_id }
}

export function toLicence(body: v.InferOutput<typeof LicenceBody>): LicenceInput {
  return {
    state: body.state,
    blocksSignin: body.blocks_signin,
    graceFrom: msOf(body.grace_from),
    expiresAt: msOf(body.expires_at),
    expiryBlocks: body.blocks_signin_when_expired,
  }
}

const msOf = (time: string | null | undefined) => (time == null ? null : Date.parse(time))
