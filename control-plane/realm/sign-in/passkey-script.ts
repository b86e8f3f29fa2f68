/** The only script of a realm, for the pages on which a passkey can be used. */
import { readFileSync } from 'node:fs'
import type { Realm, RealmContext } from '../world.ts'

const SCRIPT = readFileSync(new URL('../pages/passkey.js', import.meta.url), 'utf8')
const PATH = '/passkey.js'

export function passkeyScriptUrl({ issuer }: Pick<Realm, 'issuer'>): string {
  return `${issuer}${PATH}`
}

export async function passkeyScript(ctx: RealmContext, next: () => Promise<unknown>) {
  if (ctx.path !== PATH || !['GET', 'HEAD'].includes(ctx.method)) return next()
  ctx.set('Content-Type', 'text/javascript; charset=utf-8')
  ctx.set('Cache-Control', 'public, max-age=3600')
  ctx.body = SCRIPT
}
