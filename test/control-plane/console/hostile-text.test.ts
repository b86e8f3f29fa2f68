/**
 * Hostile text in every field of every action, and in everything that others have put into the
 * store, shown back on every page of the table. Chromium's own parser says what became of it: no
 * element and no attribute that the same pages do not have with a harmless text.
 */
import Database from 'better-sqlite3'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { ConsoleRoute } from '../../../control-plane/console/route.ts'
import { startChromium, WITHOUT_CHROMIUM } from '../../support/chromium.ts'
import { startConsole, type Person } from '../../support/console.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import {
  HOSTILE_GROUPS,
  HOSTILE_TEXTS,
  inspection,
  type Inspected,
} from '../../support/hostile-text.ts'
import { fillStore, overwriteTexts } from './filled-store.ts'

const BASE = 'http://localhost:8080'
const HARMLESS = 'nothing to see'
const WITHOUT = { skip: WITHOUT_CHROMIUM }

interface Page {
  readonly of: string
  readonly text: string
}

let asked = 0
/** So many requests from one address would be too many. */
const elsewhere = () => ({ address: `10.0.${(asked >> 8) & 255}.${asked++ & 255}` })

/** For the name of an assertion, in plain letters. */
const written = (text: string) =>
  JSON.stringify(text.slice(0, 60)).replaceAll(
    /[^ -~]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const nameOf = ({ declaration: { method, path } }: ConsoleRoute) => `${method} ${path}`

function addressOf({ declaration }: ConsoleRoute, ids: Readonly<Record<string, string>>): string {
  return declaration.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const id = ids[name]
    if (id === undefined) throw new Error(`filled-store.ts has no ${name}: the page is not walked`)
    return encodeURIComponent(id)
  })
}

/** No character that means something in HTML stands there as it was typed. */
function isRaw(page: string, typed: string): boolean {
  const texts = HOSTILE_TEXTS.filter((one) => /[<>"']/.test(one) && typed.includes(one))
  return texts.some((one) => page.includes(one))
}

/** With one text in each field, as far as fields go. */
async function sendAll(
  t: Test,
  grace: Person,
  routes: readonly ConsoleRoute[],
  ids: Readonly<Record<string, string>>,
  typed: string,
): Promise<Page[]> {
  const pages: Page[] = []
  for (const route of routes) {
    const { method, form } = route.declaration
    const names = Object.keys(form ?? {})
    if (method !== 'POST' || names.length === 0) continue
    const fields = Object.fromEntries(names.map((name) => [name, typed]))
    const answer = await grace.post(addressOf(route, ids), fields, elsewhere())
    const what = `${nameOf(route)}: ${written(typed)}`
    if (answer.status >= 500) t.fail(`${what} answered ${answer.status}`)
    if (isRaw(answer.text, typed)) t.fail(`${what} comes back raw`)
    for (const [name, value] of answer.headers)
      if (/hx/i.test(value) && !/^(location|content-security-policy)$/.test(name))
        t.fail(`${what} in the header ${name}`)
    if (answer.text !== '') pages.push({ of: what, text: answer.text })
  }
  return pages
}

/** Every page as it is, with the search fields filled in. */
async function openAll(
  t: Test,
  grace: Person,
  routes: readonly ConsoleRoute[],
  ids: Readonly<Record<string, string>>,
  typed: string,
): Promise<Page[]> {
  const pages: Page[] = []
  for (const route of routes) {
    const { method, query = {}, path } = route.declaration
    if (method !== 'GET' || path === '/console/receipt') continue
    if (path.endsWith('/branding/frame')) continue // of the realm, with its own style sheet
    const address = addressOf(route, ids)
    const filled = new URLSearchParams(Object.keys(query).map((name) => [name, typed]))
    for (const at of [address, ...(filled.size > 0 ? [`${address}?${filled.toString()}`] : [])]) {
      const answer = await grace.get(at, elsewhere())
      const what = `${nameOf(route)}${at === address ? '' : ' with a query'}: ${written(typed)}`
      if (answer.status >= 500) t.fail(`${what} answered ${answer.status}`)
      const isPage = (answer.headers.get('content-type') ?? '').startsWith('text/html')
      if (!isPage) continue // a file to be kept: nothing in it is shown by a browser
      if (isRaw(answer.text, typed)) t.fail(`${what} is shown raw`)
      pages.push({ of: what, text: answer.text })
    }
  }
  return pages
}

async function startFilled(t: Test) {
  const file = join(temporaryFolder(t), 'service.db')
  const world = await startConsole(t, { file })
  const grace = await world.person('operator')
  const ids = await fillStore(world)
  const database = new Database(file)
  t.teardown(() => database.close())
  return { ...world, grace, ids, overwrite: (text: string) => overwriteTexts(database, text) }
}

/** A browser's parser, that knows what these pages are made of. */
async function startParser(t: Test, known: readonly Page[]) {
  const chromium = await startChromium(t)
  const { page } = await chromium.page()
  const look = async (pages: readonly Page[]) =>
    page.evaluate<Inspected>(
      inspection(
        pages.map(({ text }) => text),
        BASE,
      ),
    )
  const before = await look(known)
  t.same(before.findings, [], 'a harmless text')
  const vocabulary = new Set(before.vocabulary)
  return {
    size: vocabulary.size,
    async judge(pages: readonly Page[], text: string) {
      const { vocabulary: seen, findings } = await look(pages)
      const wrong = findings.map(({ page: index, what }) => `${pages[index]?.of}: ${what}`)
      const strange = seen.filter((word) => !vocabulary.has(word))
      t.same([...wrong, ...strange], [], `${pages.length} pages: ${written(text)}`)
    },
  }
}

void t.test('the corpus is whole', async (t) => {
  t.ok(HOSTILE_TEXTS.length >= 60, `${HOSTILE_TEXTS.length} texts`)
  t.same([...HOSTILE_GROUPS.flat()].sort(), [...HOSTILE_TEXTS].sort(), 'each is in one group')
})

void t.test('typed into every field of every action, it comes back as text', WITHOUT, async (t) => {
  const { routes, grace, ids } = await startFilled(t)
  const own = routes.filter(({ declaration: { role } }) => role !== 'anyone')
  const harmless = await sendAll(t, grace, own, ids, HARMLESS)
  t.ok(harmless.length > 15, `${harmless.length} forms`)
  const parser = await startParser(t, [
    ...harmless,
    ...(await sendAll(t, grace, own, ids, '')),
    ...(await openAll(t, grace, own, ids, HARMLESS)),
  ])
  for (const group of HOSTILE_GROUPS) {
    const text = group.join(' ')
    await parser.judge(await sendAll(t, grace, own, ids, text), text)
  }
})

void t.test('out of the store, it is text on every page', WITHOUT, async (t) => {
  const { routes, grace, ids, overwrite } = await startFilled(t)
  const harmless = await openAll(t, grace, routes, ids, HARMLESS)
  t.ok(overwrite(HARMLESS) > 20, 'there is something to overwrite')
  const again = await openAll(t, grace, routes, ids, HARMLESS)
  const shown = again.filter(({ text }) => text.includes(HARMLESS))
  t.ok(shown.length > 20, `${shown.length} of ${again.length} pages show a text of others`)
  const parser = await startParser(t, [...harmless, ...again])
  for (const group of HOSTILE_GROUPS) {
    const text = group.join(' ')
    overwrite(text)
    await parser.judge(await openAll(t, grace, routes, ids, text), text)
  }
})
