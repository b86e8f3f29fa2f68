/** The archive for whoever is to help, of programs that run. */
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { freePort } from '../../support/ports.ts'
import { SECRETS, startFleet } from '../../support/programs.ts'

const PROGRAM = fileURLToPath(new URL('../../../control-plane/launch/support.ts', import.meta.url))
const PASSWORD = 'the password of a database'

t.test(
  'health, figures, settings and the log are in it, and nothing that opens anything',
  async (t) => {
    const status = await freePort()
    const fleet = await startFleet(t, { gatewayConfig: `  status_listen: 127.0.0.1:${status}` })
    const cwd = t.testdir()
    const log = [
      fleet.logs(),
      `{"msg":"asked with Bearer ${SECRETS.SERVICE_OPERATOR_KEY}"}`,
      `{"msg":"no way to postgres://service:${encodeURIComponent(PASSWORD)}@db/service"}`,
      '{"msg":"ada@example.com has come"}',
    ].join('\n')
    const child = spawn(
      process.execPath,
      [PROGRAM, '--config', join(fleet.folder, 'config-0.yaml')],
      {
        cwd,
        env: { ...process.env, ...SECRETS, PGPASSWORD: PASSWORD },
      },
    )
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.stdin.end(log)
    t.equal(await new Promise((resolve) => child.once('close', resolve)), 0, said)

    const [file = ''] = readdirSync(cwd)
    t.match(said, file)
    t.equal(statSync(join(cwd, file)).mode & 0o777, 0o600)
    execFileSync('tar', ['xzf', file], { cwd })
    const read = (name: string) =>
      execFileSync('cat', [join(cwd, 'support', name)], { encoding: 'utf8' })
    t.match(read('about.json'), '"version": "0.2.0"')
    t.match(read('about.json'), '"PGPASSWORD"', 'which are set, and not to what')
    t.match(JSON.parse(read('settings.json')), { gateway: { id: 'gateway-0' } })
    t.match(read('control-plane/health.txt'), /^200\n\{"status":"ready"\}/)
    t.match(
      read('control-plane/metrics.txt'),
      /^control_plane_build\{version="0\.2\.0",migration="\d+[\w-]+"\} 1$/m,
    )
    t.match(read('gateway/health.txt'), /^(?:200|503)\n/) // it has just begun
    t.match(read('gateway/metrics.txt'), /^gateway_link_connected [01]$/m)
    t.match(read('log.txt'), 'asked with Bearer [removed]')
    const all = execFileSync('tar', ['xzOf', file], { cwd, encoding: 'utf8' })
    for (const secret of [
      ...Object.values(SECRETS),
      PASSWORD,
      encodeURIComponent(PASSWORD),
      'ada@',
    ])
      t.notOk(all.includes(secret), secret)
  },
)
