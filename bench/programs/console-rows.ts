/**
 * Fills a database that the control plane has made: what is there once is multiplied by SQL, since
 * ten thousand tenants by way of the API would take the hours that it takes to make their keys.
 */
import Database from 'better-sqlite3'

export interface Amounts {
  readonly tenants: number
  readonly signIns: number
  readonly decisions: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Half of what is recorded is of one tenant, which is the one that is looked at. */
export function fill(file: string, tenantId: string, { tenants, signIns, decisions }: Amounts) {
  const database = new Database(file)
  database.pragma('synchronous = OFF')
  const nowMs = Date.now()
  const facts = JSON.stringify(FACTS)
  const values = { id: tenantId, now: nowMs, facts, tenants, signIns, decisions }
  const people = Math.min(100_000, signIns)
  const sessions = Math.min(200_000, signIns)
  const told = Math.min(200_000, decisions)
  const audited = Math.min(300_000, decisions)
  const deliveries = Math.min(100_000, decisions)

  const numbers = (count: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`
  const run = (sql: string) => database.prepare(sql).run(bound(sql, values))
  const copies = (table: string, count: number, changed: Readonly<Record<string, string>>) => {
    const columns = database.pragma(`table_info(${table})`) as { name: string }[]
    const selected = columns.map(({ name }) => changed[name] ?? `${table}.${name}`)
    run(
      `${numbers(count)} INSERT INTO ${table} SELECT ${selected.join(', ')}
       FROM ${table}, n WHERE ${table}.tenant_id = :id`,
    )
  }
  const other = `printf('bench-%05d', i)`
  /** Every second row is of the tenant that is looked at, the others are spread. */
  const spread = `CASE i % 2 WHEN 0 THEN :id ELSE printf('bench-%05d', i % :tenants) END`

  database.exec('BEGIN')
  copies('tenants', tenants, {
    tenant_id: other,
    name: `'Bench ' || i`,
    analyzer_key_hash: `'hash-' || i`,
    client_secret_hash: `'hash-' || i`,
    revision: 'tenants.revision + 1 + i',
    number: 'tenants.number + 1 + i',
  })
  copies('tenant_hostnames', tenants, { tenant_id: other, hostname: `${other} || '.example'` })
  copies('signing_keys', tenants, { tenant_id: other, kid: `'kid-' || i` })
  run(`UPDATE counters SET value = value + ${tenants + 1} WHERE name IN ('revision', 'tenant')`)
  copies('users', people, {
    user_id: `'user-' || i`,
    username: `'user-' || i`,
    username_key: `'user-' || i`,
    email: `'user-' || i || '@example.test'`,
    email_key: `'user-' || i || '@example.test'`,
    name: `'User ' || i`,
  })
  const age = (spanMs: number, count: string) => `:now - (i * (${spanMs} / ${count}))`
  run(`${numbers(signIns)} INSERT INTO sign_ins (sign_in_id, tenant_id,
    at, user_id, login_hash, ip, counted_as, user_agent, is_failure, is_known_device, outcome, reason, facts)
    SELECT 'sign-in-' || i, ${spread},
    ${age(30 * DAY_MS, ':signIns')}, 'user-' || (i % ${people}), 'login-' || (i % ${people}),
    '198.51.' || (i / 256 % 256) || '.' || (i % 256), '198.51.' || (i / 256 % 256) || '.' || (i % 256),
    'Mozilla/5.0', 0, 1, CASE i % 50 WHEN 3 THEN 'refused' ELSE 'signed_in' END,
    CASE i % 50 WHEN 3 THEN 'network_denied' ELSE 'signed_in' END, :facts FROM n`)
  run(`${numbers(decisions)} INSERT INTO enforcement_events (tenant_id, sequence, at,
    outcome, subject, sid, reason, ip, app_host, instance, path)
    SELECT ${spread}, i, :now - ((:decisions - i) * (${30 * DAY_MS} / :decisions)),
    CASE i % 4 WHEN 0 THEN 'sealed' WHEN 1 THEN 'logout' WHEN 2 THEN 'step_up' ELSE 'terminate' END,
    'user-' || (i % ${people}), 'sid-' || i, 'binding', '198.51.100.' || (i % 256), 'app.example',
    'edge-1', '/' FROM n`)
  run(`${numbers(sessions)} INSERT INTO sessions (sid, tenant_id, user_id, ip,
    user_agent, created_at, issued_at, expires_at, last_seen_at) SELECT 'sid-' || i, ${spread}, 'user-' || (i % ${people}),
    '198.51.100.' || (i % 256), 'Mozilla/5.0', :now - i * 100, :now - i * 100,
    CASE i % 3 WHEN 0 THEN :now - i ELSE :now + ${8 * HOUR_MS} - i * 10 END, :now - i FROM n`)
  run(`${numbers(told)} INSERT INTO outbox SELECT 1000000 + i, 'event-' || i, ${spread},
    CASE i % 3 WHEN 0 THEN 'signin.denied' WHEN 1 THEN 'signin.step_up' ELSE 'session.terminated' END,
    '{"subject":"user-' || (i % ${people}) || '","reason":"network_denied","ip":"198.51.100.7"}',
    :now - (${told} - i) * 2000 FROM n`)
  run(`${numbers(audited)} INSERT INTO audit (sequence, at, actor, action, tenant_id,
    content, request_id, tenant_number) SELECT 1000000 + i, :now - (${audited} - i) * 5000, 'operator',
    'tenant.changed', ${spread}, '{"name":["a","b"]}', 'request-' || i,
    (SELECT number FROM tenants WHERE tenant_id = ${spread}) FROM n`)
  // a delivery each for what the one webhook was told of
  run(`${numbers(deliveries)} INSERT INTO webhook_deliveries (delivery_id, webhook_id,
    tenant_id, event, body, is_test, state, problem, attempts, next_at, lease_owner, lease_until,
    replayed_from, created_at, updated_at)
    SELECT 'delivery-' || i, webhook_id, tenant_id, 'signin.denied', '{}', 0,
    CASE i % 20 WHEN 0 THEN 'pending' WHEN 1 THEN 'failed' ELSE 'delivered' END, NULL, 1,
    :now + ${DAY_MS}, NULL, NULL, NULL, :now - i * 5000, :now - i * 5000 FROM webhooks, n
    WHERE webhooks.tenant_id = :id`)
  run(`${numbers(deliveries)} INSERT INTO webhook_attempts SELECT 'delivery-' || i, 1, :id,
    :now - i * 5000, 200, 12, 'ok', '' FROM n`)

  // a dozen outcomes and reasons for every minute, hour and day of the one tenant, and of all
  const kinds = `SELECT 'edge' AS source, column1 AS outcome, column2 AS reason FROM (VALUES
    ('forwarded', 'session'), ('forwarded', 'excluded'), ('sign_in', 'no_session'),
    ('sign_in', 'idle'), ('sealed', 'sealed'), ('refused', 'path_unreadable'),
    ('terminate', 'binding_terminate'), ('step_up', 'binding_step_up'))
    UNION ALL SELECT 'realm', column1, column2 FROM (VALUES ('signed_in', ''),
    ('failed', 'credentials_wrong'), ('denied', 'network_denied'), ('step_up', 'second_factor_needed'))`
  for (const [step, ms, count] of [
    ['minute', MINUTE_MS, 1500],
    ['hour', HOUR_MS, 336],
    ['day', DAY_MS, 400],
  ] as const) {
    const at = `(:now - :now % ${ms}) - i * ${ms}`
    run(`${numbers(count)} INSERT INTO figures SELECT :id, '${step}', ${at}, source, outcome, reason,
      1 + (i * 7919) % 5000 FROM n, (${kinds})`)
    run(`${numbers(count)} INSERT INTO service_figures SELECT '${step}', ${at}, source, outcome,
      reason, 1 + (i * 7919) % 500000 FROM n, (${kinds})`)
  }
  run(
    `${numbers(tenants)} INSERT INTO figures SELECT ${other}, 'hour',
    (:now - :now % ${HOUR_MS}) - hours.i * ${HOUR_MS}, source, outcome, reason, 1 + n.i % 100
    FROM n, (${numbers(24)} SELECT i FROM n) AS hours, (${kinds}) WHERE outcome IN ('forwarded', 'sealed')`.replaceAll(
      "printf('bench-%05d', i)",
      "printf('bench-%05d', n.i)",
    ),
  )
  for (const [step, ms] of [
    ['hour', HOUR_MS],
    ['day', DAY_MS],
  ] as const)
    run(`${numbers(tenants)} INSERT INTO tenant_refusals SELECT ${other}, '${step}',
      :now - :now % ${ms}, 1 + (i * 7919) % 100000 FROM n`)
  database.exec('COMMIT')
  const [{ bytes } = { bytes: 0 }] = database
    .prepare<[], { bytes: number }>(
      'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
    )
    .all()
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
  return bytes
}

/** Only what a statement names: the driver refuses to be told of more. */
function bound(sql: string, values: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => sql.includes(`:${name}`)))
}

const FACTS = {
  at: 1_750_000_000,
  address: '198.51.100.7',
  failures: { user: [], address: [] },
  password: 'right',
  passwordChangedAt: 1_740_000_000,
  device: { isKnown: true, isNetworkKnown: true },
  factors: [],
  proof: 'none',
  isStepUp: false,
  sessions: 1,
}
