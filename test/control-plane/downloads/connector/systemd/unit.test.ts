/** The unit, as systemd's own tools read it. */
import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { unitText } from '../../../../../control-plane/downloads/connector/systemd/unit.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'

const ANALYZE = '/usr/bin/systemd-analyze'

const unitWith = (programFile: string, environment: Record<string, string> = {}) =>
  unitText({
    nodeFile: process.execPath,
    programFile,
    credentials: { 'connector.json': '/var/lib/service-connector/connector.json' },
    environment,
    localPort: '20317',
  })

t.test('its key comes as a credential, and everything else is closed', async (t) => {
  const unit = unitWith('/usr/local/lib/service-connector/service-connector.mjs')
  for (const line of [
    'LoadCredential=connector.json:/var/lib/service-connector/connector.json',
    'DynamicUser=yes',
    'StateDirectoryMode=0700',
    'Restart=always',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'CapabilityBoundingSet=',
    'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX',
    'SystemCallFilter=@system-service',
  ])
    t.ok(unit.split('\n').includes(line), line)
  t.match(unit, /ExecStart=\S+ \S+ run --state %S\/service-connector-running --local-port 20317\n/)
  t.notMatch(unit, /MemoryDenyWriteExecute/, 'V8 compiles while it runs')
  t.notMatch(unit, /^Environment=/m)
})

t.test('what is set is set as it was', async (t) => {
  const unit = unitWith('/opt/a program.mjs', {
    NO_PROXY: 'a "b" 100% \\c',
    HTTPS_PROXY: 'http://p',
  })
  t.match(unit, String.raw`Environment="NO_PROXY=a \"b\" 100%% \\c"`)
  t.match(unit, 'Environment="HTTPS_PROXY=http://p"')
  t.match(unit, ' "/opt/a program.mjs" run ')
})

t.test('systemd accepts it', { skip: !existsSync(ANALYZE) && 'no systemd-analyze' }, async (t) => {
  const folder = temporaryFolder(t)
  const program = join(folder, 'program.mjs')
  const file = join(folder, 'service-connector.service')
  writeFileSync(program, '')
  writeFileSync(file, unitWith(program, { NO_PROXY: 'a, 100%' }))
  const said = (...args: string[]) =>
    new Promise<{ code: number; text: string }>((resolve) =>
      execFile(ANALYZE, [...args, file], (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), text: out + err }),
      ),
    )
  t.strictSame(await said('verify'), { code: 0, text: '' })
  const { text } = await said('security', '--offline=yes', '--no-pager')
  const [, exposure = ''] = /exposure level for \S+: ([\d.]+)/.exec(text) ?? []
  t.ok(exposure !== '' && Number(exposure) <= 2, `exposure ${exposure} of 10`)
})
