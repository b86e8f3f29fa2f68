/** One fleet for the files of a room whose stories are each a tenant's; where a file runs alone, its own. */
import { codeNow, GRACE, linkForOperator } from './console-browser.ts'
import type { Page } from 'playwright-core'
import { startFleet, type Fleet } from './programs.ts'
import { afterRoom } from './room.ts'

/** What any of them needs. */
const gatewayConfig = `webhooks: { allow_private: ["127.0.0.0/8"] }
user_directory: { allow: ["127.0.0.0/8"] }`

let shared: Fleet | undefined

/** Who asks brings tenants and people whose names no other file uses, and stops nothing. */
export async function sharedFleet(t: Parameters<typeof startFleet>[0]): Promise<Fleet> {
  if (shared !== undefined) return shared
  let isKept = false
  const after = (work: () => Promise<void>) => {
    isKept = afterRoom(work)
    if (!isKept) t.after(work)
  }
  const fleet = await startFleet({ after }, { gatewayConfig })
  if (isKept) shared = fleet
  return fleet
}

/**
 * A new operator, who has signed in just now, as what some pages show asks for: as a browser does, and in a
 * tenth of the time that one takes (console-first-operator.test.ts shows that it can).
 */
export async function becomeNewOperator(page: Page, fleet: Fleet, name: string): Promise<void> {
  const { password, ...grace } = GRACE
  const email = `${name}@operators.test`
  const home = `${fleet.baseUrl}/console`
  const browser = fleet.browser()
  browser.userAgent = await page.evaluate<string>('navigator.userAgent')
  const welcome = await browser.open(await linkForOperator(fleet))
  await browser.submit(welcome, { ...grace, email, password })
  const enrol = await browser.signIn(home, email, password)
  const [, spelled = ''] = /<code>((?:[A-Z2-7]{1,4} ?)+)<\/code>/.exec(enrol.text) ?? []
  const saved = await browser.submit(enrol, { code: codeNow(spelled.replaceAll(' ', '')) })
  await browser.submit(saved, {})
  const own = [...(browser.cookies.get('localhost') ?? [])]
  await page.context().addCookies(
    own.map(([key, { value, path }]) => {
      const [cookie = ''] = key.split(' ')
      return { name: cookie, value, path, domain: 'localhost' }
    }),
  )
  await page.goto(home)
}
