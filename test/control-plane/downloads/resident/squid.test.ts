// long: starts a proxy as people run it
/** The way out is a real squid that asks who it is: all of it goes by CONNECT, and what fails is named. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { ask } from '../../../support/dialled-in.ts'
import { freePort } from '../../../support/ports.ts'
import { introduce, startSecureService } from '../../../support/secure-service.ts'
import { listening, startOrigin } from '../../../support/wire.ts'

const SQUID = '/usr/sbin/squid'
const BASIC = '/usr/lib/squid/basic_ncsa_auth'
const skip = existsSync(SQUID) && existsSync(BASIC) ? false : 'needs squid'

const isThere = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })

async function startSquid(t: Test, { port = 0, denied = '' } = {}) {
  const folder = temporaryFolder(t)
  chmodSync(folder, 0o777) // it gives up its rights
  const at = port === 0 ? await freePort() : port
  const log = join(folder, 'access.log')
  const hashed = execFileSync('openssl', ['passwd', '-apr1', 'p@ss:word'], { encoding: 'utf8' })
  writeFileSync(join(folder, 'passwords'), `me:${hashed}`)
  writeFileSync(join(folder, 'hosts'), '127.0.0.1 id.localhost\n')
  writeFileSync(
    join(folder, 'squid.conf'),
    `http_port 127.0.0.1:${at}
hosts_file ${folder}/hosts
auth_param basic program ${BASIC} ${folder}/passwords
acl known proxy_auth REQUIRED
${denied === '' ? '' : `acl denied port ${denied}\nhttp_access deny denied`}
http_access allow known
http_access deny all
access_log stdio:${log}
cache_log ${folder}/cache.log
cache deny all
pid_filename none
coredump_dir ${folder}
shutdown_lifetime 0 seconds
`,
  )
  const child = spawn(SQUID, ['-N', '-f', join(folder, 'squid.conf')], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(stop)
  while (!(await isThere(at))) {
    if (child.exitCode !== null) throw new Error(readFileSync(join(folder, 'cache.log'), 'utf8'))
    await new Promise((next) => setTimeout(next, 20))
  }
  return {
    port: at,
    stop,
    as: (credentials: string) => `http://${credentials}127.0.0.1:${at}`,
    seen: () => readFileSync(log, 'utf8'),
  }
}

t.test('it joins, serves, and is back when the proxy is', { skip }, async (t) => {
  const origin = await startOrigin(t)
  const { service, door, baseUrl, call, start, state } = await startSecureService(t)
  const squid = await startSquid(t)
  const environment = {
    SERVICE_BASE_URL: baseUrl,
    SERVICE_CONNECTOR_TOKEN: await service.token(),
    HTTPS_PROXY: squid.as('me:p%40ss%3Aword@'),
  }
  const joining = ['join', '--origin', origin.url, '--state', state]
  const wrong = { ...environment, HTTPS_PROXY: squid.as('me:wr0ng@') }
  const refused = await call(joining, { environment: wrong })
  t.match(refused, { code: 3, err: /does not accept the username and password/ })
  t.notMatch(refused.err, 'wr0ng')
  t.match(await call(joining, { environment }), { code: 0 })

  introduce(door, state)
  const running = start(['run', '--state', state, '--local-port', 'none'], { environment })
  await running.logged('"msg":"connected"')
  t.match(await ask(door.upstream), { status: 200, body: 'ok' })
  const large = 'x'.repeat(300_000)
  t.match(await ask(door.upstream, { method: 'POST', body: large }), { status: 200 })

  await squid.stop()
  await running.logged('ECONNREFUSED')
  const again = await startSquid(t, { port: squid.port })
  await running.logged('"msg":"connected"', 2)
  t.match(await ask(door.upstream), { status: 200, body: 'ok' })
  running.signal('stop')
  const { code, err } = await running.ended
  t.equal(code, 0)
  t.notMatch(err, /p@ss|p%40ss|bWU6/)
  // squid tells of a tunnel when it has ended
  while (!again.seen().includes(` CONNECT ${door.address} me `))
    await new Promise((next) => setTimeout(next, 20))
  t.match(squid.seen(), ` CONNECT ${new URL(baseUrl).host} me `)
  t.match(squid.seen(), / TCP_DENIED\/407 .* CONNECT /, 'who does not know it is not let through')
})

t.test('diag names the proxy, and what it minds', { skip }, async (t) => {
  const origin = await startOrigin(t)
  const { service, door, baseUrl, call, state } = await startSecureService(t)
  const squid = await startSquid(t)
  const given = { SERVICE_BASE_URL: baseUrl, SERVICE_CONNECTOR_TOKEN: await service.token() }
  const right = squid.as('me:p%40ss%3Aword@')
  const joining = ['join', '--origin', origin.url, '--state', state]
  t.match(await call(joining, { environment: { ...given, HTTPS_PROXY: right } }), { code: 0 })
  introduce(door, state)
  const diag = async (proxy: string) => {
    const environment = { ...given, HTTPS_PROXY: proxy }
    const asked = ['diag', '--json', '--state', state, '--local-port', 'none']
    const { code, out } = await call(asked, { environment })
    t.notMatch(out, /p@ss|p%40ss|wr0ng/)
    const shown = JSON.parse(out) as {
      at_fault: { subject: string; cause: string; detail: string; advice: string } | null
      findings: { subject: string; detail: string }[]
    }
    return { code, ...shown }
  }
  const well = await diag(right)
  t.match({ code: well.code, fault: well.at_fault }, { code: 0, fault: null })
  t.match(
    well.findings.find(({ subject }) => subject === 'gateway')?.detail,
    `through the proxy 127.0.0.1:${squid.port}`,
  )
  const closing = createServer((socket) => socket.on('error', () => undefined).end())
  const closes = await listening(closing)
  t.teardown(() => closing.close())
  const picky = await startSquid(t, { denied: String(door.port) })
  const cases = [
    ['a wrong password', squid.as('me:wr0ng@'), /does not accept the user/, /with the right ones/],
    ['no password', squid.as(''), /requires a username/, /HTTPS_PROXY=http/],
    ['one that closes', `http://127.0.0.1:${closes}`, /cannot be reached: ECONNRESET/, /NO_PROXY/],
    ['one that is away', `http://127.0.0.1:${await freePort()}`, /ECONNREFUSED/, /NO_PROXY/],
  ] as const
  for (const [name, proxy, detail, advice] of cases)
    t.match(await diag(proxy), { code: 1, at_fault: { cause: 'proxy', detail, advice } }, name)
  t.match(
    await diag(picky.as('me:p%40ss%3Aword@')),
    {
      code: 1,
      at_fault: {
        subject: 'gateway',
        cause: 'proxy',
        detail: /answered 403/,
        advice: /allow CONNECT to 127/,
      },
    },
    'one that does not let it to the gateway',
  )
})
