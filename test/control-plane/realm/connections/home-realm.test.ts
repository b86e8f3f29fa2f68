/** Where a tenant has providers, the address says which of them somebody goes to, and nothing more. */
import t, { type Test } from 'tap'
import { ACTOR, ADA, Browser, type WorldOptions } from '../realm-world.ts'
import { begin, isAskingForPassword, setPolicy } from '../steps.ts'
import { activeConnection, GRACE, startConnected, startNames } from './connected.ts'

async function start(t: Test, options: WorldOptions = {}) {
  const names = startNames()
  const connected = await startConnected(t, { resolveTxt: names.resolveTxt, ...options })
  const { world, tenant, connection } = connected
  const at = async (parameters: Record<string, string> = {}) => {
    const person = await begin(world, tenant, parameters)
    return { ...person, name: (username: string) => person.sendOnce({ username }) }
  }
  const prove = (domain?: string, one = connection) => names.prove(world, one, domain)
  return { ...connected, names, at, prove }
}

const hintOf = (url: string) => new URL(url).searchParams.get('login_hint')

t.test('the address leads to the provider of its domain, which is told who comes', async (t) => {
  const { at, prove, peer } = await start(t)
  await prove()
  const person = await at()
  t.notOk(isAskingForPassword(person.page.html), 'the address first')
  t.match(person.page.html, /autocomplete="username"[\s\S]*Continue with Company/)
  const sent = await person.name(' Grace@COMPANY.example ')
  t.equal(sent.response.status, 303)
  t.ok(sent.url.startsWith(`${peer.issuer}/authorize?`))
  t.equal(hintOf(sent.url), 'Grace@COMPANY.example')
  const back = await person.browser.visit(peer.signIn(sent.url, GRACE))
  t.match(await person.claims(back.url), { email: GRACE.email })
})

t.test('any other address is asked for a password, under the name that was typed', async (t) => {
  const { at, prove, tenant } = await start(t)
  await prove()
  for (const typed of [
    'ada',
    'ada@example.test',
    'grace@sub.company.example',
    'x@company.example.',
  ]) {
    const person = await at()
    const page = await person.name(typed)
    t.equal(page.response.status, 200, typed)
    t.ok(isAskingForPassword(page.html), typed)
    const field = /<input[^>]*name="username"[^>]*>/.exec(page.html)?.[0] ?? ''
    t.match(field, `value="${typed}"`)
    t.match(field, 'autocomplete="username"', 'for password managers')
    t.match(page.html, /autocomplete="current-password"/)
    t.match(page.html, /Other ways to sign in/)
  }
  const person = await at()
  t.match((await person.name('  ')).html, /Enter your email address or username/)
  await person.name('ada')
  const done = await person.send(ADA)
  t.equal((await person.claims(done.url)).sub, tenant.ada.userId)
})

t.test('whether an address has an account here cannot be told', async (t) => {
  const { at, prove, world } = await start(t)
  await prove()
  await world.users.create(
    'acme',
    { username: 'grace', email: 'grace@company.example', name: 'Grace', password: ADA.password },
    ACTOR,
  )
  const reads: string[] = []
  const seen = async (username: string) => {
    const { byLogin, authenticate } = world.users
    Object.assign(world.users, {
      byLogin: (...of: Parameters<typeof byLogin>) => (reads.push('byLogin'), byLogin(...of)),
      authenticate: (...of: Parameters<typeof authenticate>) => (
        reads.push('authenticate'),
        authenticate(...of)
      ),
    })
    const person = await at()
    const { response, html, url } = await person.name(username)
    const { page } = person
    const to = new URL(url === '' ? page.url : url)
    const shown = url === '' ? html : [...to.searchParams.keys()].join()
    const bare = shown.replaceAll(username, 'X').replaceAll(/sign-in\/[\w-]+/g, 'sign-in/U')
    return { status: response.status, shown: bare, to: url === '' ? '' : to.pathname }
  }
  t.same(await seen('ada@example.test'), await seen('eve@example.test'))
  t.same(await seen('grace@company.example'), await seen('nobody@company.example'))
  t.same(reads, [], 'nobody is looked for, so that it takes no longer for anybody')
})

t.test('a domain that is not proven, or whose connection is off, leads nowhere', async (t) => {
  const { at, prove, world, connection, names, peer } = await start(t)
  await world.connectionDomains.add('acme', connection.connectionId, 'company.example', ACTOR)
  const asked = async (what: string) => {
    const page = await (await at()).name('grace@company.example')
    t.ok(isAskingForPassword(page.html), what)
  }
  await asked('not proven')
  await world.connectionDomains.remove('acme', connection.connectionId, 'company.example', ACTOR)
  names.records.clear()
  await prove()
  await activeConnection(world, 'acme', peer, { name: 'Other' })
  await world.connections.deactivate('acme', connection.connectionId, ACTOR)
  await asked('off')
})

t.test(
  'what the application knows of the person is told to the provider, if it is an address',
  async (t) => {
    const { at } = await start(t)
    const follow = async (hint: string) => {
      const { browser, page } = await at({ login_hint: hint })
      const link = /href="([^"]*\/connection\/[^"]*)"/.exec(page.html)?.[1] ?? ''
      return hintOf((await browser.once(link)).headers.get('location') ?? '')
    }
    t.equal(await follow('grace@company.example'), 'grace@company.example')
    t.equal(await follow('grace'), null)
    t.equal(await follow('x" onload="@company.example'), null)
  },
)

t.test('where a password is for emergencies alone, no address leads to one', async (t) => {
  const { at, prove, world, peer, connection } = await start(t)
  const other = await activeConnection(world, 'acme', peer, { name: 'Contractors' })
  await prove('contractor.example', other)
  await setPolicy(world, 'password', { sign_in: 'break_glass' })
  const person = await at()
  t.match(person.page.html, /Emergency access with a password/)
  const away = await person.name('eve@contractor.example')
  t.match(away.url, `${peer.issuer}/authorize`)
  const stranger = await (await at()).name('ada@example.test')
  t.equal(stranger.response.status, 422)
  t.notOk(isAskingForPassword(stranger.html))
  t.match(stranger.html, /No identity provider is set up for this address/)
  await world.connections.deactivate('acme', connection.connectionId, ACTOR)
  t.match(new URL((await at()).page.url).origin, peer.issuer, 'with one it is one step')
})

t.test('a tenant without a connection sees the page that it had', async (t) => {
  const { world, at, connection } = await start(t)
  const bare = (html: string) =>
    html.replaceAll(/sign-in\/[\w-]+/g, 'sign-in/U').replaceAll(/nonce-[\w-]+/g, '')
  const plain = await world.tenant('plain')
  await world.connections.deactivate('acme', connection.connectionId, ACTOR)
  const [mine, theirs] = [await at(), await begin(world, plain)]
  const named = (html: string) => bare(html).replaceAll('plain', 'acme')
  t.equal(named(theirs.page.html), bare(mine.page.html))
  t.match(mine.page.html, /name="username"[\s\S]*name="password"/)
  t.notMatch(mine.page.html, /class="divider"|class="connections"|Other ways/)
  const { html, response } = await mine.name('ada')
  t.equal(response.status, 422)
  t.match(html, /Enter your username and password/)
})

t.test('a form of another site leads nobody to a provider', async (t) => {
  const { at, prove, world } = await start(t)
  await prove()
  const person = await at()
  const answer = await person.send(
    { username: GRACE.email as string },
    { origin: 'https://evil.example' },
  )
  t.equal(answer.response.status, 403)
  const stranger = await new Browser(world.baseUrl).submit(person.page.url, {
    username: 'x@company.example',
  })
  t.equal(stranger.response.status, 400, 'nor does a browser that has not begun it')
})
