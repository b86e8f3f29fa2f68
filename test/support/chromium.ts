/**
 * Debian's Chromium, driven by playwright-core; tests skip visibly where it is not installed. Its
 * headless shell has the same engine without the windows around it: a test is 40 % less of work.
 */
import { existsSync } from 'node:fs'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
} from 'playwright-core'
import { afterRoom } from './room.ts'

const EXECUTABLE = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) =>
  existsSync(path),
)

export const WITHOUT_CHROMIUM =
  EXECUTABLE === undefined
    ? 'Chromium is not installed (Debian package chromium-headless-shell, or chromium)'
    : false

export const PHONE = { width: 360, height: 740 }
export const DESK = { width: 1200, height: 800 }

/** For machines that have much else to do: as long as nobody waits where all is well. */
export const START_MS_MAX = 180_000
export const ACT_MS_MAX = 90_000

const launch = () =>
  chromium.launch({
    executablePath: EXECUTABLE!,
    timeout: START_MS_MAX,
    // it ends with its pipe, and what listens for signals would stay behind in the process
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      // a process for each site that a sign-in leads through costs more than the pages do; nothing
      // here is drawn by a graphics card either way
      '--disable-site-isolation-trials',
      '--renderer-process-limit=1',
      '--in-process-gpu',
    ],
  })

let shared: Promise<Browser> | undefined

/** One for all files of a room; where a file runs alone, one for each test. */
async function browserFor(t: { after(work: () => Promise<void>): void }): Promise<Browser> {
  const running = await shared
  if (running?.isConnected() === true) return running
  const started = launch()
  if (afterRoom(async () => (await started).close())) shared = started
  else t.after(async () => (await started).close())
  return started
}

/** Of one browser and nobody's at the moment, by the options that they were made with. */
const idle = new WeakMap<Browser, Map<string, Kept[]>>()

interface Kept {
  readonly context: BrowserContext
  /** As new: no page, no cookie, nothing stored, no cache. */
  clear(): Promise<void>
}

/** A blank page keeps its renderer, and what that has compiled: most of what a fresh one costs. */
async function newKept(browser: Browser, options: BrowserContextOptions): Promise<Kept> {
  const context = await browser.newContext({ viewport: PHONE, ...options })
  context.setDefaultTimeout(ACT_MS_MAX)
  const blank = await context.newPage()
  const session = await context.newCDPSession(blank)
  async function clear() {
    for (const page of context.pages()) if (page !== blank) await page.close()
    await context.clearCookies()
    await session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' })
    await session.send('Network.clearBrowserCache')
  }
  return { context, clear }
}

/** Each page has a context of its own, which is as new: no cookie of another, no cache. */
export async function startChromium(t: { after(work: () => Promise<void>): void }) {
  const browser = await browserFor(t)
  const places = idle.get(browser) ?? new Map<string, Kept[]>()
  idle.set(browser, places)
  const taken: (readonly [Kept[], Kept])[] = []
  t.after(async () => {
    for (const [place, kept] of taken) {
      await kept.clear()
      place.push(kept)
    }
  })
  return {
    async page({ viewport, colorScheme, ...options }: BrowserContextOptions = {}) {
      const key = JSON.stringify(options)
      const place = places.get(key) ?? []
      places.set(key, place)
      const kept = place.pop() ?? (await newKept(browser, options))
      taken.push([place, kept])
      const { context } = kept
      const page = await context.newPage()
      await page.setViewportSize(viewport ?? PHONE)
      if (colorScheme !== undefined) await page.emulateMedia({ colorScheme })
      const complaints: string[] = []
      page.on('console', (message) => complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(error.message))
      return { context, page, complaints }
    },
  }
}
