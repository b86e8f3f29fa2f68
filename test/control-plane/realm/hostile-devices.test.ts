/** What a machine says of itself is text on every page of a sign-in and of the account, and in a file. */
import t from 'tap'
import { deviceCsv } from '../../../control-plane/requests/device-csv.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { DEVICE_FACTS } from '../../../shared/device/facts.ts'
import { HOSTILE_GROUPS, HOSTILE_TEXTS } from '../../support/hostile-text.ts'
import { provingMachine } from '../../support/proving-machine.ts'
import { personAt } from './account-visit.ts'
import { startWorld } from './realm-world.ts'
import { begin, setPolicy } from './steps.ts'

const DANGEROUS = HOSTILE_TEXTS.filter((text) => /[<>"']/.test(text))

/** Those that stand on a page as they were said. */
const raw = (page: string, said: string) =>
  DANGEROUS.filter((text) => said.includes(text) && page.includes(text))

t.test('hostile names and facts are text, also where they got past the door', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await setPolicy(world, 'device', { require: 'any' })
  const here = await personAt(world, acme)
  await setPolicy(world, 'device', { require: 'enrolled', facts: [...DEVICE_FACTS] })
  const machine = await provingMachine(world, { userId: acme.ada.userId })
  for (const language of ['en', 'de']) {
    const person = await begin(world, acme, { ui_locales: language })
    await person.password()
    const uid = /\/sign-in\/([\w-]+)\?/.exec(person.page.url)?.[1] ?? ''
    const to = await person.browser.once(`${acme.issuer}/sign-in/${uid}/device`)
    await person.browser.visit(await machine.prove(to.headers.get('location') ?? ''))
    for (const group of HOSTILE_GROUPS) {
      const said = group.join(' ').replaceAll('\0', '') // which one of the databases does not store
      const fact = { value: false, reason: 'not_encrypted', detail: said } as const
      const unknown = { value: 'unknown', reason: said, detail: said } as never
      const facts = Object.fromEntries(
        DEVICE_FACTS.map((name, at) => [name, at % 2 === 0 ? fact : unknown]),
      )
      const os = { id: said, version: said }
      const posture = { facts, os, agent: said } as never
      await world.store.change(async ({ queries }) => {
        await queries.update(schema.enrolledDevices).set({ hostname: said, agent: said })
        await queries.update(schema.devicePostures).set({ posture })
      })
      const failing = await person.send({ device: 'continue' })
      t.equal(failing.response.status, 403)
      t.match(failing.html, /hx\(\)/, 'what the machine says is shown')
      t.same(raw(failing.html, said), [], `the page of the sign-in, ${language}`)
      await setPolicy(world, 'device', { require: 'any' })
      const account = await here.browser.visit(`${acme.issuer}/account`, {
        headers: { 'accept-language': language },
      })
      t.match(account.html, /hx\(\)/)
      t.same(raw(account.html, said), [], `the account, ${language}`)
      await setPolicy(world, 'device', { require: 'enrolled', facts: [...DEVICE_FACTS] })
    }
  }
})

t.test('a name that is a formula is none in a file', async (t) => {
  const world = await startWorld(t)
  await world.tenant('acme')
  await provingMachine(world)
  for (const hostname of ['=HYPERLINK("https://evil.example","x")', '+1', '-1', '@SUM(A1)']) {
    await world.store.change(({ queries }) =>
      queries.update(schema.enrolledDevices).set({ hostname }),
    )
    const file = (await Array.fromAsync(deviceCsv(world.enrolledDevices, 'acme', {}))).join('')
    const [, line = ''] = file.split('\r\n')
    t.match(line, /^dev_[0-9a-f]{16},"?'/, hostname)
  }
})
