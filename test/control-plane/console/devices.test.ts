/** Devices: what one enrolls with, what each reports and what the policy makes of it, and how they end. */
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import type { Fact } from '../../../shared/device/facts.ts'
import { makePosture, random32 } from '../../support/devices.ts'
import { enrolDevice, report } from '../../support/enrolled-devices.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { giveRole, startConsole } from '../../support/console.ts'

const PAGE = '/console/tenants/acme/devices'
const FORM = {
  platform: 'linux',
  uses: '1',
  expires_in: String(LIMITS.deviceTicketSecondsDefault),
  user_id: '',
  network: '',
}

async function startPage(t: Test) {
  const clock = movableClock()
  const world = await startConsole(t, { clock })
  await world.services.tenants.publish('acme', ACTOR)
  const { users } = world.services
  const made = (username: string, name: string) =>
    users.create('acme', { username, email: `${username}@acme.test`, name, password: '' }, ACTOR)
  const { userId } = await made('ada', 'Ada Lovelace')
  return { ...world, clock, userId }
}

const reported = (facts: Partial<Record<string, Fact>>) => {
  const posture = makePosture()
  return { ...posture, facts: { ...posture.facts, ...facts } }
}

const rowOf = (text: string, name: string) =>
  new RegExp(`<th scope="row"[^>]*>\\s*(?:<a [^>]*>)?${name}[^]*?</tr>`).exec(text)?.[0] ?? 'none'

void t.test('an empty list says what would be in it, and how the first one comes', async (t) => {
  const { person } = await startPage(t)
  const ada = await person('acme')
  const { text } = await ada.get(PAGE)
  t.match(text, /No devices yet.*enrolled it with a ticket.*href="[^"]*\/devices\/enroll"/s)
  t.match(text, /Devices report their own state.*can forge its\s+report/s)
  t.match((await ada.get('/console/tenants/acme')).text, new RegExp(`href="${PAGE}"[^>]*>Devices<`))
})

void t.test('a ticket is shown once, with the command that enrolls a device', async (t) => {
  const { person, services, userId } = await startPage(t)
  const ada = await person('acme')
  const path = `${PAGE}/enroll`
  t.match((await ada.get(`${path}?user_id=${userId}`)).text, `value="${userId}"`)
  t.match(
    (await ada.get(path)).text,
    /What the agent reports.*Whether the disk is encrypted.*can’t run commands/s,
  )
  const made = await ada.post(path, {
    ...FORM,
    uses: '2',
    user_id: 'ada@acme.test',
    network: '192.0.2.0/24',
  })
  t.equal(made.status, 200)
  const [ticket = ''] = /sdt_[\w-]{43}/.exec(made.text) ?? []
  const { baseUrl } = services
  t.match(made.text, `curl -fsSL &#39;${baseUrl}/install/linux?ticket=${ticket}&#39; | sudo sh`)
  t.match(made.text, /won’t be shown again.*2 devices.*never\s+accepted as arguments/s)
  t.match(made.text, `${baseUrl}/install/linux/acme`)
  const listed = (await ada.get(path)).text
  t.notMatch(listed, ticket)
  t.match(rowOf(listed, 'Linux'), /2 of 2.*Ada Lovelace.*192\.0\.2\.0\/24/s)

  const forWindows = await ada.post(path, { ...FORM, platform: 'windows' })
  t.match(forWindows.text, /irm &#39;[^ ]+\/install\/windows\?ticket=sdt_[\w-]{43}&#39; \| iex/)
  t.match(forWindows.text, /Run as administrator/)

  const [removal = ''] = /\/console\/\S+\/delete/.exec(rowOf(listed, 'Linux')) ?? []
  t.match((await ada.get(removal)).text, /No device can enroll with it anymore/)
  t.match(await ada.post(removal), { status: 303, location: new RegExp(path) })
  t.equal(rowOf((await ada.get(path)).text, 'Linux'), 'none')
  t.equal((await ada.get(removal)).status, 404)

  const wrong = await ada.post(path, { ...FORM, uses: '0', network: 'home', user_id: 'usr_none' })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /Fix 2 fields.*Uses.*Network/s)
  const nobody = await ada.post(path, { ...FORM, user_id: 'usr_none' })
  t.match(nobody.text, /id="user_id"/)
  t.equal(nobody.status, 422)
})

void t.test(
  'the list says what is wrong with each, whose it is, and what shares hardware',
  async (t) => {
    const { person, services, userId, clock } = await startPage(t)
    const machine_hash = random32()
    const broken = reported({
      disk_encrypted: { value: false, reason: 'not_encrypted', detail: '/: sda2' },
      screen_lock: { value: 'unknown', reason: 'no_session' },
    })
    const good = await enrolDevice(services, { said: { hostname: 'good', machine_hash }, userId })
    await enrolDevice(services, { said: { hostname: 'again', machine_hash }, posture: null })
    await enrolDevice(services, {
      said: { hostname: 'broken', platform: 'windows' },
      posture: broken,
    })
    clock.advance(2 * 3600_000)
    const ada = await person('acme')
    const { text } = await ada.get(PAGE)
    t.match(
      rowOf(text, 'good'),
      /Debian 13.*enrolled 2 times.*Ada Lovelace.*All good.*2 hours ago/s,
    )
    t.match(rowOf(text, 'again'), /enrolled 2 times.*Nobody yet.*Nothing yet/s)
    t.match(rowOf(text, 'broken'), /No: Disk encryption, .*2 hours ago.*Unknown: Screen lock/s)
    t.notMatch(text, />Policy</, 'no policy asks for a device')

    const search = async (query: string) => {
      const found = (await ada.get(`${PAGE}?${query}`)).text
      return ['good', 'again', 'broken'].filter((name) => rowOf(found, name) !== 'none')
    }
    t.strictSame(await search('q=GOO'), ['good'])
    t.strictSame(await search(`q=${good.deviceId}`), ['good'])
    t.strictSame(await search('platform=windows'), ['broken'])
    t.strictSame(await search('duplicates=yes'), ['good', 'again'])
    t.strictSame(await search(`user_id=${userId}`), ['good'])
    t.match((await ada.get(`${PAGE}?q=none`)).text, /No matching devices/)
    const { text: one } = await ada.get(`${PAGE}/${good.deviceId}`)
    t.match(one, /<dt>Key<\/dt><dd>in a file/, 'where its key is')
    t.match(one, /Disk encryption.*?Yes.*?2 hours ago/s, 'and since when each fact is so')
    const file = await ada.get(`${PAGE}/export?duplicates=yes`)
    t.match(file.headers.get('content-disposition'), 'devices-acme.csv')
    t.equal(file.text.trim().split('\n').length, 3)
    t.match((await ada.get('/console/tenants/acme/audit')).text, /Exported devices/)
  },
)

void t.test('what the policy demands is judged, in words and with how to mend it', async (t) => {
  const { person, services, clock } = await startPage(t)
  const posture = reported({
    disk_encrypted: { value: false, reason: 'encryption_suspended', detail: 'C:' },
    tpm: { value: 'unknown', reason: 'from_an_agent_of_tomorrow' },
  })
  const said = { hostname: 'laptop', platform: 'windows' }
  const { deviceId } = await enrolDevice(services, { said, posture })
  await enrolDevice(services, { said: { hostname: 'fine' } })
  // what is demanded now may have been amiss for long: grace begins with the demand
  clock.advance(30 * 86_400_000)
  const { device } = await services.policies.of('acme')
  const wanted = {
    ...device,
    require: 'enrolled',
    mode: 'enforce',
    facts: ['disk_encrypted'],
  } as const
  await services.policies.put('acme', 'device', wanted, ACTOR)
  const ada = await person('acme')
  const listed = (await ada.get(PAGE)).text
  t.match(rowOf(listed, 'laptop'), /Doesn’t comply/)
  t.match(rowOf(listed, 'fine'), /Complies/)
  const { text } = await ada.get(`${PAGE}/${deviceId}`)
  t.match(text, /BitLocker is suspended.*C:.*Resume protection/s)
  t.match(text, /Reported as “from_an_agent_of_tomorrow”/)
  t.match(text, /doesn’t meet the policy:.*Disk encryption: BitLocker is suspended/s)
  t.match(text, /Devices report their own state/)
  await services.policies.put('acme', 'device', { ...wanted, grace_days: 7 }, ACTOR)
  clock.advance(1000)
  t.match(rowOf((await ada.get(PAGE)).text, 'laptop'), /Grace period/)
  t.match((await ada.get(`${PAGE}/${deviceId}`)).text, /is let through until/)
  t.match((await ada.get(`${PAGE}/dev_0000000000000000`)).status, 404)
})

void t.test('approved, given to somebody, revoked and deleted, each written down', async (t) => {
  const { person, services, userId } = await startPage(t)
  const { deviceId } = await enrolDevice(services, { said: { hostname: 'laptop' } })
  const ada = await person('acme')
  const path = `${PAGE}/${deviceId}`
  const post = async (what: string, form = {}) => {
    const answer = await ada.post(`${path}/${what}`, form)
    t.equal(answer.status, 303, what)
    return (await ada.get(path)).text
  }
  const isApproved = (await ada.get(path)).text.includes('Withdraw approval')
  t.match(
    await post(isApproved ? 'unapprove' : 'approve'),
    isApproved ? 'Approve device' : 'Withdraw',
  )
  t.match(await post('owner', { owner: userId }), /Owner<\/dt>\s*<dd><a [^>]*>Ada Lovelace/)
  t.match(await post('owner', { owner: '' }), /Nobody yet/)
  t.match(await post('owner', { owner: 'ADA' }), /Owner<\/dt>\s*<dd><a [^>]*>Ada Lovelace/)
  t.match((await ada.get(`${path}/owner`)).text, /name="owner"[^>]* value="ada"/)
  t.match((await ada.post(`${path}/owner`, { owner: 'usr_none' })).text, /id="owner"/)
  t.match((await ada.get(`${path}/revoke`)).text, /sessions started on it end immediately/)
  const revoked = await post('revoke')
  t.match(revoked, />Revoked</)
  t.notMatch(revoked, 'Revoke device')
  t.equal(rowOf((await ada.get(PAGE)).text, 'laptop'), 'none')
  t.match(rowOf((await ada.get(`${PAGE}?state=revoked`)).text, 'laptop'), /Revoked/)
  t.match(await ada.post(`${path}/remove`), { status: 303, location: new RegExp(PAGE) })
  t.equal((await ada.get(path)).status, 404)
  const audit = (await ada.get('/console/tenants/acme/audit')).text
  t.match(audit, /Removed a device.*Revoked a device.*Changed the owner of a device/s)
})

void t.test('a possible copy stands out, and is cleared after a question', async (t) => {
  const { person, services } = await startPage(t)
  const machine = await enrolDevice(services, { said: { hostname: 'twin' } })
  const copy = { ...machine }
  await report(services, machine)
  await t.rejects(report(services, { ...copy, bootId: random32(), ctr: 7 }))
  const ada = await person('acme')
  const path = `${PAGE}/${machine.deviceId}`
  t.match(rowOf((await ada.get(PAGE)).text, 'twin'), /Possible copy/)
  t.match((await ada.get(path)).text, /may have been copied.*one of them is a copy.*Clear twin/s)
  t.match((await ada.get(`${path}/clear`)).text, /Do this only if the device was restored/)
  t.equal((await ada.post(`${path}/clear`)).status, 303)
  t.notMatch((await ada.get(path)).text, /may have been copied/)
})

void t.test('several are revoked at once, with the sessions that were begun on them', async (t) => {
  const { person, services } = await startPage(t)
  const ids: string[] = []
  for (const hostname of ['one', 'two', 'three'])
    ids.push((await enrolDevice(services, { said: { hostname } })).deviceId)
  const ada = await person('acme')
  const chosen = ids.slice(0, 2)
  const asked = await ada.post(`${PAGE}/selected`, { device_id: chosen })
  t.match(asked.text, /Revoke 2 devices\?.*one, two.*value="dev_/s)
  const sent = { device_ids: chosen.join('\n') }
  t.match(await ada.post(`${PAGE}/selected/confirm`, sent), { status: 303 })
  const { text } = await ada.get(PAGE)
  t.strictSame(
    ['one', 'two', 'three'].map((name) => rowOf(text, name) !== 'none'),
    [false, false, true],
  )
  t.equal((await ada.post(`${PAGE}/selected/confirm`, sent)).status, 404, 'they are gone')
  const none = await ada.post(`${PAGE}/selected`, {})
  t.match(none, { status: 400, text: new RegExp(`Select 1 to ${LIMITS.devicesRevokedAtOnceMax}`) })
})

void t.test('who may only look sees the lists, and nothing to press', async (t) => {
  const { person, services } = await startPage(t)
  const { deviceId } = await enrolDevice(services, { said: { hostname: 'laptop' } })
  const vera = await person(undefined)
  await giveRole(services, vera.userId, 'acme', true)
  for (const path of [PAGE, `${PAGE}/${deviceId}`, `${PAGE}/enroll`]) {
    const { status, text } = await vera.get(path)
    t.equal(status, 200, path)
    t.notMatch(
      text,
      /<form method="post" action="\/console\/tenants|type="checkbox"|Revoke selected|Revoke device|Delete device/,
      path,
    )
  }
  t.equal((await vera.post(`${PAGE}/${deviceId}/approve`)).status, 403)
})

void t.test('a person’s page lists their devices', async (t) => {
  const { person, services, userId } = await startPage(t)
  const { deviceId } = await enrolDevice(services, { said: { hostname: 'laptop' }, userId })
  const ada = await person('acme')
  const { text } = await ada.get(`/console/tenants/acme/users/${userId}`)
  t.match(text, new RegExp(`href="${PAGE}/${deviceId}"[^>]*>laptop<`))
  t.match(text, `${PAGE}/enroll?user_id=${userId}`)
})
