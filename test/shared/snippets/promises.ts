/** What a snippet promises, asked of it as a program of its own. */
import t from 'tap'
import { withDefaults } from '../../../shared/integration/snippets/defaults.ts'
import type { FrameworkSnippet } from '../../../shared/integration/snippets/snippet.ts'
import {
  installApplication,
  issuerOf,
  keyOfTheService,
  startBrokenControlPlane,
  startControlPlane,
  type Host,
} from './application.ts'
import {
  ACCEPTED,
  ANSWERED,
  carrying,
  claimsOf,
  EITHER,
  NONCE,
  REFUSED,
  UNANSWERED,
} from './cases.ts'

const FETCH_GAP_MS = 10_000

export function keepsItsPromises(snippet: FrameworkSnippet | undefined, host: Host): void {
  if (snippet === undefined) throw new Error('there is no such snippet')
  void t.test(`the snippet for ${snippet.name}`, { skip: host.missing }, async (t) => {
    const control = await startControlPlane(t)
    const spare = await keyOfTheService()
    const start = installApplication(t, snippet, host, [spare, control.key])
    const startedAtMs = performance.now()
    const { ask, output } = await start(t, control.base)
    const by = () => issuerOf(control.base, control.key)
    const hello = (name: string) => ({ status: 200, text: `Hello ${name}\n` })

    await t.test('takes what the service signed', async (t) => {
      for (const [what, lines] of ACCEPTED) t.match(await ask(lines(by())), hello('Ada'), what)
      const name = 'Zoë Ωmega 王'
      t.match(await ask(carrying(claimsOf(by(), { name }))), hello(name), 'a name of any alphabet')
      t.equal(control.fetches(), 0, 'the key is in the file')
    })

    await t.test('takes a key that was rotated in after its start', async (t) => {
      const next = issuerOf(control.base, await control.rotate())
      t.match(await ask(carrying(claimsOf(next))), hello('Ada'))
      t.match(await ask(carrying(claimsOf(next, { sid: 'another' }))), hello('Ada'))
      t.equal(control.fetches(), 1, 'fetched once, and kept')
      t.match(await ask(carrying(claimsOf(by()))), hello('Ada'), 'beside the one before it')
    })

    await t.test('takes every key of its file', async (t) => {
      t.match(await ask(carrying(claimsOf(issuerOf(control.base, spare)))), hello('Ada'))
    })

    await t.test('refuses everything else', async (t) => {
      for (const [what, lines] of REFUSED) {
        const { status, text } = await ask(lines(by()))
        t.equal(status, 401, what)
        t.notMatch(text, /Ada|Eve/)
      }
    })

    await t.test('is not brought down by what a library may take', async (t) => {
      for (const [what, lines] of EITHER) {
        const { status, text } = await ask(lines(by()))
        t.ok(status === 401 || (status === 200 && text.startsWith('Hello ')), what)
      }
      t.match(await ask(carrying(claimsOf(by()))), hello('Ada'))
    })

    await t.test('answers the probes of the service, and no others', async (t) => {
      for (const [what, lines] of ANSWERED)
        t.strictSame(await ask(lines(by())), { status: 204, reply: NONCE, text: '' }, what)
      for (const [what, lines] of UNANSWERED)
        t.match(await ask(lines(by())), { status: 401, reply: /^$/ }, what)
    })

    await t.test('asks for unknown keys every ten seconds at most', async (t) => {
      const gaps = Math.floor((performance.now() - startedAtMs) / FETCH_GAP_MS)
      t.ok(control.fetches() <= 1 + gaps, `${control.fetches()} times`)
    })

    await t.test('refuses only unknown keys while nobody hands them out', async (t) => {
      const broken = await startBrokenControlPlane(t)
      const { ask } = await start(t, `${broken.base}/`) // the slash is none of the issuer's
      t.match(await ask(carrying(claimsOf(issuerOf(broken.base, broken.key)))), { status: 401 })
      t.match(await ask(carrying(claimsOf(issuerOf(broken.base, control.key)))), hello('Ada'))
    })

    await t.test('starts with nothing set, once it names service and tenant', async (t) => {
      const service = { baseUrl: control.base, tenantId: 'acme' }
      const code = withDefaults(snippet.edge.code, snippet.language, service)
      const named = { ...snippet, edge: { ...snippet.edge, code } }
      const { ask } = await installApplication(t, named, host, [])(t, null)
      t.match(await ask(carrying(claimsOf(by()))), hello('Ada'), 'by a key that it fetched')
      t.match(await ask([]), { status: 401 })
    })

    await t.test('keeps tokens out of what it logs', async (t) => {
      t.notMatch(output(), claimsOf(by()).split('.')[0] ?? '')
    })
    if (!t.passing()) t.comment(output().slice(-4000))
  })
}
