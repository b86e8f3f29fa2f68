/**
 * What tenants are told of by webhooks: each event with the operation behind it, what its `data`
 * holds, and an example. `change.emit` is typed by this table, `/api/v1/events` shows it. No data
 * holds a secret or a token: it goes to other people's servers, and lies in their logs.
 */
import * as v from 'valibot'

const described = <Schema extends v.GenericSchema>(schema: Schema, description: string) =>
  v.pipe(schema, v.description(description))

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const time = v.pipe(v.string(), v.isoTimestamp())
const subject = described(v.string(), 'The ID of the user.')
const sid = described(v.string(), 'The ID of the session.')
const ip = described(v.string(), 'The IP address of the client.')

interface EventDefinition {
  /** Completes «Sent when …». */
  readonly sentWhen: string
  /** What in this service sends it. */
  readonly sentBy: string
  readonly data: v.GenericSchema
  readonly example: unknown
}

const policyUpdated = v.strictObject({
  settings: described(
    v.record(v.string(), v.unknown()),
    'The new policy, without lists of more than a few entries.',
  ),
  changed: described(v.array(v.string()), 'The settings that changed.'),
  lists: v.optional(
    described(
      v.record(
        v.string(),
        v.strictObject({
          count: described(count, 'How many entries the list has now.'),
          added: described(v.array(v.unknown()), 'The first few entries that were added.'),
          added_count: count,
          removed: described(v.array(v.unknown()), 'The first few entries that were removed.'),
          removed_count: count,
        }),
      ),
      'For each list that changed, the entries added and removed.',
    ),
  ),
})

const policyEvent = <const Example extends v.InferInput<typeof policyUpdated>>(
  policy: string,
  example: Example,
) => ({
  sentWhen: `${policy} policy changed.`,
  sentBy: 'Someone sets the policy.',
  data: policyUpdated,
  example,
})

const sessionMoved = v.strictObject({
  subject: v.optional(subject),
  sid: v.optional(sid),
  reason: v.optional(v.string()),
  ip: v.optional(ip),
  app_host: v.optional(described(v.string(), 'The hostname of the application.')),
})

const tenantState = <const Status extends string>(status: Status) =>
  v.strictObject({ status: v.literal(status) })

export const EVENTS = {
  'alert.triggered': {
    sentWhen: 'A configured threshold alert has tripped.',
    sentBy: 'A metric reaches its threshold within its window; once per crossing.',
    data: v.strictObject({
      alert_id: v.string(),
      metric: v.string(),
      threshold: described(v.number(), 'The configured threshold.'),
      value: described(v.number(), 'The count within the window.'),
      window_seconds: count,
      at: time,
    }),
    example: {
      alert_id: 'alert_0d5f3c1b9a7e4c62b8f1a3d5e7091b2c',
      metric: 'refused_sign_ins',
      threshold: 100,
      value: 104,
      window_seconds: 300,
      at: '2026-03-02T09:30:00.000Z',
    },
  },
  'credentials.updated': {
    sentWhen: 'Database credentials changed.',
    sentBy: "Someone sets or removes the tenant's user directory.",
    data: v.strictObject({
      change: v.picklist(['set', 'removed']),
      kind: described(v.string(), 'The kind of database.'),
      host: v.string(),
      port: count,
      database: v.string(),
      username: described(v.string(), 'The database user of the service; never the password.'),
    }),
    example: {
      change: 'set',
      kind: 'postgres',
      host: 'db.acme.example',
      port: 5432,
      database: 'app',
      username: 'sign_in',
    },
  },
  'ip.block.lifted': {
    sentWhen: 'An IP block was lifted.',
    sentBy: 'An operator lifts the block of an IP address.',
    data: v.strictObject({
      address: described(v.string(), 'The IP address or network that can try again.'),
      failures: described(count, 'How many failed sign-ins led to the block.'),
    }),
    example: { address: '192.0.2.7', failures: 100 },
  },
  'licence.changed': {
    sentWhen: 'Licence state changed.',
    sentBy: 'Someone sets the license of the tenant, or a configured date is reached.',
    data: v.strictObject({
      state: v.picklist(['active', 'grace', 'expired']),
      blocks_signin: described(v.boolean(), 'Whether new sign-ins are refused because of it.'),
    }),
    example: { state: 'grace', blocks_signin: false },
  },
  'monitoring.digest': {
    sentWhen: 'Weekly summary of what the policy decided.',
    sentBy: "Mondays at 9 a.m. in the tenant's time zone, about the past week.",
    data: v.strictObject({
      from: time,
      to: time,
      time_zone: v.string(),
      outcomes: described(v.record(v.string(), count), 'How often each outcome occurred.'),
      reasons: described(v.record(v.string(), count), 'How often each reason occurred.'),
    }),
    example: {
      from: '2026-02-22T23:00:00.000Z',
      to: '2026-03-01T23:00:00.000Z',
      time_zone: 'Europe/Berlin',
      outcomes: { forwarded: 91_204, signed_in: 1840, step_up: 212, denied: 17 },
      reasons: { second_factor_needed: 212, network_denied: 12, user_paused: 5 },
    },
  },
  'policy.device.updated': policyEvent('Device', {
    settings: {
      require: 'enrolled',
      notify_new: true,
      mode: 'enforce',
      grace_days: 7,
      owner: 'anyone',
      approved: false,
      key_storage: 'any',
      facts: ['disk_encrypted', 'firewall'],
      unknown: 'fail',
      min_os: { ubuntu: '24.04' },
      min_agent: null,
      fresh_hours: 24,
      typed_code: false,
      break_glass: [],
      on_violation: 'end_sessions',
    },
    changed: ['require', 'grace_days', 'facts', 'min_os', 'fresh_hours', 'on_violation'],
  }),
  'policy.lockout.updated': policyEvent('Lockout', {
    settings: {
      user_failures: 5,
      address_failures: 100,
      window_seconds: 900,
      pause_seconds: 900,
    },
    changed: ['user_failures'],
  }),
  'policy.mfa.updated': policyEvent('Multi-factor', {
    settings: { mode: 'required', risks: ['new_device', 'new_network'] },
    changed: ['mode'],
  }),
  'policy.network.updated': policyEvent('Network', {
    settings: { allow: ['192.0.2.0/24'], deny: [] },
    changed: ['allow'],
    lists: {
      allow: {
        count: 1,
        added: ['192.0.2.0/24'],
        added_count: 1,
        removed: [],
        removed_count: 0,
      },
    },
  }),
  'policy.password.updated': policyEvent('Password', {
    settings: {
      sign_in: 'everyone',
      break_glass: [],
      email_sign_in: false,
      sign_up: 'off',
      sign_up_domains: [],
      sign_up_groups: [],
      min_length: 12,
      min_strength: 3,
      refuse_breached: true,
      history: 5,
      max_age_days: null,
    },
    changed: ['min_length', 'history'],
  }),
  'policy.session.updated': policyEvent('Session', {
    settings: {
      max_session_seconds: 14_400,
      idle_seconds: 900,
      session_binding: 'step_up',
      concurrent_max: null,
      when_full: 'end_oldest',
    },
    changed: ['max_session_seconds'],
  }),
  'session.revoked': {
    sentWhen: 'Sessions were revoked for a user.',
    sentBy:
      'Someone revokes one session, those of a user or all of them, or makes a change that ends ' +
      'sessions, such as a new password or deleting a user.',
    data: v.strictObject({
      all: v.optional(described(v.literal(true), 'Every session of the tenant.')),
      subject: v.optional(subject),
      sid: v.optional(sid),
      not_before: described(count, 'Epoch seconds: sessions issued earlier are invalid.'),
      sessions: described(count, 'How many active sessions this ended.'),
      reason: v.string(),
    }),
    example: {
      subject: 'usr_1b9f6c1e2d3a4b5c',
      not_before: 1_772_443_801,
      sessions: 2,
      reason: 'revoked',
    },
  },
  'session.terminated': {
    sentWhen: 'A session was terminated.',
    sentBy: 'A gateway or middleware sees a session on another device or network.',
    data: sessionMoved,
    example: {
      subject: 'usr_1b9f6c1e2d3a4b5c',
      sid: 'c2Vzc2lvbg',
      reason: 'binding_terminate',
      ip: '192.0.2.7',
      app_host: 'app.acme.example',
    },
  },
  'signin.denied': {
    sentWhen: 'A sign-in was refused by policy.',
    sentBy: 'Someone tries to sign in; identical attempts count once a minute.',
    data: v.strictObject({
      subject: v.optional(described(v.string(), 'The user, if the username belongs to one.')),
      reason: described(v.string(), 'The policy that refused, and why.'),
      ip,
    }),
    example: { subject: 'usr_1b9f6c1e2d3a4b5c', reason: 'network_denied', ip: '192.0.2.7' },
  },
  'signin.step_up': {
    sentWhen: 'A sign-in required additional verification.',
    sentBy:
      'A sign-in needs a second factor, or a gateway or middleware ' +
      'asks for one because a session moved.',
    data: sessionMoved,
    example: { subject: 'usr_1b9f6c1e2d3a4b5c', reason: 'second_factor_needed', ip: '192.0.2.7' },
  },
  'tenant.activated': {
    sentWhen: 'The tenant was reactivated.',
    sentBy: 'Someone activates a suspended tenant.',
    data: tenantState('published'),
    example: { status: 'published' },
  },
  'tenant.suspended': {
    sentWhen: 'The tenant was suspended.',
    sentBy: 'Someone suspends a tenant.',
    data: tenantState('suspended'),
    example: { status: 'suspended' },
  },
} as const satisfies Record<string, EventDefinition>

export type EventName = keyof typeof EVENTS
export type EventData<Name extends EventName> = v.InferInput<(typeof EVENTS)[Name]['data']>

export const EVENT_NAMES = Object.keys(EVENTS) as EventName[]
