/** The command line tool as it is downloaded, run as a program against a real server. */
import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { VERSION } from '../../../../shared/version.ts'
import { newTenant } from '../../../support/api.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { startPublicServer } from '../../../support/public-server.ts'

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function start(t: Test) {
  const server = await startPublicServer(t)
  const { baseUrl, operator } = server
  const created = await operator('POST', '/tenants', newTenant('acme', { mode: 'sdk' }))
  const key = String(created.body['analyzer_key'])
  await operator('POST', '/tenants/acme/publish')
  const answer = await fetch(`${baseUrl}/api/v1/cli/service-analyzer.mjs`)
  const file = join(temporaryFolder(t), 'service-analyzer.mjs')
  writeFileSync(file, await answer.text())

  /** With no more of the environment than a terminal has. */
  async function run(
    args: readonly string[],
    environment: Record<string, string> = { SERVICE_ANALYZER_KEY: key },
  ): Promise<Ended> {
    const ended = await new Promise<Ended>((resolve) => {
      execFile(process.execPath, [file, ...args], { env: environment }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      )
    })
    t.notMatch(ended.out + ended.err, key, 'the key is never printed')
    return ended
  }
  return { ...server, key, run, answer }
}

/** Something at an address that is not the service. */
async function startOther(
  t: Test,
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
) {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

void t.test('tells its version and how to use it, without a key', async (t) => {
  const { run, answer } = await start(t)
  t.match(answer.headers.get('content-type'), /^text\/javascript/)
  t.strictSame(await run(['--version'], {}), { code: 0, out: `${VERSION}\n`, err: '' })
  for (const args of [['--help'], ['-h'], ['help'], ['verify', '--help']]) {
    const { code, out } = await run(args, {})
    t.equal(code, 0)
    for (const name of ['verify', 'probe', 'go-live', 'go-back', 'SERVICE_ANALYZER_KEY'])
      t.match(out, name)
  }
})

void t.test('shows what the checks found, what to do, and fails with them', async (t) => {
  const { run, call, key } = await start(t)
  const nothing = await run(['verify'])
  t.match(nothing, { code: 1, out: /Verification: unknown.*No check has run yet/s, err: '' })

  const probed = await run(['probe'])
  t.equal(probed.code, 1)
  t.match(probed.out, /Verification: fail/)
  t.match(probed.out, / {2}FAIL {2}application_reached\n {8}http:\/\/127\.0\.0\.1:9000\/health/)
  t.match(probed.out, /\n {8}> Start the application/)
  t.match(probed.out, /Put the first one right, then run: service-analyzer probe/)
  for (const line of probed.out.split('\n'))
    t.ok(line.length <= 80 || /\S{50}/.test(line), `fits the terminal: ${line}`)
  t.strictSame(await run(['verify']), probed, 'and so it stays until the next look')

  const checks = [{ check: 'built', status: 'warn', detail: 'old', next_action: 'build again' }]
  const report = { cli_version: VERSION, project: { framework: null, language: null }, checks }
  await call('POST', '/api/v1/verify/local', report, { key })
  t.match(
    (await run(['verify'])).out,
    / {2}warn {2}built \(self-report\)\n {8}old\n {8}> build again/,
  )

  const { code, out } = await run(['verify', '--json'])
  t.equal(code, 1)
  t.match(JSON.parse(out), { status: 'fail', checks: Array })
})

void t.test('goes live and back, or says what is missing', async (t) => {
  const { run, operator } = await start(t)
  const refused = await run(['go-live'])
  t.match(refused, {
    code: 1,
    out: /^Refused: .*\nMissing: middleware_mounted, key_installed\.\n.*service-analyzer probe\n$/,
  })
  await operator('POST', '/tenants/acme/go-live', { force: true })
  const live = await run(['go-live'])
  t.equal(live.code, 0)
  t.match(
    live.out.replaceAll('\n', ' '),
    /^Protection is on of acme since 20.*service-analyzer go-back $/,
  )
  const back = await run(['go-back'])
  t.match(back, { code: 0, out: /^Protection is off of acme since/ })
})

void t.test('whoever calls it in a wrong way learns the right one', async (t) => {
  const { run, key, baseUrl } = await start(t)
  const withKey = (more: Record<string, string>) => ({ SERVICE_ANALYZER_KEY: key, ...more })
  const wrong: readonly (readonly [string[], Record<string, string>, RegExp])[] = [
    [[], withKey({}), /What is to be done\?/],
    [['fly'], withKey({}), /There is no command "fly"/],
    [['verify', 'now'], withKey({}), /verify does not take "now"/],
    [['verify', '--force'], withKey({}), /verify does not take "--force"/],
    [['verify'], {}, /SERVICE_ANALYZER_KEY is not set/],
    [['verify'], { SERVICE_ANALYZER_KEY: ' ' }, /SERVICE_ANALYZER_KEY is not set/],
    [['verify'], { SERVICE_ANALYZER_KEY: `${key}\n${key}` }, /holds characters that no key has/],
    [['verify'], { SERVICE_ANALYZER_KEY: `${key}x` }, /does not accept the analyzer key/],
    [['verify'], withKey({ SERVICE_BASE_URL: 'example' }), /is not an address like https/],
    [['verify'], withKey({ SERVICE_BASE_URL: 'file:///etc/passwd' }), /is not an address like/],
    [['verify'], withKey({ SERVICE_BASE_URL: 'http://me:pw@127.0.0.1' }), /is not an address/],
  ]
  for (const [args, environment, says] of wrong) {
    const { code, out, err } = await run(args, environment)
    t.strictSame([code, out], [2, ''], String(says))
    t.match(err, says)
    t.notMatch(err, 'me:pw')
  }
  const spaced = withKey({ SERVICE_BASE_URL: ` ${baseUrl}/ ` })
  t.match(await run(['verify'], spaced), { code: 1, err: '' }, 'a slash at the end does no harm')
})

void t.test(
  'a service that is not there, or is another one, is told from a failed check',
  async (t) => {
    const { run, key } = await start(t)
    const at = (baseUrl: string) => ({ SERVICE_ANALYZER_KEY: key, SERVICE_BASE_URL: baseUrl })
    const nobody = await run(['verify'], at('http://127.0.0.1:1'))
    t.match(nobody, { code: 3, err: /http:\/\/127\.0\.0\.1:1 cannot be reached/ })
    t.notMatch(nobody.err, 'not encrypted')
    const open = await run(['verify'], at('http://nobody.invalid'))
    t.match(open, { code: 3, err: /http:\/\/nobody\.invalid is not encrypted, so the key can be/ })
    t.match(open.err, 'the name does not resolve')

    const seen: IncomingMessage[] = []
    let reply: (response: ServerResponse) => unknown
    const other = await startOther(t, (request, response) => {
      seen.push(request)
      return reply(response)
    })
    const says = async (answer: (response: ServerResponse) => unknown, expected: object) => {
      reply = answer
      t.match(await run(['probe'], at(other)), expected)
    }
    await says((response) => response.end('<h1>It works</h1>'), {
      code: 3,
      err: /answers 200, but not/,
    })
    await says((response) => response.end('[]'), { code: 1 })
    await says((response) => response.writeHead(302, { Location: other }).end('{}'), { code: 3 })
    t.equal(seen.length, 3, 'the key follows no redirect')
    await says(
      (response) =>
        response.writeHead(503, { 'X-Request-Id': 'r-1' }).end('{"error":"x","detail":"Later."}'),
      { code: 3, err: /answers 503: Later\.\n.*request r-1/ },
    )
    await says((response) => response.writeHead(429, { 'Retry-After': '7' }).end('{}'), {
      code: 3,
      err: /Wait 7 s/,
    })
    await says((response) => response.destroy(), { code: 3, err: /cannot be reached/ })
    const trick = {
      status: 'pass',
      checks: [{ check: 'a\u001b[2J', status: 'pass', detail: 'b\r\nc' }],
    }
    reply = (response) => response.end(JSON.stringify(trick))
    const { out } = await run(['verify'], at(other))
    t.notMatch(out, /[\u001b\r]/, 'nothing in an answer moves the cursor')
    t.match(out, 'Nothing fails.')
  },
)
