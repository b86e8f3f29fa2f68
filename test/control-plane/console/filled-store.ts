/** A tenant of which every page of the console has something to show, most of it from others. */
import type Database from 'better-sqlite3'
import { upsertChecks } from '../../../control-plane/store/queries/verification.ts'
import { makeKey } from '../../support/connectors.ts'
import { ACTOR } from '../../support/control-plane.ts'
import type { startConsole } from '../../support/console.ts'
import { enrolDevice } from '../../support/enrolled-devices.ts'
import { failSignIns, signIns } from '../../support/sign-ins.ts'
import { insertSignUp } from '../../../control-plane/store/queries/sign-ups.ts'

type World = Awaited<ReturnType<typeof startConsole>>

/** What stands for the parameters of the paths. */
export async function fillStore({ services, person }: World): Promise<Record<string, string>> {
  const {
    connections,
    tenants,
    users,
    webhooks,
    deliveries,
    dispatcher,
    sessions,
    feed,
    store,
    clock,
  } = services
  await tenants.setPlan('acme', 'premium', ACTOR)
  await tenants.publish('acme', ACTOR)
  await tenants.patch('acme', { sealed: ['/internal'] }, ACTOR)
  await person('acme')
  const account = { username: 'ada', email: 'ada@acme.test', name: 'Ada', password: '' }
  const { userId } = await users.create('acme', account, ACTOR)
  await signIns(services, { tenantId: 'acme', userId }, 2)
  await failSignIns(services, { tenantId: 'acme', userId }, 6)
  const issuedAtMs = clock.nowMs()
  const session = { tenantId: 'acme', sid: 'sid-of-ada', userId, ip: '192.0.2.1' }
  const expiresAtMs = issuedAtMs + 3600_000
  await sessions.record({ ...session, userAgent: 'Firefox', issuedAtMs, expiresAtMs })
  await tenants.patch('acme', { mode: 'sdk' }, ACTOR)
  const instance = {
    name: 'web-1',
    version: '0.1.0',
    features: new Set<never>(),
    clockOffsetMs: 20,
  }
  await feed.poll(await tenants.get('acme'), instance, undefined)
  await store.change(({ queries, nowMs }) =>
    upsertChecks(queries, [
      {
        tenantId: 'acme',
        check: 'application_reached',
        status: 'fail',
        detail: 'no answer',
        nextAction: 'start it',
        source: 'self_report',
        at: nowMs,
      },
    ]),
  )
  const wish = { url: 'https://hooks.example/x', description: 'Siem' }
  const events = ['tenant.suspended'] as const
  const provider = { preset: 'oidc', name: 'Company', issuer: 'https://id.acme.example' } as const
  const { connectionId } = await connections.create(
    'acme',
    {
      ...{ ...provider, hostedDomain: null, createsPeople: true, mfaValues: [] },
      ...{ clientId: 'service', clientSecret: 'secret' },
    },
    ACTOR,
  )
  const { clientId } = await services.realmClients.create(
    'acme',
    {
      ...{ name: 'Wiki', redirectUris: ['https://wiki.example/callback'] },
      ...{ postLogoutRedirectUris: [], backchannelLogoutUri: null, isToldGroups: false },
    },
    ACTOR,
  )
  const domain = 'acme.example'
  await services.connectionDomains.add('acme', connectionId, domain, ACTOR)
  const pushing = { name: 'Entra', expiresIn: 3600, connectionId }
  const scimToken = await services.scimTokens.make('acme', pushing, ACTOR)
  const { webhook } = await webhooks.create('acme', { ...wish, events }, ACTOR)
  const sent = await deliveries.test('acme', webhook.webhookId, undefined, ACTOR)
  await dispatcher.run()
  const alert = await services.alerts.create(
    'acme',
    {
      metric: 'refused_sign_ins',
      threshold: 5,
      windowSeconds: 300,
      coolDownSeconds: 300,
      isEnabled: true,
    },
    ACTOR,
  )
  const inviter = { userId: undefined, actor: ACTOR, language: '' }
  const { invitations } = services.consoleAccess
  const invitation = await invitations.invite('acme', 'bob@acme.test', inviter)
  const { keyId } = await services.gatewayKeys.make('edge-1', ACTOR)
  await tenants.patch('acme', { mode: 'connector' }, ACTOR)
  const join = { name: 'Berlin', uses: 2, expiresIn: 3600 }
  const token = await services.joinTokens.make('acme', join, ACTOR)
  const { publicKey } = makeKey()
  const joining = { publicKey, name: 'web-1', program: '0.1.0', requestId: 'r1' }
  const { connectorId } = await services.connectors.join(token.token, joining)
  const ticket = { platform: 'linux', uses: 2, expiresIn: 3600, network: '192.0.2.0/24' } as const
  const { ticketId } = await services.deviceTickets.make('acme', ticket, ACTOR)
  const { deviceId } = await enrolDevice(services, { userId })
  const claim = await services.hostnames.claim('acme', 'app.example.com', ACTOR)
  const { serviceId } = await services.machines.create('acme', 'CI', ACTOR)
  const { secretId } = await services.machines.addSecret('acme', serviceId, 3600, ACTOR)
  await services.groups.create('acme', { name: 'finance', description: 'Who pays' }, ACTOR)
  const rule = { path: '/reports', allow: [{ group: 'finance' }] }
  await services.accessRules.put('acme', { networks: {}, rules: [rule] }, ACTOR)
  const signUpId = 'sup_0123456789abcdef'
  await services.store.changeOf('acme', ({ queries, nowMs }) =>
    insertSignUp(queries, {
      ...{ signUpId, tenantId: 'acme', email: 'new@acme.test', emailKey: 'new@acme.test' },
      ...{ name: 'New', passwordHash: '', language: 'en', applicationUrl: '', ip: '192.0.2.7' },
      ...{ provenAt: nowMs, createdAt: nowMs, expiresAt: nowMs + 3_600_000, toldAt: nowMs },
    }),
  )
  return {
    tenant_id: 'acme',
    sign_up_id: signUpId,
    at: '0',
    group: 'finance',
    service_id: serviceId,
    secret_id: secretId,
    device_id: deviceId,
    ticket_id: ticketId,
    connector_id: connectorId,
    token_id: token.tokenId,
    gateway_id: 'edge-1',
    key_id: keyId,
    invitation_id: invitation.invitationId,
    user_id: userId,
    sid: 'sid-of-ada',
    webhook_id: webhook.webhookId,
    connection_id: connectionId,
    client_id: clientId,
    scim_token_id: scimToken.tokenId,
    delivery_id: sent.deliveryId,
    alert_id: alert.alertId,
    factor_id: 'none',
    hostname: claim.hostname,
    domain,
  }
}

/** Columns that hold what people, browsers, applications, receivers and instances have said. */
const FREE_TEXTS: Readonly<Record<string, readonly string[]>> = {
  tenants: ['name'],
  users: ['username', 'email', 'name'],
  sessions: ['ip', 'user_agent', 'end_reason'],
  sign_ins: ['ip', 'user_agent', 'reason'],
  sign_ups: ['email', 'name', 'ip'],
  realm_clients: ['name'],
  audit: ['actor'],
  verification_checks: ['detail', 'next_action'],
  factors: ['name'],
  known_devices: ['user_agent', 'ip'],
  address_blocks: ['address'],
  enrolled_devices: ['hostname', 'arch', 'agent', 'network', 'suspicion'],
  device_tickets: ['network'],
  feed_instances: ['name', 'version'],
  enforcement_events: ['subject', 'sid', 'reason', 'ip', 'app_host', 'instance'],
  webhooks: ['description'],
  webhook_deliveries: ['problem', 'body'],
  webhook_attempts: ['first_bytes', 'problem'],
}

/** Records whose every text may be somebody else's. */
const FREE_RECORDS: Readonly<Record<string, string>> = {
  audit: 'content',
  outbox: 'content',
  device_postures: 'posture',
}

/** Answers how many rows have the text now. */
export function overwriteTexts(database: Database.Database, text: string): number {
  let changes = 0
  for (const [table, columns] of Object.entries(FREE_TEXTS)) {
    const set = columns.map((column) => `${column} = @text`).join(', ')
    changes += database.prepare(`UPDATE ${table} SET ${set}`).run({ text }).changes
  }
  for (const [table, column] of Object.entries(FREE_RECORDS)) {
    const rows = database.prepare<[], { rowid: number; content: string }>(
      `SELECT rowid, ${column} AS content FROM ${table}`,
    )
    const update = database.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`)
    for (const { rowid, content } of rows.all()) {
      const texts = JSON.stringify(JSON.parse(content), (_, value: unknown) =>
        typeof value === 'string' ? text : value,
      )
      changes += update.run(texts, rowid).changes
    }
  }
  return changes
}
