/** The command line tool as it is downloaded, against a real control plane. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { COMMANDS } from '../../../../control-plane/downloads/analyzer/commands.ts'
import { EXIT, TOOL_EXITS } from '../../../../control-plane/downloads/command-line/exit.ts'
import { upsertChecks } from '../../../../control-plane/store/queries/verification.ts'
import { VERSION } from '../../../../shared/version.ts'
import { plainEnvironment, startAnalyzer } from '../../../support/analyzer-program.ts'
import { freePort } from '../../../support/ports.ts'

const analyzer = startAnalyzer(t)
/** A tenant of this test's own. */
const start = async (t: Test, settings = {}) => (await analyzer).tenant(t, settings)

void t.test('tells its version and how to use it, without a key, on every Node here', async (t) => {
  const { answer, nodes } = await analyzer
  const { run } = await start(t)
  t.match(answer.headers.get('content-type'), /^text\/javascript/)
  for (const [major, node] of nodes) {
    const wish = { environment: {}, node }
    const version = await run(['--version'], wish)
    t.strictSame(version, { code: 0, out: `${VERSION}\n`, err: '' }, `Node ${major}`)
    for (const args of [['--help'], ['-h'], ['help']]) {
      const { code, out } = await run(args, wish)
      t.equal(code, 0)
      for (const { name } of COMMANDS) t.match(out, `\n  ${name} `)
      for (const word of ['SERVICE_ANALYZER_KEY', 'Exit codes:', '--json', 'NO_COLOR'])
        t.match(out, word)
    }
  }
})

void t.test('every command has help of its own, with all of its options', async (t) => {
  const { run } = await start(t)
  for (const { name, options, documented } of COMMANDS)
    for (const args of [
      ['help', name],
      [name, '--help'],
    ]) {
      const { code, out } = await run(args, { environment: {} })
      t.equal(code, 0)
      t.match(out, `Usage: service-analyzer ${name}`)
      for (const word of [...options.map((option) => `--${option}`), ...Object.keys(documented)])
        t.match(out, word)
    }
})

void t.test('its README names every command, option, exit code and problem', async (t) => {
  const file = new URL('../../../../control-plane/downloads/analyzer/README.md', import.meta.url)
  const page = readFileSync(file, 'utf8')
  for (const { name, options } of COMMANDS) {
    t.match(page, new RegExp(`[\`| ]${name}[\` ]`), name)
    for (const option of options) t.match(page, `--${option}`)
  }
  for (const code of Object.keys(TOOL_EXITS)) t.match(page, `\`${code}\``)
  for (const code of Object.values(EXIT)) t.match(page, `| ${code} | `)
  const text = COMMANDS.map(({ name }) => name).join()
  for (const [, named = ''] of page.matchAll(/service-analyzer ([a-z][a-z-]+)/g))
    t.ok(named === 'help' || text.includes(named), named)
})

void t.test('every command ends with one document when it is asked to', async (t) => {
  const { document } = await start(t)
  const wrong = [['fly'], [], ['apply', '--fly'], ['analyze', '/nowhere'], ['login', '--key=x']]
  for (const args of [...COMMANDS.map(({ name }) => [name]), ...wrong, ['help'], ['--version']]) {
    const { read, code } = await document(args)
    t.match(read, { schema_version: 1, version: VERSION, warnings: Array }, args.join(' '))
    const isKnown = COMMANDS.some(({ name }) => name === args[0]) && !wrong.includes(args)
    if (isKnown) t.equal(read['command'], args[0])
    const { problem } = read
    if (code === 2) t.match(problem, { code: /^[a-z_]+$/, message: /^.{10}/, advice: Array })
  }
})

void t.test('fields that help promises are in the document', async (t) => {
  const { document, operator, tenantId } = await start(t)
  const promised = (name: string) =>
    Object.keys(COMMANDS.find((command) => command.name === name)?.documented ?? {})
  for (const name of ['probe', 'status', 'go-back', 'logout', 'undo', 'verify', 'doctor']) {
    const { read } = await document([name])
    for (const field of promised(name)) t.ok(field in read, `${name}: ${field}`)
  }
  await operator('POST', `/tenants/${tenantId}/go-live`, { force: true })
  const { read } = await document(['go-live'])
  for (const field of promised('go-live')) t.ok(field in read, `go-live: ${field}`)
})

void t.test('whoever calls it in a wrong way learns the right one', async (t) => {
  const { run, key, baseUrl } = await start(t)
  const withKey = (more: Record<string, string> = {}) => ({ SERVICE_ANALYZER_KEY: key, ...more })
  const wrong: readonly (readonly [string[], Record<string, string>, RegExp])[] = [
    [[], withKey(), /No command given.*service-analyzer analyze/s],
    [['fly'], withKey(), /Unknown command "fly"/],
    [['verfy'], withKey(), /Unknown command "verfy"; did you mean verify\?/],
    [['help', 'verfy'], withKey(), /did you mean verify\?/],
    [['go-live', 'now'], withKey(), /go-live does not take "now"/],
    [['status', '--forse'], withKey(), /status does not take "--forse"/],
    [['status', '--jsn'], withKey(), /did you mean --json\?/],
    [['status', '--key', key], withKey(), /not accepted as arguments/],
    [['status', key], withKey(), /not accepted as arguments/],
    [['status'], {}, /needs the analyzer key.*service-analyzer login/s],
    [['status'], { SERVICE_ANALYZER_KEY: ' ' }, /needs the analyzer key/],
    [
      ['status'],
      { SERVICE_ANALYZER_KEY: `${key}\n${key}` },
      /contains characters that a key never has/,
    ],
    [['status'], { SERVICE_ANALYZER_KEY: `${key}x` }, /does not accept the analyzer key/],
    [['status'], withKey({ SERVICE_BASE_URL: 'example' }), /must be an address like https/],
    [['status'], withKey({ SERVICE_BASE_URL: 'file:///etc/passwd' }), /must be an address like/],
    [['status'], withKey({ SERVICE_BASE_URL: 'http://me:pw@127.0.0.1' }), /must be an address/],
    [['status'], withKey({ SERVICE_BASE_URL: `${baseUrl}/\u001b[2J` }), /must be an address/],
  ]
  for (const [args, environment, says] of wrong) {
    const { code, out, err } = await run(args, { environment })
    t.strictSame([code, out], [2, ''], String(says))
    t.match(err, says)
    t.notMatch(err, /me:pw|\u001b/)
  }
  const environment = withKey({ SERVICE_BASE_URL: ` ${baseUrl}/ ` })
  t.equal((await run(['status'], { environment })).code, 1, 'a slash at the end does no harm')
})

void t.test('shows what the checks found, what to do, and fails with them', async (t) => {
  const port = await freePort() // where nobody listens
  const origin = `http://127.0.0.1:${port}`
  const { run, call, key } = await start(t, { mode: 'sdk', origin })
  const nothing = await run(['status'])
  t.match(nothing, { code: 1, out: /Verification: unknown.*No checks have run yet/s })
  t.match(
    nothing.out,
    new RegExp(
      `^Tenant acme-\\d+: published, mode sdk\nProtection: off \\(pass-through\\)\n  ${origin}\n`,
    ),
  )
  t.match(nothing.out, 'Applied here: nothing')

  const probed = await run(['probe'])
  t.equal(probed.code, 1)
  t.match(probed.out, /Verification: fail/)
  t.match(probed.out, `  FAIL  application_reached\n        ${origin}/health`)
  t.match(probed.out, /\n {8}> Start the application/)
  t.match(probed.out, /checks fail\. Fix application_reached first.*\n {2}service-analyzer v/)
  for (const line of probed.out.split('\n'))
    t.ok(line.length <= 80 || /\S{50}/.test(line), `fits the terminal: ${line}`)

  const checks = [{ check: 'built', status: 'warn', detail: 'old', next_action: 'build again' }]
  const report = { cli_version: VERSION, project: { framework: null, language: null }, checks }
  await call('POST', '/api/v1/verify/local', report, { key })
  const { out } = await run(['status'])
  t.match(out, / {2}warn {2}built \(self-report\)\n {8}old\n {8}> build again/)
  t.match(out, '  FAIL  application_reached', 'and so it stays until the next look')
})

void t.test(
  'verify fails with what is left open in the project, and says what to do',
  async (t) => {
    const { run, document, project } = await start(t)
    const app = (more: string) => `const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
app.use(verifyClaims().express())
app.listen(3000)
${more}require('node:http').createServer((request, response) => response.end()).listen(9090)
`
    const manifest = { main: 'server.js', dependencies: { express: '4' } }
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(project, 'server.js'), app(''))
    const { code, out } = await run(['verify', project])
    t.equal(code, 1)
    const held = await run(['go-live'])
    t.match(held.out, /Missing: middleware_mounted, key_installed, listeners_guarded/)
    t.match(held.out, /FAIL {2}listeners_guarded\n {8}server\.js:6 is open/)
    t.notMatch((await run(['go-live', '--anyway'])).out, /listeners_guarded/)
    t.match(
      out,
      /FAIL {2}listeners_guarded \(self-report\)\n {8}server\.js:6 is open without a sign-in/,
    )
    t.match(out, /> server\.js:6: createServer\(verifyClaims\(\)\.node\(listener\)\)/)

    writeFileSync(join(project, 'server.js'), app('// service-analyzer-open: metrics\n'))
    const { read } = await document(['verify', project])
    const checks = read['local_checks'] as { check: string }[]
    t.match(
      checks.find(({ check }) => check === 'listeners_guarded'),
      { status: 'pass', detail: /Open on purpose: server\.js:7 \(metrics\)\./ },
    )
  },
)

void t.test('what holds going live back is told, whatever has passed since', async (t) => {
  const { run, document, services, tenantId, call, key, operator } = await start(t)
  const check = 'middleware_mounted'
  const report = (status: string) => {
    const checks = [{ check, status, detail: 'not found', next_action: 'mount it' }]
    const project = { framework: null, language: null }
    return call('POST', '/api/v1/verify/local', { cli_version: VERSION, project, checks }, { key })
  }
  await report('fail')
  const seen = ['middleware_mounted', 'key_installed'].map((check) => ({
    ...{ tenantId, check, source: 'platform' as const, status: 'pass' as const },
    ...{ detail: '', nextAction: '' },
  }))
  await services.store.change(({ queries, nowMs }) =>
    upsertChecks(
      queries,
      seen.map((row) => ({ ...row, at: nowMs + 1 })),
    ),
  )
  t.match(await run(['go-live']), { code: 1, out: /Missing: middleware_mounted/ })
  const { read, code } = await document(['status'])
  t.equal(code, 1)
  t.match(read, { status: 'fail', held_back: [check] })
  const { out } = await run(['status'])
  t.match(out.replaceAll(/\s+/g, ' '), /go-live is refused while .* fails middleware_mounted\. Fix/)
  await operator('POST', `/tenants/${tenantId}/go-live`, { force: true })
  t.notMatch((await run(['status'])).out, 'is refused', 'it is live already')
  await report('pass')
  t.match(await document(['status']), { code: 0, read: { status: 'pass', held_back: [] } })
})

void t.test('what is found in odd and in many places is reported all the same', async (t) => {
  const { run, project, call, key } = await start(t)
  const open = (reason: string) =>
    `// service-analyzer-open: ${reason}\nrequire('node:http').createServer(f).listen(9090)\n`
  const many = Array.from({ length: 30 }, (_, at) => open(`${at} ${'x'.repeat(150)}`)).join('')
  const manifest = { main: 'server.js', dependencies: { express: '4' } }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  const app = "const app = require('express')()\napp.listen(3000)\n"
  for (const more of [open('left \u202eto\u2066 right\u0007'), many]) {
    writeFileSync(join(project, 'server.js'), app + more)
    t.match(await run(['verify', project]), { code: 1, out: /listeners_guarded/ })
    const { body } = await call('GET', '/api/v1/verify/status', undefined, { key })
    const checks = body['checks'] as { check: string }[]
    const found = checks.find(({ check }) => check === 'listeners_guarded')
    t.match(found, { status: 'pass', detail: /Open on purpose: server\.js:4/ })
  }
})

void t.test('goes live and back, or says what is missing', async (t) => {
  const { run, document, operator, tenantId } = await start(t)
  const refused = await run(['go-live'])
  t.match(refused, { code: 1, out: /^Refused: .*\nMissing: middleware_mounted, key_installed\.\n/ })
  t.match(refused.out, /\n {2}service-analyzer verify\n$/)
  const { read } = await document(['go-live'])
  t.match(read, { refused: { error: 'not_verified', missing: ['middleware_mounted'] } })

  await operator('POST', `/tenants/${tenantId}/go-live`, { force: true })
  t.match(await run(['go-live']), { code: 0, out: /^Protection is on of acme-\d+ since 20/ })
  t.match(await run(['go-back']), { code: 0, out: /^Protection is off of acme-\d+ since/ })
  t.match(await run(['complete']), { code: 1, out: /^Refused: .*Missing:/s })
})

void t.test('a key from standard input is tried, saved for its owner, and used', async (t) => {
  const { run, document, key, home, tenantId } = await start(t, { mode: 'connector' })
  const environment = {}
  const node = process.execPath
  const refused = await run(['login'], { environment, input: 'sak_wrong\n', node })
  t.match(refused, { code: 2, err: /does not accept the analyzer key/ })
  t.match(await run(['login'], { environment, input: '', node }), { code: 2, err: /none is saved/ })
  const large = await run(['login'], { environment, input: 'x'.repeat(100_000), node })
  t.match(large, { code: 2, err: /is no key/ })
  t.match(await run(['status'], { environment }), { code: 2, err: /none is saved/ })

  const saved = await document(['login'], { environment, input: `${key}\r\n`, node })
  const profile = join(home, '.config/service-analyzer/profile.json')
  t.match(saved.read, { tenant_id: tenantId, mode: 'connector', profile })
  t.equal(statSync(profile).mode & 0o777, 0o600)
  t.match(readFileSync(profile, 'utf8'), key)
  t.match(await run(['status'], { environment }), { code: 1, out: /^Tenant acme/ })
  const other = { SERVICE_ANALYZER_KEY: 'sak_other' }
  t.match(await run(['status'], { environment: other }), { code: 2 }, 'the environment goes before')

  t.match(await run(['logout'], { environment }), { code: 0, out: /was removed from/ })
  t.match(await run(['status'], { environment }), { code: 2, err: /none is saved/ })
  t.match(await run(['logout'], { environment }), { code: 0, out: /No key for .* is saved/ })
})

void t.test('quiet says what is wrong and nothing else', async (t) => {
  const { run, operator, tenantId } = await start(t)
  const failing = await run(['status', '--quiet'], { node: process.execPath })
  t.match(failing, { code: 1, out: /Verification: unknown/, err: '' })
  await operator('POST', `/tenants/${tenantId}/go-live`, { force: true })
  t.strictSame(await run(['go-live', '-q']), { code: 0, out: '', err: '' })
})

void t.test('who stops reading does not stop the work, and the exit code is true', async (t) => {
  const { key, home, program, operator, tenantId, call } = await start(t)
  await operator('POST', `/tenants/${tenantId}/go-live`, { force: true })
  const env = { ...plainEnvironment(home), SERVICE_ANALYZER_KEY: key }
  const child = spawn(process.execPath, [program, 'go-back'], { env, stdio: 'pipe' })
  child.stdout.destroy()
  child.stderr.destroy()
  const [code] = (await once(child, 'exit')) as [number]
  t.equal(code, 0)
  const { body } = await call('GET', '/api/v1/integration', undefined, { key })
  t.equal(body['protection'], 'pass-through')
})
