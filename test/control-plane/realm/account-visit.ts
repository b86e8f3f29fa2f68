/** Somebody at the pages of their own account. */
import {
  Browser,
  PASSWORD,
  relyingParty,
  sidOf,
  signIn,
  type TestTenant,
  type World,
} from './realm-world.ts'

export function fieldIn(html: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? ''
}

/** The fields that a page marks as wrong, with the one that has the cursor first. */
export function wrongFieldsIn(html: string): string[] {
  const inputs = [...html.matchAll(/<input\b[^>]*>/g)].map(([input]) => input)
  const wrong = inputs.filter((input) => input.includes('aria-invalid="true"'))
  const first = inputs.find((input) => /\sautofocus/.test(input))
  const names = [...(first === undefined ? [] : [first]), ...wrong.filter((one) => one !== first)]
  return names.map((input) => /\sname="([^"]*)"/.exec(input)?.[1] ?? '')
}

/** Somebody who is signed in, at their account. */
export async function personAt(world: World, tenant: TestTenant, username = 'ada', more = {}) {
  const browser = new Browser(world.baseUrl)
  const { tokens } = await signIn(browser, tenant, {}, { username, password: PASSWORD, ...more })
  return accountOf(browser, tenant, sidOf(tokens))
}

export function accountOf(browser: Browser, tenant: TestTenant, sid = '') {
  const url = (path: string) => `${tenant.issuer}/account${path}`
  const open = (path = '') => browser.visit(url(path))
  const csrf = async () => fieldIn((await open('/profile')).html, 'csrf')
  async function send(path: string, fields: Record<string, string>) {
    return browser.submit(url(path), { csrf: await csrf(), ...fields })
  }
  return { browser, open, send, csrf, url, sid }
}

export async function signInWithCode(
  world: World,
  tenant: TestTenant,
  username: string,
  code: string,
) {
  const browser = new Browser(world.baseUrl)
  const flow = await (await relyingParty(tenant)).begin()
  const page = await browser.visit(flow.url)
  await browser.submit(page.url, { username, password: PASSWORD })
  const answer = await browser.submit(page.url, { code })
  const tokens = await flow.finish(answer.url)
  return accountOf(browser, tenant, sidOf(tokens))
}
