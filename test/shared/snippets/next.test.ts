/** On its own, since it takes its time: Next.js is fetched, and builds an application. */
// long: Next.js is fetched, and builds an application
import t from 'tap'
import { JAVASCRIPT } from '../../../shared/integration/snippets/javascript.ts'
import { installApplication, issuerOf, startControlPlane } from './application.ts'
import { ACCEPTED, ANSWERED, EITHER, NONCE, REFUSED, UNANSWERED } from './cases.ts'
import { javascriptHosts } from './javascript-host.ts'

/** The other way, for who cannot have a server of their own: the README says what it does not see. */
const PROXY = `import { NextResponse } from 'next/server.js'
import { verifyClaims } from 'service-node'

export const proxy = verifyClaims().next(NextResponse)
`
const NEXT_START = [process.execPath, 'node_modules/next/dist/bin/next', 'start', '-p']

const host = (await javascriptHosts(t)).next()

t.test('Next.js, in a server of its own and by proxy.js', { skip: host.missing }, async (t) => {
  const control = await startControlPlane(t)
  let command = (_port: number): readonly string[] => [process.execPath, 'server.mjs']
  const start = installApplication(
    t,
    JAVASCRIPT.next,
    {
      ...host,
      files: { ...host.files, 'proxy.js': PROXY },
      start: (port: number) => command(port),
    },
    [control.key],
  )
  const by = () => issuerOf(control.base, control.key)

  const keepsItsPromises = async (refusedReply: RegExp | undefined) => {
    const { ask } = await start(t, control.base)
    for (const [what, lines] of ACCEPTED)
      t.match(await ask(lines(by())), { status: 200, text: 'Hello Ada\n' }, what)
    for (const [what, lines] of REFUSED) {
      const { status, text } = await ask(lines(by()))
      t.equal(status, 401, what)
      t.notMatch(text, /Ada|Eve/)
    }
    for (const [what, lines] of EITHER)
      t.match((await ask(lines(by()))).text, /Hello|refused/, what)
    for (const [what, lines] of ANSWERED)
      t.strictSame(await ask(lines(by())), { status: 204, reply: NONCE, text: '' }, what)
    for (const [what, lines] of UNANSWERED)
      t.match(await ask(lines(by())), { status: 401, reply: refusedReply }, what)
  }

  await keepsItsPromises(/^$/)
  command = (port) => [...NEXT_START, String(port)]
  await keepsItsPromises(undefined) // Next.js drops a header without a value
})
