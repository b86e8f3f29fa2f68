import { spawn } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { SignJWT } from 'jose'
import { request } from 'undici'
import { JAVASCRIPT } from '../../../control-plane/api/contract/snippets/javascript.ts'
import { startApi } from '../../support/api.ts'
import { freePort } from '../../support/ports.ts'

void t.test('the contract names everything, and nothing of a tenant', async (t) => {
  const { call } = await startApi(t)
  const { status, body } = await call('GET', '/api/v1/contract', undefined, { key: null })
  t.equal(status, 200)
  t.match(body, {
    contract_version: '1.0',
    transport: {
      session_cookie: 'service_session',
      claims_header: 'X-Service-Claims',
      user_header: 'X-Service-User',
      verified_header: 'X-Service-Verified',
      algorithm: 'RS256',
    },
    public_key: { path: '/api/v1/public-key', filename: 'service_public.pem' },
    packages: { cli_binary: 'service-analyzer' },
  })
  t.strictSame(Object.keys(body['frameworks'] as object), Object.keys(body['snippets'] as object))
})

/** Run from inside the project, so that they find its packages. */
const ROOT = new URL('../../../', import.meta.url).pathname

for (const [framework, { edge }] of Object.entries(JAVASCRIPT)) {
  const [packageName = ''] = edge.install.replace('npm install ', '').split(' ')
  const isThere = framework === 'node' || canResolve(packageName)
  const options = isThere ? {} : { skip: `${packageName} is not installed here` }

  void t.test(`the snippet for ${framework} runs as it stands`, options, async (t) => {
    const { services, operator, tenant } = await startApi(t)
    await tenant('acme')
    await operator('POST', '/tenants/acme/publish')
    const signed = async (claims: Record<string, unknown>, typ?: string, kid?: string) => {
      const { jwks } = await services.keys.signingSet('acme')
      const jwk = jwks.find((key) => kid === undefined || key.kid === kid)
      if (jwk === undefined) throw new Error('no key')
      return new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: jwk.kid, ...(typ === undefined ? {} : { typ }) })
        .setIssuer(`${base}/auth/realms/acme`)
        .setAudience('acme-user')
        .setIssuedAt()
        .setExpirationTime('60s')
        .sign(createPrivateKey({ key: jwk, format: 'jwk' }))
    }

    // stands for the control plane: the snippet fetches rotated keys from here
    const control = createServer((_request, response) => {
      void services.keys.publicKeys('acme').then((keys) => response.end(JSON.stringify({ keys })))
    })
    await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve))
    t.teardown(() => control.close())
    const base = `http://127.0.0.1:${(control.address() as AddressInfo).port}`

    const folder = mkdtempSync(join(ROOT, 'node_modules', '.snippet-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    const [key] = await services.keys.publicKeys('acme')
    writeFileSync(join(folder, 'service_public.pem'), key?.pem ?? '')
    writeFileSync(join(folder, edge.file), edge.code)
    const port = await freePort()
    const program = spawn(process.execPath, [edge.file], {
      cwd: folder,
      env: { SERVICE_BASE_URL: base, SERVICE_TENANT_ID: 'acme', PORT: String(port) },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const ended = new Promise((resolve) => program.once('exit', resolve))
    t.teardown(async () => {
      program.kill()
      await ended
    })

    const ask = async (headers: Record<string, string>) => {
      const answer = await request(`http://127.0.0.1:${port}/`, { headers })
      const text = await answer.body.text()
      return { status: answer.statusCode, reply: answer.headers['x-service-probe-reply'], text }
    }
    await listening(port)

    const user = { sub: 'usr_1', sid: 's', name: 'Ada' }
    const claims = await signed(user, 'JWT')
    t.match(await ask({ 'x-service-claims': claims }), { status: 200, text: 'Hello Ada\n' })
    t.match(
      await ask({ 'x-service-claims': await signed(user) }),
      { status: 200 },
      'typ is optional',
    )

    await operator('POST', '/tenants/acme/keys/rotate', { phase: 'prepare' })
    const [, next] = await services.keys.publicKeys('acme')
    const rotated = await signed(user, 'JWT', next?.kid)
    t.match(await ask({ 'x-service-claims': rotated }), { status: 200 }, 'a rotated key is fetched')

    t.match(await ask({}), { status: 401 })
    t.match(await ask({ 'x-service-claims': `${claims.slice(0, -4)}AAAA` }), { status: 401 })
    t.match(await ask({ 'x-service-user': 'usr_1', 'x-service-verified': 'true' }), { status: 401 })

    const nonce = 'a-nonce-of-the-probe'
    const probe = await signed({ nonce }, 'service-probe+jwt')
    t.match(await ask({ 'x-service-probe': probe }), { status: 204, reply: nonce })
    t.match(await ask({ 'x-service-probe': claims }), { status: 401 }, 'a session is no probe')
    t.match(await ask({ 'x-service-claims': probe }), { status: 401 }, 'and a probe no session')
  })
}

function canResolve(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

async function listening(port: number): Promise<void> {
  for (;;) {
    try {
      const answer = await request(`http://127.0.0.1:${port}/`)
      await answer.body.dump()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
