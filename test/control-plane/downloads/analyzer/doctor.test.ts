/** Everything that the tool needs, looked at; each finding says how to mend it. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startAnalyzer } from '../../../support/analyzer-program.ts'
import { EXPRESS, projectOf } from './some-projects.ts'

const analyzer = startAnalyzer(t)

interface Finding {
  readonly status: string
  readonly detail: string
  readonly fix: string
}

async function start(t: Test) {
  const own = await (await analyzer).tenant(t)
  const folder = projectOf(t, EXPRESS)
  async function findings(environment: Record<string, string> = {}, at = folder) {
    const known = { SERVICE_ANALYZER_KEY: own.key, ...environment }
    const { read, code } = await own.document(['doctor'], { folder: at, environment: known })
    const list = read['findings'] as (Finding & { check: string })[]
    const all = Object.fromEntries(list.map(({ check, ...finding }) => [check, finding]))
    const isFailing = list.some(({ status }) => status === 'fail')
    t.equal(code, isFailing ? 1 : 0)
    for (const { check, status, fix } of list)
      if (status === 'warn') t.not(fix, '', `${check} says what mends it`)
    return all
  }
  return { ...own, folder, findings }
}

void t.test('where all is well it says so', async (t) => {
  const { findings, home, program } = await start(t)
  const bin = join(home, 'bin')
  mkdirSync(bin)
  symlinkSync(program, join(bin, 'service-analyzer'))
  const all = await findings({ PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` })
  for (const name of [
    'node',
    'program',
    'base_url',
    'service',
    'clock',
    'key',
    'project',
    'write_permission',
    'git',
  ])
    // prettier-ignore
    t.equal(all[name]?.status, 'ok', name)
  t.match(all['key']?.detail, /tenant acme-\d+ \(SERVICE_ANALYZER_KEY\): published, mode gateway/)
})

void t.test('what is in the way is found, with what mends it', async (t) => {
  const { findings, folder, home, key, run } = await start(t)
  const other = join(home, 'service-analyzer')
  writeFileSync(other, '#!/bin/sh\n', { mode: 0o755 })
  const path = { PATH: `${home}:/usr/bin:/bin` }
  t.match((await findings(path))['program'], { status: 'warn', detail: /runs .*service-analyzer/ })
  t.match((await findings())['program'], { status: 'warn', fix: /^Run: export PATH=/ })
  const wrong = { SERVICE_ANALYZER_KEY: `${key}x` }
  t.match((await findings(wrong))['key'], { status: 'fail', fix: /service-analyzer login/ })
  t.match((await findings({ SERVICE_ANALYZER_KEY: '' }))['key'], { status: 'warn' })
  const nowhere = await findings({ SERVICE_BASE_URL: 'http://nobody.invalid' })
  t.match(nowhere, { base_url: { status: 'warn' }, service: { status: 'fail' }, key: { status: 'skip' } }) // prettier-ignore
  t.match((await findings({ SERVICE_BASE_URL: 'x' }))['base_url'], { status: 'fail' })
  t.match((await findings({ http_proxy: 'http://x' }))['proxy'], {
    status: 'warn',
    fix: /NODE_USE/,
  })

  writeFileSync(join(folder, 'server.js'), '// mine\n')
  t.match((await findings())['git'], { status: 'warn', detail: /work tree has changes/ })
  const fresh = projectOf(t, {
    'package.json': JSON.stringify({
      dependencies: { express: '5' },
      scripts: { start: 'node server.js' },
    }),
    'server.js': "const app = require('express')()\napp.listen(3000)\n",
  })
  rmSync(join(fresh, '.git'), { recursive: true })
  execFileSync('git', ['init', '-q', fresh])
  const unkept = {
    status: 'warn',
    detail: /server\.js is not under version control; commit it first/,
  }
  t.match((await findings({}, fresh))['git'], unkept, 'apply would say the same')
  const plain = projectOf(t, { 'README.md': 'nothing\n' })
  t.match((await findings({}, plain))['project'], {
    status: 'warn',
    detail: /no known application/,
  })

  await run(['login'], { environment: {}, input: key })
  chmodSync(join(home, '.config/service-analyzer/profile.json'), 0o644)
  t.match((await findings({ SERVICE_ANALYZER_KEY: '' }))['key'], { fix: /chmod 600/ })
})

void t.test('a clock that is off is told from one that is not', async (t) => {
  const { findings } = await start(t)
  const server = createServer((_request, response) => {
    response.setHeader('Date', new Date(Date.now() - 120_000).toUTCString())
    response.end('{"contract_version":"1.0"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const all = await findings({ SERVICE_BASE_URL: `http://127.0.0.1:${port}` })
  t.match(all['clock'], { status: 'warn', detail: /1(?:19|2\d) s ahead of that of the service/ })
})

void t.test('an apply that stands is named', async (t) => {
  const { findings, run, folder } = await start(t)
  t.match((await findings())['journal'], { status: 'skip' })
  await run(['apply', '--yes'], { folder })
  t.match((await findings())['journal'], { status: 'ok', detail: /service-analyzer undo reverts/ })
})
