/** Devices in Chromium: a list that is wide and on a phone, one device, and a ticket by keyboard alone. */
import t from 'tap'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { keep, violations } from '../support/console-browser.ts'
import { ACTOR } from '../support/control-plane.ts'
import { makePosture, random32 } from '../support/devices.ts'
import { enrolDevice } from '../support/enrolled-devices.ts'
import { serveConsole } from '../support/served-console.ts'

const PAGE = '/console/tenants/acme/devices'

t.test('devices, one of them, and a first ticket', { skip: WITHOUT_CHROMIUM }, async (t) => {
  const { services, person, enter, at } = await serveConsole(t)
  await services.tenants.publish('acme', ACTOR)
  const { device } = await services.policies.of('acme')
  const demanded = ['disk_encrypted', 'firewall'] as const
  const policy = { ...device, require: 'enrolled', facts: [...demanded], grace_days: 7 } as const
  await services.policies.put('acme', 'device', policy, ACTOR)
  const posture = makePosture()
  const broken = {
    ...posture,
    os: { id: 'windows', version: '10.0.26100.4061' },
    facts: {
      ...posture.facts,
      disk_encrypted: { value: false, reason: 'partly_encrypted', detail: 'D:, E:' },
      up_to_date: { value: false, reason: 'security_updates', detail: 'KB5046633' },
      screen_lock: { value: 'unknown', reason: 'no_session' },
      firewall: { value: true, reason: 'windows_firewall' },
      secure_boot: { value: true, reason: 'on' },
      tpm: { value: true, reason: 'tpm_2' },
    },
  } as const
  const machine_hash = random32()
  const hostname = 'a-laptop-with-a-name-that-somebody-made-much-too-long.internal.example'
  await enrolDevice(services, { said: { hostname: 'ada-debian', machine_hash } })
  await enrolDevice(services, { said: { hostname: 'ada-again', machine_hash }, posture: null })
  const said = { hostname, platform: 'windows' }
  const { deviceId } = await enrolDevice(services, { said, posture: broken })

  const grace = await person('operator', 'Grace')
  const chromium = await startChromium(t)
  const { page, context } = await chromium.page({ viewport: DESK, colorScheme: 'light' })
  await enter(context, grace)
  const seen = async (path: string, name: string) => {
    await page.goto(at(path))
    t.same(await violations(page), [], `${name}, at a desk`)
    await keep(page, `${name}-desk-light`)
  }
  await seen(PAGE, 'devices')
  await seen(`${PAGE}/${deviceId}`, 'device')
  await seen(`${PAGE}/enroll`, 'devices-enroll')

  const dark = { viewport: PHONE, colorScheme: 'dark', javaScriptEnabled: false } as const
  const phone = await chromium.page(dark)
  await enter(phone.context, grace)
  await phone.page.goto(at(PAGE))
  await keep(phone.page, 'devices-phone-dark')
  await phone.page.goto(at(`${PAGE}/${deviceId}`))
  await keep(phone.page, 'device-phone-dark')
  await phone.page.goto(at(`${PAGE}/enroll`))
  await phone.page.getByLabel('Network').focus()
  await phone.page.keyboard.type('192.0.2.0/24')
  await phone.page.keyboard.press('Enter')
  await phone.page.getByText(/^sdt_/).waitFor()
  await keep(phone.page, 'devices-ticket-phone-dark')
  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(at(PAGE))
  t.same(await violations(page), [], 'on a phone, in the dark')
})
