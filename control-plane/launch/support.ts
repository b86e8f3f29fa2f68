/**
 * `npm run support -- [--config FILE] [< LOG]`: one archive for whoever is to help: versions, settings,
 * health and figures of the programs on this machine, and the log that is piped in. What opens
 * anything, and e-mail addresses, are taken out; read it before you send it.
 */
import { writeFileSync } from 'node:fs'
import { arch, cpus, freemem, loadavg, platform, release, totalmem, uptime } from 'node:os'
import { request } from 'undici'
import { ConfigError, listenText, type Listen } from '../../shared/config/config.ts'
import { SECRET_NAMES } from '../../shared/config/secrets.ts'
import { VERSION } from '../../shared/version.ts'
import { loadToolSettings } from '../config.ts'
import { tarball } from '../downloads/bundling/tarball.ts'
import { redactor, secretsWithin } from './redaction.ts'

const LOG_BYTES_MAX = 8 * 1024 * 1024
const ASKED_MS = 10_000
/** Whatever stands in a variable whose name says so. */
const SECRET_NAME = /SERVICE_|PASSWORD|SECRET|TOKEN|KEY/i

try {
  const { config, secrets, environment, configFile } = loadToolSettings(
    process.argv.slice(2),
    SECRET_NAMES,
  )
  const hidden = Object.entries(environment)
    .filter(([name, value]) => SECRET_NAME.test(name) && !name.endsWith('_FILE') && value)
    .map(([, value]) => value as string)
  const { control_plane: controlPlane, gateway } = config
  const ofDatabase = secretsWithin(controlPlane.database)
  const redacted = redactor([...Object.values(secrets), ...hidden, ...ofDatabase])
  const key = { authorization: `Bearer ${secrets.SERVICE_FLEET_KEY}` }
  const about = {
    version: VERSION,
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    cpus: cpus().length,
    memory_bytes: { free: freemem(), all: totalmem() },
    load: loadavg(),
    up_seconds: Math.round(uptime()),
    at: new Date().toISOString(),
    config_file: configFile ?? null,
    variables: Object.keys(environment).filter((name) => /^SERVICE_|^PG|^NODE_/.test(name)),
  }
  const files = {
    'about.json': write(about),
    'settings.json': write(config),
    'control-plane/health.txt': await ask(controlPlane.listen, '/health/ready'),
    'control-plane/metrics.txt': await ask(controlPlane.fleet_listen, '/metrics', key),
    'gateway/health.txt': await ask(gateway.status_listen, '/health/ready'),
    'gateway/metrics.txt': await ask(gateway.status_listen, '/metrics'),
    'log.txt': await pipedIn(),
  }
  const named = Object.entries(files).map(([path, text]) => ({
    path: `support/${path}`,
    content: redacted(text),
  }))
  const file = `support-${about.at.replace(/[:.]/g, '-')}.tgz`
  writeFileSync(file, await tarball(named), { mode: 0o600, flag: 'wx' })
  process.stdout.write(`${file}\n`)
  for (const { path, content } of named)
    process.stdout.write(`  ${path}, ${content.length} characters\n`)
  process.stdout.write(
    'Keys, passwords, tokens and e-mail addresses are taken out; names of tenants and hosts, and addresses of clients, are not. Read it before you send it.\n',
  )
  if (files['log.txt'] === '')
    process.stdout.write('With the log: journalctl -u service-gateway -n 5000 | npm run support\n')
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}

function write(content: unknown): string {
  return `${JSON.stringify(content, null, 2)}\n`
}

/** What does not answer is told as well: that is what somebody wants to know. */
async function ask(at: Listen | null, path: string, headers: Record<string, string> = {}) {
  if (at === null) return 'It does not listen: gateway.status_listen is not set.\n'
  try {
    const { statusCode, body } = await request(`http://${listenText(at)}${path}`, {
      headers,
      signal: AbortSignal.timeout(ASKED_MS),
    })
    return `${statusCode}\n${await body.text()}\n`
  } catch (error) {
    return `${listenText(at)}${path}: ${(error as Error).message}\n`
  }
}

/** The end of it. */
async function pipedIn(): Promise<string> {
  if (process.stdin.isTTY) return ''
  let end = Buffer.alloc(0)
  for await (const chunk of process.stdin as AsyncIterable<Buffer>)
    end = Buffer.concat([end, chunk]).subarray(-LOG_BYTES_MAX)
  return end.toString()
}
