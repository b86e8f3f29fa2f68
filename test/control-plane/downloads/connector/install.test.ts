/** The connector by its installer and as a package, from a service that is asked for them. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { extract } from 'tar'
import t, { type Test } from 'tap'
import { COMMANDS } from '../../../../control-plane/downloads/connector/commands.ts'
import { VERSION } from '../../../../shared/version.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'
import { createPowerShellParser, texts } from '../../../support/powershell.ts'
import { startPublicServer } from '../../../support/public-server.ts'

const PATH = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
const service = startPublicServer(t)

async function run(
  file: string,
  args: readonly string[],
  options: { readonly home: string; readonly input?: string },
) {
  const env = { PATH, HOME: options.home }
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const child = execFile(file, args, { env, cwd: options.home }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    )
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(options.input)
  })
}

const shells: readonly (readonly [string, ...string[]])[] = [
  ['/usr/bin/dash'],
  ['/usr/bin/busybox', 'sh'],
  ['/usr/bin/ksh'],
]

for (const [shell, ...words] of shells)
  void t.test(
    `${shell} installs it, and takes it away`,
    { skip: !existsSync(shell) },
    async (t) => {
      const { baseUrl } = await service
      const answer = await fetch(`${baseUrl}/api/v1/connector/install`)
      t.match(answer.headers.get('content-type'), /^text\/x-shellscript/)
      const input = await answer.text()
      t.match(input, `curl -fsSL ${baseUrl}/api/v1/connector/install | sh`)
      t.notMatch(input, /@[A-Z0-9_]+@|service-analyzer|\bsudo sh/)

      const home = temporaryFolder(t)
      const installed = await run(shell, words, { home, input })
      t.match(installed, { code: 0, err: '' })
      t.match(installed.out, `service-connector ${VERSION} is in ${home}/.local/bin.`)
      t.match(installed.out, 'service-connector join --origin http://127.0.0.1:3000')
      const program = join(home, '.local/bin/service-connector')
      t.strictSame(await run(program, ['--version'], { home }), {
        code: 0,
        out: `${VERSION}\n`,
        err: '',
      })
      t.match(await run(program, ['help'], { home }), {
        code: 0,
        out: /join .*\n +run .*\n +status/,
      })

      mkdirSync(join(home, '.local/state/service-connector'), { recursive: true })
      const removed = await run(shell, [...words, '-s', 'uninstall'], { home, input })
      t.match(removed, { code: 0, err: '', out: /is no longer in/ })
      t.match(removed.out, /key of a connector is still there.*rm -r ".*service-connector"/s)
      t.strictSame(readdirSync(join(home, '.local/bin')), [])
    },
  )

void t.test('a download that is not the one it was made for is not installed', async (t) => {
  const { baseUrl } = await service
  const script = await (await fetch(`${baseUrl}/api/v1/connector/install`)).text()
  const input = script.replace(
    /^sha256='\w/m,
    (line) => line.slice(0, -1) + (line.endsWith('0') ? '1' : '0'),
  )
  const home = temporaryFolder(t)
  const refused = await run('/bin/sh', [], { home, input })
  t.match(refused, { code: 1, err: /is not what this script was made for.*Nothing has been inst/s })
  t.notOk(existsSync(join(home, '.local')))
})

void t.test('as a package it is the same program', async (t: Test) => {
  const { baseUrl } = await service
  const answer = await fetch(`${baseUrl}/api/v1/connector/node`)
  t.equal(answer.headers.get('content-type'), 'application/gzip')
  const etag = answer.headers.get('etag') ?? ''
  const again = await fetch(answer.url, { headers: { 'if-none-match': etag } })
  t.equal(again.status, 304)
  const folder = temporaryFolder(t)
  const file = join(folder, 'package.tgz')
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
  await extract({ file, cwd: folder })
  const read = (name: string) => readFileSync(join(folder, 'package', name), 'utf8')
  t.match(JSON.parse(read('package.json')), {
    name: 'service-connector',
    version: VERSION,
    engines: { node: '>=20' },
    bin: { 'service-connector': 'service-connector.mjs' },
  })
  t.notMatch(read('package.json'), /scripts|dependencies/, 'nothing runs at its installation')
  t.match(read('README.md'), baseUrl)
  for (const { name } of COMMANDS)
    t.match(read('README.md'), new RegExp(`^\\| \`${name}\\b`, 'm'), name)
  t.notMatch(read('README.md'), '{base_url}')
  const [, powerShell = ''] = /^```powershell\n(.*?)^```$/ms.exec(read('README.md')) ?? []
  const tree = (await createPowerShellParser())(powerShell)
  t.notOk(tree.hasError, 'a scheduled task, as a grammar of PowerShell reads it')
  t.ok(texts(tree, 'command_name').includes('Register-ScheduledTask'))
  t.match(powerShell, /\$env:ProgramFiles\\/, 'nothing that others may change runs for it')
  t.equal(statSync(join(folder, 'package/service-connector.mjs')).mode & 0o111, 0o111)
  const alone = await fetch(`${baseUrl}/api/v1/connector/service-connector.mjs`)
  t.equal(await alone.text(), read('service-connector.mjs'))
})
