import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { PASSWORD, startApplication, startTenant } from '../../support/application.ts'
import { wholeFleet } from '../../support/whole-fleet.ts'

const ELSEWHERE = 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0'
const STEP_MS = 30_000

t.test('an app is set up on the way in, and asked for where the session moves', async (t) => {
  const fleet = await wholeFleet(t)
  const application = await startApplication(t)
  const binding = { session_binding: 'step_up' }
  const tenant = await startTenant(fleet, 'factors', application.origin, binding)
  const demand = (mode: string) => fleet.operator('PUT', '/tenants/factors/policies/mfa', { mode })
  t.match(await demand('required'), { status: 200 })
  const home = `${tenant.edge()}/work`

  const ada = fleet.browser()
  const enrol = await ada.signIn(home, 'ada', PASSWORD)
  const [, spelled = ''] = /<code>((?:[A-Z2-7]{1,4} ?)+)<\/code>/.exec(enrol.text) ?? []
  const totp = new TOTP({ secret: Secret.fromBase32(spelled.replaceAll(' ', '')) })
  const startedMs = Date.now()
  /** Three codes are good at any moment, each of them once: one after the other. */
  const code = (steps: number) => totp.generate({ timestamp: startedMs + steps * STEP_MS })
  const codes = await ada.submit(enrol, { code: code(-1) })
  t.match(codes.text, 'Save your recovery codes')
  t.match(await ada.submit(codes, {}), { status: 200, url: home })
  t.match(claimsOf(ada.cookie(tenant.host, 'service_session')), { acr: 'aal2' })

  t.match(await demand('off'), { status: 200 })
  const elsewhere = fleet.browser()
  t.match(await elsewhere.signIn(home, 'ada', PASSWORD), { status: 200, url: home })
  t.match(claimsOf(elsewhere.cookie(tenant.host, 'service_session')), { acr: 'aal1' })
  elsewhere.userAgent = ELSEWHERE
  const asked = await elsewhere.open(home)
  t.match(asked.url, '/auth/realms/factors/')
  const factor = await elsewhere.submit(asked, { username: 'ada', password: PASSWORD })
  t.match(factor.text, 'name="code"', 'whatever the policy leaves out')
  t.match(await elsewhere.submit(factor, { code: code(0) }), { status: 200, url: home })
  t.match(claimsOf(elsewhere.cookie(tenant.host, 'service_session')), { acr: 'aal2' })
})

function claimsOf(token = ''): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}
