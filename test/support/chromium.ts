/** Debian's Chromium, driven by playwright-core; tests skip visibly where it is not installed. */
import { existsSync } from 'node:fs'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
} from 'playwright-core'
import { afterRoom } from './room.ts'

const EXECUTABLE = '/usr/bin/chromium'

export const WITHOUT_CHROMIUM = existsSync(EXECUTABLE)
  ? false
  : 'Chromium is not installed (Debian package chromium)'

export const PHONE = { width: 360, height: 740 }
export const DESK = { width: 1200, height: 800 }

const launch = () =>
  chromium.launch({
    executablePath: EXECUTABLE,
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

/** Each page has a context of its own, which ends with the test: no cookie of another, no cache. */
export async function startChromium(t: { after(work: () => Promise<void>): void }) {
  const contexts: BrowserContext[] = []
  const browser = await browserFor(t)
  t.after(async () => {
    for (const context of contexts) await context.close()
  })
  return {
    async page(options: BrowserContextOptions = {}) {
      const context = await browser.newContext({ viewport: PHONE, ...options })
      contexts.push(context)
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('console', (message) => complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(error.message))
      return { context, page, complaints }
    },
  }
}
