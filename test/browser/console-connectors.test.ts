/** Connectors in Chromium: a wide list beside the navigation and on a phone, a token by keyboard alone. */
import t from 'tap'
import { keep, violations } from '../support/console-browser.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { makeKey } from '../support/connectors.ts'
import { ACTOR } from '../support/control-plane.ts'
import { serveConsole } from '../support/served-console.ts'

const PAGE = '/console/tenants/acme/connectors'
const EVENTS = '/console/tenants/acme/events'

t.test('a list that is wide, and a first token', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { services, person, enter, at } = await serveConsole(t)
  await services.tenants.patch('acme', { mode: 'connector' }, ACTOR)
  await services.tenants.publish('acme', ACTOR)
  const name = 'a-build-server-with-a-name-that-somebody-made-much-too-long.internal.example'
  const asked = { name, uses: 2, expiresIn: 3600 }
  const { token } = await services.joinTokens.make('acme', asked, ACTOR)
  const joining = { publicKey: makeKey().publicKey, name, program: '0.0.1', requestId: 'r1' }
  const { connectorId } = await services.connectors.join(token, joining)
  const last_error = { reason: 'unresolved', age_seconds: 40 }
  for (const gatewayId of ['edge-in-frankfurt-1', 'edge-in-frankfurt-2']) {
    const nobody = { type: 'connectors' as const, is_full: true, here: [], gone: [] }
    services.connectorPresence.receive(gatewayId, nobody)
    services.connectorPresence.receive(gatewayId, {
      type: 'connectors',
      is_full: true,
      here: [
        {
          ...{ tenant_id: 'acme', connector_id: connectorId, state: 'unreachable' },
          ...{ reason: 'unresolved', program: '0.0.1', since_seconds: 60, known_seconds: 0 },
          ...{ connections: 2, in_use: 1, requests: 12_345_678, round_trip_ms: 1234, last_error },
        },
      ],
      gone: [],
    })
  }
  const grace = await person('operator', 'Grace')
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({ viewport: DESK, colorScheme: 'light' })
  await enter(context, grace)
  await page.goto(at(PAGE))
  t.same(await violations(page), [], 'at a desk')
  await keep(page, 'connectors-desk-light')
  await page.setViewportSize({ width: 780, height: 800 })
  t.same(await violations(page), [], 'where the list is too wide, it scrolls within its frame')

  await services.jobs.run()
  const { connectorId: second } = await services.connectors.join(token, {
    ...joining,
    ...{ publicKey: makeKey().publicKey, name: 'Berlin' },
  })
  await services.connectors.revoke('acme', second, ACTOR)
  await page.setViewportSize(DESK)
  await page.goto(at(EVENTS))
  const events = page.getByRole('table')
  for (const said of ['Connector joined', 'Connector revoked', 'Application not reachable'])
    await events.getByText(said).first().waitFor()
  t.same(await violations(page), [], 'what becomes of them, at a desk')
  await keep(page, 'connectors-events-desk-light')

  const dark = { viewport: PHONE, colorScheme: 'dark', javaScriptEnabled: false } as const
  const phone = await chromium.page(dark)
  await enter(phone.context, grace)
  await phone.page.goto(at(PAGE))
  await keep(phone.page, 'connectors-phone-dark')
  await phone.page.getByLabel('Name').focus()
  await phone.page.keyboard.type('Berlin')
  await phone.page.keyboard.press('Enter')
  await phone.page.getByText(/^sct_/).waitFor()
  await keep(phone.page, 'connectors-token-phone-dark')
  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: 'dark' })
  for (const [path, name] of [
    [PAGE, 'connectors-phone'],
    [EVENTS, 'connectors-events-phone'],
  ] as const) {
    await page.goto(at(path))
    t.same(await violations(page), [], `${name}, in the dark`)
    await keep(page, `${name}-scripted-dark`)
  }
})
