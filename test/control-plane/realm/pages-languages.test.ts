/** Which language a page speaks, and that every language says everything. */
import t from 'tap'
import { english } from '../../../control-plane/realm/pages/texts/english.ts'
import { textsFor } from '../../../control-plane/realm/pages/texts/languages.ts'
import { LANGUAGES } from '../../../shared/sign-in/language.ts'
import { Browser, requestWith, startWorld } from './realm-world.ts'

/** Every text by its path, the ones with something filled in included. */
function sentences(value: unknown, path: string): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value === 'function')
    return sentences((value as (...given: unknown[]) => unknown)('X', 'Y', 'Z'), path)
  return Object.entries(value as object).flatMap(([name, inner]) =>
    sentences(inner, path === '' ? name : `${path}.${name}`),
  )
}

/** Words that happen to be the same. */
const SAME_IN: Readonly<Record<string, readonly string[]>> = {
  de: ['connections.test.name'],
}

t.test('every language says everything, and in its own words', async (t) => {
  const originals = sentences(english, '')
  t.ok(originals.length > 50)
  for (const texts of LANGUAGES.slice(1).map((language) => textsFor({ uiLocales: language }))) {
    const translated = new Map(sentences(texts, ''))
    const isMessageStep = (path: string) => /^messages\.[a-z_]+\.steps\./.test(path)
    const paths = (list: [string, string][]) =>
      list.map(([path]) => path).filter((path) => !isMessageStep(path))
    t.same(
      [...translated.keys()].filter((path) => !isMessageStep(path)),
      paths(originals),
    )
    for (const [path, text] of translated) t.not(text.trim(), '', `${texts.language}: ${path}`)
    const same = originals
      .filter(([path, text]) => translated.get(path) === text)
      .map(([path]) => path)
    t.same(same, SAME_IN[texts.language] ?? [], `${texts.language} repeats the English`)
    for (const kind of Object.keys(english.messages))
      t.ok(texts.messages[kind as keyof typeof english.messages].steps.length > 0, kind)
  }
})

t.test('the language is the one that the browser prefers among ours', async (t) => {
  const spoken = (acceptLanguage: string | undefined) => textsFor({ acceptLanguage }).language
  for (const [header, expected] of [
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', 'de'],
    ['en-GB,en;q=0.9,de;q=0.8', 'en'],
    ['en;q=0.3, de;q=0.7', 'de'],
    ['fr-CH, fr;q=0.9, de;q=0.5', 'de'],
    ['fr, ja', 'en'],
    ['en, de', 'en'],
    ['de;q=0.000', 'en'],
    ['en;q=0, *', 'de'],
    ['*', 'en'],
    ['de;q=0.5, *;q=0.8', 'en'],
    ['en;q=0.5, *;q=0.8', 'de'],
    ['de ; q=1.000', 'de'],
    ['deutsch', 'en'],
  ] as const)
    t.equal(spoken(header), expected, String(header))
})

t.test('what is not a well-formed language is left out, not guessed at', async (t) => {
  for (const header of [
    'de;q=2',
    'de;q=1.5',
    'de;q=-1',
    'de;q=0.1234',
    'de;q',
    'de;level=1',
    'de_DE',
    '-de',
    'de-',
    '"de"',
    'de de',
    `${'fr,'.repeat(40)}de`,
    '__proto__',
  ])
    t.equal(textsFor({ acceptLanguage: header }).language, 'en', header.slice(0, 20))
})

t.test('ui_locales of the application go first', async (t) => {
  const spoken = (uiLocales: unknown, acceptLanguage = 'en') =>
    textsFor({ uiLocales, acceptLanguage }).language
  t.equal(spoken('de'), 'de')
  t.equal(spoken('fr-CA de-AT en'), 'de')
  t.equal(spoken('en', 'de'), 'en')
  t.equal(spoken('fr', 'de'), 'de', 'none of them is ours: the browser decides')
  for (const odd of [undefined, '', '*', 42, ['de'], 'de;q=1']) t.equal(spoken(odd), 'en')
})

t.test('pages say which language they speak; answers for programs stay English', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const german = { 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' }
  const browser = new Browser(world.baseUrl)
  const visit = (url: string, headers: Record<string, string> = german) =>
    browser.visit(url, { headers })

  const page = await browser.visit(await requestWith(acme, { ui_locales: 'de' }))
  const wrong = await browser.submit(page.url, { username: 'ada', password: 'wrong' })
  for (const [what, { html, response }, heading] of [
    ['sign-in', page, 'Anmelden bei'],
    ['wrong password', wrong, 'Benutzername oder Passwort ist falsch'],
    [
      'unregistered',
      await visit(await requestWith(acme, { redirect_uri: 'x:y' })),
      'funktioniert nicht',
    ],
    ['sign-out', await visit(`${acme.issuer}/logout`), 'Sie sind abgemeldet'],
    ['nothing', await visit(`${acme.issuer}/nowhere`), 'Seite nicht gefunden'],
    ['expired', await visit(`${acme.issuer}/sign-in/${'x'.repeat(43)}`), 'ist abgelaufen'],
    [
      'no tenant',
      await visit(`${world.baseUrl}/auth/realms/nobody/authorize`),
      'Keine Anwendung gefunden',
    ],
  ] as const) {
    t.match(html, heading, what)
    t.match(html, '<html lang="de">', what)
    t.equal(response.headers.get('content-language'), 'de', what)
  }
  const discovery = await visit(`${acme.issuer}/.well-known/openid-configuration`)
  t.match(JSON.parse(discovery.html), { ui_locales_supported: ['en', 'de'] })
  const own = await visit(`${acme.issuer}/nowhere`, { 'accept-language': 'fr' })
  t.match(own.html, '<html lang="en">')
  t.equal(own.response.headers.get('content-language'), 'en')
  const json = await visit(`${acme.issuer}/nowhere`, { ...german, accept: 'application/json' })
  t.match(JSON.parse(json.html), { error: 'not_found', detail: /^The link/ })
})

t.test('whoever is here because a session has ended is told so, and nothing else', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const pageFor = async (parameters: Record<string, string>) =>
    (await browser.visit(await requestWith(acme, parameters))).html
  t.match(await pageFor({ session_ended: 'expired' }), 'Your session has expired. Sign in again')
  t.match(await pageFor({ session_ended: 'moved' }), 'Your browser or network changed')
  const german = await pageFor({ session_ended: 'expired', ui_locales: 'de' })
  t.match(german, 'Ihre Sitzung ist abgelaufen. Melden Sie sich erneut an.')
  t.notMatch(await pageFor({ session_ended: '<b>your bank' }), /has expired|your bank/)
})

t.test('the realm leads back to the page that says so: signed out', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const home = new URL('/service/logout?signed_out', acme.redirectUri).href
  const query = new URLSearchParams({ client_id: acme.clientId, post_logout_redirect_uri: home })
  const { url } = await new Browser(world.baseUrl).visit(
    `${acme.issuer}/logout?${query.toString()}`,
  )
  t.equal(url, home)
})

t.test('passwords can be shown, by a button that needs the script to be seen', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  const browser = new Browser(world.baseUrl)
  const { html, response } = await browser.visit(await requestWith(acme, {}))
  t.match(
    html,
    /<button type="button" class="reveal" data-reveal="password" [^>]*aria-pressed="false" hidden>Show password</,
  )
  const script = `${acme.issuer}/passkey.js`
  t.match(html, `<script src="${script}" defer></script>`)
  t.match(response.headers.get('content-security-policy'), `script-src ${script};`)
  t.match((await browser.visit(script)).response.headers.get('content-type'), 'text/javascript')
  const german = await browser.visit(await requestWith(acme, { ui_locales: 'de' }))
  t.match(german.html, 'hidden>Passwort anzeigen<')
  t.notMatch((await browser.visit(`${acme.issuer}/account/forgotten`)).html, '<script')
})
