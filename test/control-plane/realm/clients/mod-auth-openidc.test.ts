/** Apache's mod_auth_openidc from Debian, as its own documentation sets it up. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { ACTOR, temporaryFolder } from '../../../support/control-plane.ts'
import { freePort } from '../../../support/ports.ts'
import { Browser } from '../../../support/browser.ts'
import { PASSWORD, startWorld } from '../realm-world.ts'

const APACHE = '/usr/sbin/apache2'
const MODULES = '/usr/lib/apache2/modules'
const isMissing = !existsSync(APACHE) || !existsSync(join(MODULES, 'mod_auth_openidc.so'))
const skip = isMissing
  ? 'apache2 and libapache2-mod-auth-openidc are not installed (Debian packages)'
  : false

type Scope = Parameters<typeof temporaryFolder>[0]

async function startApache(t: Scope, port: number, provider: Record<string, string>) {
  const folder = temporaryFolder(t)
  const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'auth_openidc', 'dir']
  mkdirSync(join(folder, 'site'))
  writeFileSync(join(folder, 'site/index.html'), 'the protected page')
  for (const path of [folder, join(folder, 'site')]) chmodSync(path, 0o755)
  const settings = Object.entries(provider).map(([name, value]) => `${name} "${value}"`)
  writeFileSync(
    join(folder, 'apache.conf'),
    `ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
${modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join('\n')}
LoadModule headers_module ${MODULES}/mod_headers.so
User www-data
Group www-data
DocumentRoot ${folder}/site
DirectoryIndex index.html
${settings.join('\n')}
<Location />
  AuthType openid-connect
  Require valid-user
  Header set X-Sub "%{OIDC_CLAIM_sub}e"
  Header set X-Name "%{OIDC_CLAIM_name}e"
</Location>
`,
  )
  const apache = spawn(APACHE, ['-X', '-f', join(folder, 'apache.conf')], { stdio: 'inherit' })
  t.teardown(async () => {
    const ended = new Promise((resolve) => apache.once('exit', resolve))
    apache.kill('SIGKILL') // one process, which would wait for connections that are kept
    await ended
  })
  for (let round = 0; round < 1200; round++) {
    if (await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' }).catch(() => null)) return
    await sleep(50)
  }
  throw new Error('apache did not start')
}

t.test(
  'mod_auth_openidc signs in, hears of a session that ended, and signs out',
  { skip },
  async (t) => {
    const edgePort = await freePort()
    const world = await startWorld(t, { edgePort })
    const origin = `http://127.0.0.1:${edgePort}`
    const acme = await world.tenant('acme', { hostnames: ['localhost'], origin })
    const redirectUri = `http://localhost:${edgePort}/service/callback`
    await startApache(t, edgePort, {
      OIDCProviderMetadataURL: `${acme.issuer}/.well-known/openid-configuration`,
      OIDCClientID: acme.clientId,
      OIDCClientSecret: acme.clientSecret,
      OIDCRedirectURI: redirectUri,
      OIDCCryptoPassphrase: 'a passphrase of the application',
      OIDCPKCEMethod: 'S256',
      OIDCScope: 'openid profile email',
      OIDCSessionType: 'server-cache',
    })
    const hear = { backchannelLogoutUri: `${origin}/service/callback?logout=backchannel` }
    await world.tenants.patch('acme', hear, ACTOR)

    const browser = new Browser()
    t.after(() => browser.close())
    const page = await browser.open(`http://localhost:${edgePort}/`)
    t.ok(page.url.startsWith(`${acme.issuer}/sign-in/`))
    const inside = await browser.submit(page, { username: 'ada', password: PASSWORD })
    t.equal(inside.text, 'the protected page')
    t.equal(inside.headers['x-sub'], acme.ada.userId)
    t.equal(inside.headers['x-name'], 'Ada Lovelace')

    await world.revocations.revoke('acme', { subject: acme.ada.userId }, ACTOR)
    let again = await browser.open(`http://localhost:${edgePort}/`)
    for (let round = 0; round < 2000 && again.text === 'the protected page'; round++) {
      await sleep(20)
      again = await browser.open(`http://localhost:${edgePort}/`)
    }
    t.ok(again.url.startsWith(`${acme.issuer}/sign-in/`), 'the session is gone there as well')

    await sleep(1100) // nothing is issued for the second in which she was signed out
    const back = await browser.submit(again, { username: 'ada', password: PASSWORD })
    t.equal(back.text, 'the protected page')
    const home = encodeURIComponent(`http://localhost:${edgePort}/`)
    const out = await browser.open(`${redirectUri}?logout=${home}`)
    t.ok(out.url.startsWith(`${acme.issuer}/sign-in/`), 'signed out, at home, and asked again')
  },
)
