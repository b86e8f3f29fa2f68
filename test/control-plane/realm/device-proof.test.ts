/** A sign-in where only machines with our agent are let in, page by page and by its attackers. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { movableClock } from '../../support/control-plane.ts'
import { provingMachine, type ProvingMachine } from '../../support/proving-machine.ts'
import { ADA, Browser, startWorld, type TestTenant, type World } from './realm-world.ts'
import { personAt } from './account-visit.ts'
import { begin, enrolApp, eventsOf, recordedSignIns, setPolicy } from './steps.ts'

const OFF = { firewall: { value: false, reason: 'no_firewall' } } as const

async function start(t: Parameters<typeof startWorld>[0]) {
  const clock = movableClock(Date.now())
  const world = await startWorld(t, { clock })
  const acme = await world.tenant('acme')
  await setPolicy(world, 'device', { require: 'enrolled', facts: ['firewall'] })
  return { world, acme, clock }
}

/** With the right password, at the page that asks for the device. */
async function asked(world: World, acme: TestTenant, browser?: Browser) {
  const person = await begin(world, acme, {}, browser)
  const page = await person.password()
  const uid = /\/sign-in\/([\w-]+)\?/.exec(person.page.url)?.[1] ?? ''
  const url = `${acme.issuer}/sign-in/${uid}/device`
  const challenge = async () => (await person.browser.once(url)).headers.get('location') ?? ''
  const check = async (machine: ProvingMachine, facts = {}) =>
    person.browser.visit(await machine.prove(await challenge(), facts))
  const isChecked = async (browser = person.browser) =>
    ((await (await browser.once(`${url}/state`)).json()) as { checked: boolean }).checked
  const goOn = (value = 'continue') => person.send({ device: value })
  return { ...person, page, url, challenge, check, isChecked, goOn }
}

const audited = async (world: World) =>
  (await world.store.read.select().from(schema.audit)).map(({ action }) => action)

t.test('whoever comes from an enrolled machine is let in, and the session knows it', async (t) => {
  const { world, acme } = await start(t)
  const machine = await provingMachine(world)
  const person = await asked(world, acme)
  t.equal(person.page.response.status, 200)
  t.match(person.page.html, /Check this device/)
  t.match(person.page.html, /target="_blank"[^>]*rel="noopener noreferrer"/)
  const policy = person.page.response.headers.get('content-security-policy') ?? ''
  t.match(policy, `script-src ${acme.issuer}/device.js`)
  t.match(policy, `connect-src ${person.url}/state`)

  const early = await person.goOn()
  t.equal(early.response.status, 422, 'not checked yet')
  t.match(early.html, /has not been checked yet/)
  t.equal(await person.isChecked(), false)

  const to = await person.browser.once(person.url)
  t.equal(to.status, 303)
  t.equal(to.headers.get('referrer-policy'), 'no-referrer')
  t.match(to.headers.get('location'), /^http:\/\/127\.0\.0\.1:18653\/p\/[\w.-]+$/)
  const checked = await person.check(machine)
  t.equal(checked.response.status, 200)
  t.match(checked.html, /This device was checked/)
  t.equal(await person.isChecked(), true)
  t.equal(await person.isChecked(new Browser(world.baseUrl)), false, 'others are told nothing')

  const { sub } = await person.claims((await person.goOn()).url)
  t.equal(sub, acme.ada.userId)
  const [session] = await world.store.read.select().from(schema.sessions)
  t.equal(session?.deviceId, machine.deviceId)
  const [own] = await world.enrolledDevices.ofPerson('acme', acme.ada.userId)
  t.equal(own?.deviceId, machine.deviceId, 'who first comes with it owns it')
  const facts = (await recordedSignIns(world)).at(-1)?.facts as { device: { enrolled: object } }
  t.match(facts.device.enrolled, { deviceId: machine.deviceId, keyStorage: 'file' })
  t.notMatch(await world.policies.of('acme'), { device: { mode: 'off' } })
})

t.test('without an agent the sign-in is refused, and the page says how to get one', async (t) => {
  const { world, acme } = await start(t)
  const person = await asked(world, acme)
  const refused = await person.goOn('none')
  t.equal(refused.response.status, 403)
  t.match(refused.html, /isn’t enrolled.*install link/s)
  t.match(await eventsOf(world, 'signin.denied'), [{ reason: 'device_not_enrolled' }])
  for (const tried of ['go_on', 'continue', 'skip', '1']) {
    const answer = await person.goOn(tried)
    t.ok([403, 422, 200].includes(answer.response.status))
    t.ok(answer.url.startsWith(world.baseUrl), `${tried} leads nowhere`)
  }
  t.equal((await world.store.read.select().from(schema.sessions)).length, 0)
  const machine = await provingMachine(world)
  await person.check(machine)
  t.ok((await person.claims((await person.goOn()).url)).sub, 'and it is never too late')
})

t.test('what fails is said with how to mend it, and what was mended counts', async (t) => {
  const { world, acme } = await start(t)
  const machine = await provingMachine(world)
  const person = await asked(world, acme)
  await person.check(machine, OFF)
  const refused = await person.goOn()
  t.equal(refused.response.status, 403)
  t.match(refused.html, /Firewall.*ufw enable/s)
  t.match(await eventsOf(world, 'signin.denied'), [{ reason: 'device_not_compliant' }])
  await machine.checkIn()
  t.ok((await person.claims((await person.goOn()).url)).sub, 'without another proof')
})

t.test('a warning can be gone on from, and grace ends', async (t) => {
  const { world, acme, clock } = await start(t)
  const machine = await provingMachine(world)
  await setPolicy(world, 'device', { require: 'enrolled', facts: ['firewall'], mode: 'warn' })
  const warned = await asked(world, acme)
  await warned.check(machine, OFF)
  t.match((await warned.goOn()).html, /needs attention.*ufw enable/s)
  t.ok((await warned.claims((await warned.goOn('go_on')).url)).sub)
  const unchecked = await asked(world, acme)
  t.ok((await unchecked.claims((await unchecked.goOn('go_on')).url)).sub, 'also without an agent')

  await setPolicy(world, 'device', { require: 'enrolled', facts: ['firewall'], grace_days: 2 })
  const inTime = await asked(world, acme)
  await inTime.check(machine, OFF)
  t.match((await inTime.goOn()).html, /Please fix the following by/)
  t.ok((await inTime.claims((await inTime.goOn('go_on')).url)).sub)
  clock.advance(2 * 86_400_000 + 1000)
  const late = await asked(world, acme)
  await late.check(machine, OFF)
  t.equal((await late.goOn('go_on')).response.status, 403)
})

t.test('the second factor comes behind the device', async (t) => {
  const { world, acme } = await start(t)
  const app = await enrolApp(world, acme)
  const machine = await provingMachine(world)
  const person = await asked(world, acme)
  t.notMatch((await person.send({ code: app.code() })).html, /name="code"/)
  await person.check(machine)
  t.match((await person.goOn()).html, /name="code"/)
  t.equal((await person.claims((await person.send({ code: app.code() })).url)).acr, 'aal2')
})

t.test('another browser with the code burns it, and that is recorded once', async (t) => {
  const { world, acme } = await start(t)
  const machine = await provingMachine(world)
  const attacker = await asked(world, acme)
  const confirm = await machine.prove(await attacker.challenge())
  const victim = new Browser(world.baseUrl)
  const foreign = await victim.visit(confirm)
  t.equal(foreign.response.status, 403)
  t.match(foreign.html, /started in another browser/)
  await victim.visit(confirm)
  t.equal((await attacker.browser.visit(confirm)).response.status, 410, 'burnt for both')
  t.equal(await attacker.isChecked(), false)
  const recorded = (await audited(world)).filter((one) => one === 'device.proof.foreign_browser')
  t.equal(recorded.length, 1)
  const subject = acme.ada.userId
  t.match(await eventsOf(world, 'signin.denied'), [{ subject, reason: 'device_other_browser' }])
})

t.test('a browser with a sign-in of its own is another browser all the same', async (t) => {
  const { world, acme } = await start(t)
  const machine = await provingMachine(world)
  const [attacker, victim] = [await asked(world, acme), await asked(world, acme)]
  const planted = await machine.prove(await attacker.challenge())
  t.equal((await victim.browser.visit(planted)).response.status, 403)
  t.equal(await victim.isChecked(), false, 'nobody’s device becomes theirs')
  t.equal(await attacker.isChecked(), false)
})

t.test('codes are not guessed, not used twice, and not late', async (t) => {
  const { world, acme, clock } = await start(t)
  const machine = await provingMachine(world)
  const person = await asked(world, acme)
  const good = await machine.prove(await person.challenge())
  const guessed = good.replace(/code=.*/, `code=${randomBytes(32).toString('base64url')}`)
  t.equal((await person.browser.visit(guessed)).response.status, 410)
  t.equal((await person.browser.visit(good)).response.status, 410, 'one guess')
  const late = await machine.prove(await person.challenge())
  clock.advance(LIMITS.deviceProofCodeMs)
  t.equal((await person.browser.visit(late)).response.status, 410)
  for (const bad of ['', '?cid=', '?cid=a&cid=b&code=c', `?cid=${'a'.repeat(43)}&code=b`])
    t.equal(
      (await person.browser.visit(`${acme.issuer}/device/confirm${bad}`)).response.status,
      410,
    )
  t.equal(await person.isChecked(), false)
  const used = await machine.prove(await person.challenge())
  await person.browser.visit(used)
  t.equal((await person.browser.visit(used)).response.status, 410)
  t.equal(await person.isChecked(), true, 'the first time it counted')
})

t.test('another tenant knows nothing of a challenge', async (t) => {
  const { world, acme } = await start(t)
  const other = await world.tenant('other')
  const stranger = await provingMachine(world, { tenantId: 'other' })
  const person = await asked(world, acme)
  const at = await person.challenge()
  await t.rejects(stranger.prove(at), { code: 'device_challenge_invalid' })
  const machine = await provingMachine(world)
  const good = await machine.prove(await person.challenge())
  const there = good.replace(acme.issuer, other.issuer)
  t.equal((await person.browser.visit(there)).response.status, 410)
  t.equal((await person.browser.visit(good)).response.status, 200, 'and burns nothing')
})

t.test('only the browser that has given the password gets a challenge', async (t) => {
  const { world, acme } = await start(t)
  const person = await asked(world, acme)
  const stranger = await new Browser(world.baseUrl).once(person.url)
  t.equal(stranger.status, 400)
  t.equal(stranger.headers.get('location'), null)
  const nobody = await begin(world, acme)
  const uid = /\/sign-in\/([\w-]+)\?/.exec(nobody.page.url)?.[1] ?? ''
  const before = await nobody.browser.once(`${acme.issuer}/sign-in/${uid}/device`)
  t.match(before.headers.get('location'), `${acme.issuer}/sign-in/${uid}`, 'the password first')
  await setPolicy(world, 'device', { require: 'any' })
  t.match(await person.challenge(), /\/sign-in\//, 'nor is one made for nothing')
})

t.test('what went wrong at the agent is told, whatever stands in the address', async (t) => {
  const { world, acme } = await start(t)
  const machine = await provingMachine(world)
  const person = await asked(world, acme)
  const confirm = async (error: string) => {
    const { searchParams } = new URL(await machine.prove(await person.challenge()))
    const cid = searchParams.get('cid') ?? ''
    const at = `${acme.issuer}/device/confirm?cid=${cid}&error=${encodeURIComponent(error)}`
    return (await person.browser.visit(at)).html
  }
  t.match(await confirm('device_suspect_clone'), /may have been copied/)
  t.match(await confirm('device_key_lost'), /was reset.*new install link/)
  const hostile = await confirm('<script>alert(1)</script>')
  t.match(hostile, /couldn’t complete the check/)
  t.notMatch(hostile, 'alert(1)')
  t.match(await confirm('constructor'), /couldn’t complete the check/)
})

t.test('two tabs of one sign-in: either may be the one that comes back', async (t) => {
  const { world, acme } = await start(t)
  const machine = await provingMachine(world)
  const person = await asked(world, acme)
  const [first, second] = [await person.challenge(), await person.challenge()]
  const late = await machine.prove(second)
  t.equal((await person.browser.visit(await machine.prove(first))).response.status, 200)
  t.equal((await person.browser.visit(late)).response.status, 200)
  t.ok((await person.claims((await person.goOn()).url)).sub)
})

t.test('revoked between the proof and the last click: asked again', async (t) => {
  const { world, acme } = await start(t)
  const machine = await provingMachine(world)
  const person = await asked(world, acme)
  await person.check(machine)
  await world.enrolledDevices.revoke('acme', [machine.deviceId], { name: 'admin', requestId: '' })
  t.equal((await person.goOn()).response.status, 422)
  t.equal((await world.store.read.select().from(schema.sessions)).length, 0)
})

t.test('people who are named for emergencies are not asked', async (t) => {
  const { world, acme } = await start(t)
  await setPolicy(world, 'device', { require: 'enrolled', break_glass: [acme.ada.userId] })
  const person = await begin(world, acme)
  t.ok((await person.claims((await person.send(ADA)).url)).sub)
  const used = (await audited(world)).filter((one) => one === 'device.break_glass_used')
  t.equal(used.length, 1, 'and that is recorded')
  t.match((await recordedSignIns(world)).at(-1), {
    outcome: 'signed_in',
    reason: 'device_break_glass',
  })
})

t.test('pages in German', async (t) => {
  const { world, acme } = await start(t)
  const person = await begin(world, acme, { ui_locales: 'de' })
  t.match((await person.send(ADA)).html, /<html lang="de">.*Dieses Gerät prüfen/s)
  t.match((await person.send({ device: 'none' })).html, /nicht registriert.*Installationslink/s)
})

t.test('a session that began without a proof goes on only with one, and no password', async (t) => {
  const { world, acme } = await start(t)
  await setPolicy(world, 'device', { require: 'any' })
  const app = await enrolApp(world, acme)
  const before = await begin(world, acme)
  await before.password()
  await before.claims((await before.send({ code: app.code() })).url)
  const { browser } = before
  await setPolicy(world, 'device', { require: 'enrolled' })
  const again = await begin(world, acme, {}, browser)
  t.equal(again.page.response.status, 200)
  t.match(again.page.html, /Check this device/)
  const uid = /\/sign-in\/([\w-]+)\?/.exec(again.page.url)?.[1] ?? ''
  const machine = await provingMachine(world)
  const to = (await browser.once(`${acme.issuer}/sign-in/${uid}/device`)).headers.get('location')
  t.equal((await browser.visit(await machine.prove(to ?? ''))).response.status, 200)
  const claims = await again.claims((await again.send({ device: 'continue' })).url)
  t.equal(claims.acr, 'aal2', 'the factor of the session is not asked for again')
  const silent = await begin(world, acme, {}, browser)
  t.equal((await silent.claims(silent.page.url)).sub, acme.ada.userId, 'now it goes on')

  await world.enrolledDevices.revoke('acme', [machine.deviceId], { name: 'admin', requestId: '' })
  const over = await begin(world, acme, {}, browser)
  t.match(over.page.html, /name="password"/, 'revoked with its device')
})

t.test('a session on a machine that fails by now goes on or not, as is decided', async (t) => {
  const { world, acme } = await start(t)
  const machine = await provingMachine(world)
  const person = await asked(world, acme)
  await person.check(machine)
  await person.claims((await person.goOn()).url)
  await machine.checkIn(OFF)
  const goesOn = async () => {
    const again = await begin(world, acme, {}, person.browser)
    return !again.page.url.startsWith(world.baseUrl)
  }
  t.equal(await goesOn(), true, 'nothing')
  const demand = { require: 'enrolled', facts: ['firewall'] } as const
  await setPolicy(world, 'device', { ...demand, on_violation: 'ask_again' })
  t.equal(await goesOn(), false)
  await setPolicy(world, 'device', { ...demand, on_violation: 'ask_again', mode: 'warn' })
  t.equal(await goesOn(), true, 'what only warns ends nothing')
  await setPolicy(world, 'device', { ...demand, on_violation: 'ask_again', grace_days: 3 })
  t.equal(await goesOn(), true, 'in time')
})

t.test('a machine that falls out of the policy ends its sessions as it says so', async (t) => {
  const { world, acme } = await start(t)
  const demand = { require: 'enrolled', facts: ['firewall'] } as const
  const machine = await provingMachine(world)
  const endings = async () => {
    const rows = await world.store.read.select().from(schema.sessions)
    return rows.map(({ endReason }) => endReason)
  }
  await setPolicy(world, 'device', { ...demand, on_violation: 'ask_again' })
  const person = await asked(world, acme)
  await person.check(machine)
  await person.claims((await person.goOn()).url)
  await machine.checkIn()
  t.strictSame(await endings(), [null])
  await machine.checkIn(OFF)
  t.strictSame(await endings(), ['device_check'])
  await machine.checkIn()
  const again = await begin(world, acme, {}, person.browser)
  t.match(again.page.html, /Check this device/, 'asked for the device, and for no password')
  const uid = /\/sign-in\/([\w-]+)\?/.exec(again.page.url)?.[1] ?? ''
  const to = await person.browser.once(`${acme.issuer}/sign-in/${uid}/device`)
  await person.browser.visit(await machine.prove(to.headers.get('location') ?? ''))
  t.ok((await again.claims((await again.send({ device: 'continue' })).url)).sub)

  await setPolicy(world, 'device', { ...demand, on_violation: 'end_sessions' })
  await machine.checkIn(OFF)
  t.strictSame((await endings()).sort(), ['device_check', 'device_violation'])
  const over = await begin(world, acme, {}, person.browser)
  t.match(over.page.html, /name="password"/)
})

t.test('the account is open to whoever has shown the device that is demanded', async (t) => {
  const { world, acme } = await start(t)
  await setPolicy(world, 'device', { require: 'any' })
  const here = await personAt(world, acme)
  t.equal((await here.browser.visit(`${acme.issuer}/account`)).response.status, 200)
  await setPolicy(world, 'device', { require: 'enrolled' })
  const shut = await here.browser.visit(`${acme.issuer}/account`)
  t.equal(shut.response.status, 403)
  t.match(shut.html, /service\/login\?returnTo/, 'a sign-in asks for it')
  t.equal((await here.send('/sessions', { others: '1' })).response.status, 403)

  const machine = await provingMachine(world)
  const person = await asked(world, acme)
  await person.check(machine)
  await person.claims((await person.goOn()).url)
  t.equal((await person.browser.visit(`${acme.issuer}/account`)).response.status, 200)
})

t.test('people see their own devices, with what to mend, and remove them', async (t) => {
  const { world, acme } = await start(t)
  await setPolicy(world, 'device', { require: 'any' })
  const { userId } = acme.ada
  const machine = await provingMachine(world, { userId })
  await machine.checkIn(OFF)
  const others = await provingMachine(world)
  const here = await personAt(world, acme)
  const shown = await here.browser.visit(`${acme.issuer}/account`)
  t.match(shown.html, /Devices with our agent.*laptop-1.*ufw enable.*can’t run commands/s)
  t.equal((await here.send('/machines', { device: others.deviceId })).response.status, 404)
  t.match((await here.send('/machines', { device: machine.deviceId })).html, /Device removed/)
  t.match((await world.enrolledDevices.ofPerson('acme', userId))[0]?.state ?? 'revoked', 'revoked')
})
