/** What is true of every page, whatever it is for. */
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { pageHeaders } from '../../../control-plane/realm/answers.ts'
import { textsFor } from '../../../control-plane/realm/pages/texts/languages.ts'
import { LANGUAGES } from '../../../shared/sign-in/language.ts'
import type { Page } from '../../../control-plane/realm/pages/layout.ts'
import { EXAMPLES } from './pages-examples.ts'

const FOLDER = join(import.meta.dirname, '../../../control-plane/realm/pages')
const EVIL = `"><script>alert(1)</script>'`
const places = LANGUAGES.map((language) => ({
  texts: textsFor({ uiLocales: language }),
  name: 'Acme & Söhne',
  host: 'id.example.com',
}))

t.test('every page there is has an example', async (t) => {
  const shown = new Set(Object.keys(EXAMPLES).map((name) => name.split(',')[0]))
  const files = globSync('**/*-page{,s}.ts', { cwd: FOLDER })
  t.ok(files.length >= 3)
  for (const file of files) {
    const exported = (await import(join(FOLDER, file))) as Record<string, unknown>
    const pages = Object.keys(exported).filter((name) => name.endsWith('Page'))
    t.ok(pages.length > 0, `${basename(file)} makes pages`)
    for (const name of pages) t.ok(shown.has(name), `${name} is in pages-examples.ts`)
  }
})

/** The one that the policy of the page names by its whole address, once. */
function withoutOwnScript(text: string, { needs }: Page): string {
  const { scriptUrl } = needs
  return scriptUrl === undefined
    ? text
    : text.replace(`<script src="${scriptUrl}" defer></script>`, '')
}

for (const [name, example] of Object.entries(EXAMPLES))
  t.test(`${name}: one language, one heading, nothing that runs`, async (t) => {
    for (const place of places) {
      const page = example(place)
      const text = withoutOwnScript(String(await page.html), page)
      const { language } = place.texts
      t.match(text, `<html lang="${language}">`)
      t.match(pageHeaders(page), { 'Content-Language': language })
      t.equal(text.match(/<h1[ >]/g)?.length, 1)
      t.match(text, /<title>[^<]+<\/title>/)
      t.notMatch(text, /<script|\son[a-z]+=|\sstyle=|javascript:|undefined|\[object/)
      const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
      t.same(ids, [...new Set(ids)], 'no id twice')
      const meant = [...text.matchAll(/(?:\sfor|aria-[a-z]+by)="([^"]*)"/g)]
      for (const id of meant.flatMap(([, list = '']) => list.split(' '))) t.ok(ids.includes(id), id)
      for (const [input] of text.matchAll(/<input(?![^>]*type="hidden")[^>]*>/g))
        t.match(input, /autocomplete="/, 'the browser knows what to fill in')
    }
    const [place] = places
    if (place !== undefined) {
      const evil = example({ ...place, name: EVIL, host: EVIL })
      t.notMatch(withoutOwnScript(String(await evil.html), evil), /<script/)
    }
  })
