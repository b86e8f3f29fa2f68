/** A tenant whose people sign out at their provider, and the tokens by which that says so. */
import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Test } from 'tap'
import { Browser } from '../realm-world.ts'
import { atProvider, GRACE, startConnected } from './connected.ts'
import { CLIENT } from './provider-peer.ts'

export const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
export const now = () => Math.floor(Date.now() / 1000)

export async function startSigningOut(t: Test, wished: { signsOut?: boolean } = {}) {
  const connected = await startConnected(t, {}, wished)
  const { peer, world, tenant, connection } = connected

  async function comes(person: Record<string, unknown> = {}, by = connection) {
    const one = await atProvider(world, tenant, by)
    const back = await one.browser.visit(peer.signIn(one.to, { ...GRACE, ...person }))
    return { ...one, back, finish: () => one.claims(back.url) }
  }
  const signed = (
    claims: object,
    header: object = {},
    key: Parameters<SignJWT['sign']>[0] = peer.privateKey,
  ) =>
    new SignJWT({
      ...{ iss: peer.issuer, aud: CLIENT.clientId, iat: now(), exp: now() + 120 },
      ...{ jti: randomUUID(), events: { [EVENT]: {} }, ...claims },
    })
      .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'logout+jwt', ...header })
      .sign(key)
  const send = async (token: string, by = connection, tenantId = 'acme') => {
    const url = `${world.baseUrl}/auth/realms/${tenantId}/connections/${by.connectionId}/back-channel-logout`
    const body = new URLSearchParams({ logout_token: token })
    const answer = await new Browser(world.baseUrl).once(url, { method: 'POST', body })
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  const isAlive = async (sid: unknown) => {
    const row = await world.sessions.find('acme', String(sid))
    return row !== undefined && row.endedAt === null
  }
  return { ...connected, comes, signed, send, isAlive }
}
