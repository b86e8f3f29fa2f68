/** Machines: what each meets, with whatever credentials, at the edge as inside an application. */
import t from 'tap'
import { NOBODY } from '../../shared/fleet/services.ts'
import { rulesOf, SERVICES } from '../support/access-rules.ts'
import { identityOf, newSecret, secretOf } from '../support/machines.ts'
import type { Case, Required } from './case.ts'
import { runTable } from './table.ts'
import { AS, CURRENT, headOf, startWorld, type Head, type World } from './world.ts'

const [CI, OTHER] = SERVICES
const [SECRET, OF_OTHER, ENDED] = [newSecret(), newSecret(), newSecret()]
const ID = `Service-Client-Id: ${CI}`
const RIGHT = [ID, `Service-Client-Secret: ${SECRET}`]

const ACCESS = rulesOf([
  { path: '/', allow: [{ signed_in: true }] },
  { path: '/hooks', widen: true, allow: [NOBODY] },
  { path: '/posted', widen: true, methods: ['POST'], allow: [NOBODY] },
])

function servicesAt(world: World, isDisabled = false) {
  const now = world.nowSeconds()
  const { issuer } = world.service
  const identity = (id: string) =>
    identityOf(CURRENT, id, { issuer, audience: 'app-user' }, now - 60)
  return {
    services: [
      {
        service_id: CI,
        is_disabled: isDisabled,
        identity: identity(CI),
        secrets: [secretOf(SECRET, now + 600, 'one'), secretOf(ENDED, now, 'two')],
      },
      { service_id: OTHER, identity: identity(OTHER), secrets: [secretOf(OF_OTHER, now + 600)] },
    ],
    clauses: [
      { rule: 1, allow: [{ service: CI }] },
      { rule: 2, allow: [{ service: CI }] },
    ],
  }
}

const named: Required = {
  outcome: 'forward',
  cookies: [],
  application: { user: CI, verified: 'true', foreign: [] },
}
const refused = (reason: string, status = 401): Required => ({
  outcome: `refused_${status}`,
  reason: `${status === 403 ? 'access_denied' : 'invalid_client'}: ${reason}`,
  location: '',
  cookies: [],
  application: null,
})
const nobody: Required = { outcome: 'forward', application: { user: '', claims: '', foreign: [] } }

t.test('what a machine meets', async (t) => {
  const world = await startWorld(t, { state: { access: ACCESS } })
  await world.change({ services: servicesAt(world) })
  const cookie = world.session()
  const of = (name: string, required: Required, head: Head): Case[] =>
    AS.map((as) => ({ name: `${name}, ${as}`, ask: headOf({ as, ...head }), required }))
  const hooks = (name: string, required: Required, lines: readonly string[], more: Head = {}) =>
    of(name, required, { target: '/hooks/1', lines, ...more })
  const malformed = refused('machine_malformed')
  const unknown = refused('machine_unknown')
  const isNamed = { ...named, application: { user: CI, verified: 'true', foreign: [] } } as const
  await runTable(t, world.targets, [
    { name: 'a rule names it', ask: headOf({ target: '/hooks/1', lines: RIGHT }), required: named },
    ...hooks('in capitals', isNamed, [
      `SERVICE-CLIENT-ID: ${CI}`,
      `service-client-secret: ${SECRET}`,
    ]),
    ...of('by another method', refused('machine_not_allowed', 403), {
      target: '/posted',
      lines: RIGHT,
    }),
    ...of('by its method', isNamed, {
      target: '/posted',
      method: 'POST',
      lines: [...RIGHT, 'Content-Length: 0'],
    }),
    ...of('what is open to people', refused('machine_not_allowed', 403), {
      target: '/work',
      lines: RIGHT,
    }),
    ...hooks('another machine', refused('machine_not_allowed', 403), [
      `Service-Client-Id: ${OTHER}`,
      `Service-Client-Secret: ${OF_OTHER}`,
    ]),
    ...hooks('in another spelling', refused('machine_not_allowed', 403), RIGHT, {
      target: '/%68ooks/1',
    }),
    ...of(
      'sealed',
      { outcome: 'sealed_404', application: null },
      { target: '/admin', lines: RIGHT },
    ),
    ...of('open to everybody', isNamed, { target: '/health', lines: RIGHT }),
    ...of('open, with a wrong secret', nobody, {
      target: '/health',
      lines: [ID, `Service-Client-Secret: ${newSecret()}`],
    }),
    ...hooks('no secret', malformed, [ID]),
    ...hooks('no id', malformed, RIGHT.slice(1)),
    ...hooks('two ids', malformed, [ID, ...RIGHT]),
    ...hooks('two secrets', malformed, [...RIGHT, RIGHT[1]!]),
    ...hooks('each in the other’s place', malformed, [
      `Service-Client-Id: ${SECRET}`,
      `Service-Client-Secret: ${CI}`,
    ]),
    ...hooks('empty', malformed, ['Service-Client-Id:', 'Service-Client-Secret:']),
    ...hooks('a wrong secret', unknown, [ID, `Service-Client-Secret: ${newSecret()}`]),
    ...hooks('the secret of another', unknown, [ID, `Service-Client-Secret: ${OF_OTHER}`]),
    ...hooks('nobody of that id', unknown, ['Service-Client-Id: svc_00000000000000cc', RIGHT[1]!]),
  ])
  await world.pass(300) // else there were too many wrong ones
  await runTable(t, world.targets, [
    ...hooks('ended', refused('machine_secret_ended'), [ID, `Service-Client-Secret: ${ENDED}`]),
    ...hooks('with a session', refused('machine_with_session'), RIGHT, { cookie }),
    ...of(
      'a person',
      { outcome: ['refused_403'], application: null },
      { target: '/hooks/1', cookie },
    ),
    {
      name: 'underscores are no credentials',
      ask: headOf({
        target: '/hooks/1',
        lines: RIGHT.map((line) => line.replaceAll(/-(?=[CIS])/g, '_')),
      }),
      required: {
        outcome: 'sign_in_401',
        reason: 'sign_in_required: no_session',
        application: null,
      },
    },
  ])
  await world.pass(300)
  await runTable(t, world.targets, hooks('its end', refused('machine_secret_ended'), RIGHT))
  await world.change({ services: servicesAt(world, true) })
  await runTable(t, world.targets, hooks('disabled', refused('machine_disabled'), RIGHT))
})

t.test('of a tenant without machines the lines are taken out', async (t) => {
  const world = await startWorld(t)
  const cookie = world.session()
  const lines = RIGHT
  await runTable(t, world.targets, [
    {
      name: 'nobody',
      ask: headOf({ lines }),
      required: { outcome: 'sign_in_401', application: null },
    },
    {
      name: 'a person',
      ask: headOf({ lines, cookie }),
      required: {
        outcome: 'forward',
        application: { user: 'ada', foreign: [] },
      },
    },
    { name: 'open', ask: headOf({ target: '/health', lines }), required: nobody },
  ])
})
