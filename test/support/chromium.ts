/** Debian's Chromium, driven by playwright-core; tests skip visibly where it is not installed. */
import { existsSync } from 'node:fs'
import { chromium, type BrowserContextOptions } from 'playwright-core'

const EXECUTABLE = '/usr/bin/chromium'

export const WITHOUT_CHROMIUM = existsSync(EXECUTABLE)
  ? false
  : 'Chromium is not installed (Debian package chromium)'

export const PHONE = { width: 360, height: 740 }
export const DESK = { width: 1200, height: 800 }

/** A browser for one test; its contexts end with it. */
export async function startChromium(t: { after(work: () => Promise<void>): void }) {
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
  t.after(() => browser.close())
  return {
    async page(options: BrowserContextOptions = {}) {
      const context = await browser.newContext({ viewport: PHONE, ...options })
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('console', (message) => complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(error.message))
      return { context, page, complaints }
    },
  }
}
