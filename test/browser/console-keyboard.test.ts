// long: every page of the console is walked through by Tab, at a desk and on a phone
/** Whoever has only a keyboard reaches everything on every page, in the order in which it is read. */
import t, { type Test } from 'tap'
import type { CDPSession, Page } from 'playwright-core'
import { fillStore } from '../control-plane/console/filled-store.ts'
import { DESK, PHONE, startChromium, WITHOUT_CHROMIUM } from '../support/chromium.ts'
import { serveConsole } from '../support/served-console.ts'

/** Parameters that `fillStore()` leaves to whoever asks. */
const OTHERS: Readonly<Record<string, string>> = { address: '192.0.2.1' }
/** Files, what goes on for ever, and what stands in a frame without scripts. */
const NO_PAGE = /\.csv$|\.jsonl$|\/live$|\/export|\/branding\/(?:frame|preview)/
/** What stands beside each other may be read a line higher: the next column. */
const LINE_PX = 60

/** All that can be used; of radio buttons one per group, as the arrows reach the others. */
const COUNT = `(() => {
  const all = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]'
  const groups = new Set()
  document.body.tabIndex = -1
  document.body.focus()
  window.reached = new Map()
  return [...document.querySelectorAll(all)].filter((one) => {
    if (one.disabled || one.tabIndex < 0 || !one.checkVisibility({ visibilityProperty: true }))
      return false
    if (one.type !== 'radio') return true
    const group = [...document.forms].indexOf(one.form) + one.name
    return groups.has(group) ? false : groups.add(group)
  }).length
})()`

interface Reached {
  readonly place: number
  readonly html: string
  readonly outline: number
  readonly isInSight: boolean
  readonly isInMain: boolean
  readonly y: number
}

/** What is there behind each Tab, noted by the page itself: to be asked for it takes longer than to find it. */
const NOTE = `(() => {
  const look = (one) => {
    if (one === null || one === document.body) return null
    if (!window.reached.has(one)) window.reached.set(one, window.reached.size)
    const box = one.getBoundingClientRect()
    const style = getComputedStyle(one)
    return {
      place: window.reached.get(one),
      html: one.outerHTML.slice(0, 90),
      outline: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth),
      isInSight: box.width > 0 && box.bottom > 0 && box.top < innerHeight,
      isInMain: one.closest('main') !== null,
      y: box.y + scrollY,
    }
  }
  window.noted = []
  document.addEventListener('keyup', () => window.noted.push(look(document.activeElement)), true)
})()`
const NOTED = 'window.noted.splice(0)'

const TAB = { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 }

/** As fast as the page takes them. */
async function pressTab(keyboard: CDPSession, times: number): Promise<void> {
  const pressed: Promise<unknown>[] = []
  for (let left = times; left > 0; left--)
    for (const type of ['rawKeyDown', 'keyUp'] as const)
      pressed.push(keyboard.send('Input.dispatchKeyEvent', { type, ...TAB }))
  await Promise.all(pressed)
}

/** All that Tab comes to until it is back at the first, or has left the page. */
async function* tabbed(page: Page, keyboard: CDPSession, count: number): AsyncGenerator<Reached> {
  for (let times = count + 1; ; times = Math.ceil(count / 4) + 1) {
    await pressTab(keyboard, times)
    const noted = await page.evaluate<(Reached | null)[]>(NOTED)
    for (const at of noted) {
      if (at === null) return
      yield at
    }
    if (noted.length < times) return
  }
}

async function walk(t: Test, page: Page, keyboard: CDPSession, name: string) {
  const count = await page.evaluate<number>(COUNT)
  await page.evaluate(NOTE)
  const faults: string[] = []
  let last: Reached | undefined
  let places = 0
  for await (const at of tabbed(page, keyboard, count)) {
    if (at.place < places - 1) break // once round
    if (at.place === places - 1) continue // days, months and years of one date
    places++
    if (at.outline < 2) faults.push(`is not seen to be reached: ${at.html}`)
    if (!at.isInSight) faults.push(`is out of sight: ${at.html}`)
    if (at.isInMain && last?.isInMain === true && at.y < last.y - LINE_PX)
      faults.push(`comes after what stands below it: ${at.html}`)
    last = at
  }
  if (places !== count) faults.push(`${places} of ${count} are reached`)
  t.same(faults, [], name)
}

for (const [where, viewport] of [
  ['at a desk', DESK],
  ['on a phone', PHONE],
] as const)
  t.test(
    `every page of the console by keyboard, ${where}`,
    { skip: WITHOUT_CHROMIUM },
    async (t) => {
      const world = await serveConsole(t)
      const ids: Readonly<Record<string, string>> = { ...OTHERS, ...(await fillStore(world)) }
      const grace = await world.person('operator', 'Grace')
      const chromium = await startChromium(t)
      const { page, context } = await chromium.page({ viewport })
      await world.enter(context, grace)
      const keyboard = await context.newCDPSession(page)
      let pages = 0
      for (const { declaration } of world.routes) {
        if (declaration.method !== 'GET' || NO_PAGE.test(declaration.path)) continue
        const path = declaration.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
          encodeURIComponent(ids[name] ?? 'none'),
        )
        const type = (await grace.get(path)).headers.get('content-type') ?? ''
        if (!type.startsWith('text/html')) continue
        await page.goto(world.at(path))
        await walk(t, page, keyboard, path)
        pages++
      }
      t.ok(pages >= 80, `${pages} pages`)
    },
  )
