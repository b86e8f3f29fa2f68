/** What stands in `deploy` for containers: that it names what there is, and holds together. */
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { parseConfig } from '../../shared/config/config.ts'
import { containerFile } from '../support/container-files.ts'
import {
  deployAt as at,
  listensAt,
  PROGRAMS,
  readDeploy as read,
  secretFilesOf,
  VOLUME,
  type ProgramName,
} from '../support/deploy-files.ts'
import { createTestAuthority } from '../support/test-certificates.ts'

const portOf = (address: string | URL) => Number(/:(\d+)$/.exec(String(address))?.[1])
const fileOf = (program: ProgramName) => containerFile(at(`containers/Containerfile.${program}`))

void t.test('each program has a file, no rights, and one volume', async (t) => {
  for (const program of PROGRAMS) {
    const { last, settings } = fileOf(program)
    t.match(settings('USER'), ['10001:10001'])
    t.strictSame(settings('VOLUME'), [VOLUME])
    const [command = ''] = settings('ENTRYPOINT')
    const entry = (JSON.parse(command) as string[]).at(-1) ?? ''
    t.ok(existsSync(at('..', entry)), entry)
    t.equal(settings('CMD')[0], `["--config", "/etc/sign-in-protection/${program}.yaml"]`)
    t.notMatch(last.join('\n'), /SERVICE_\w+(?<!_FILE)=/, 'no secret is built into it')
    const copied = fileOf(program).all.filter((line) => /^COPY (?!--from)/.test(line))
    for (const line of copied)
      for (const source of line.split(' ').slice(1, -1)) {
        t.ok(existsSync(at('..', source)), source)
        t.match(read('../.dockerignore'), `!${source}\n`, `${source} is sent to the builder`)
      }
  }
})

void t.test('compose: programs, settings and secrets are where it says', async (t) => {
  const { services, configs, secrets } = parse(read('compose/compose.yaml'), {
    merge: true,
  }) as Compose
  for (const [name, service] of Object.entries(services)) {
    const mounted = service.secrets?.map((one) => (typeof one === 'string' ? one : one.source))
    for (const secret of mounted ?? []) t.ok(secrets[secret], `${name}: secret ${secret}`)
    for (const { source } of service.configs ?? [])
      t.ok(existsSync(at('compose', configs[source]?.file ?? '')), `${name}: ${source}`)
    const program = PROGRAMS.find((one) => name.startsWith(one))
    if (program === undefined) continue
    t.equal(service.build?.dockerfile, `deploy/containers/Containerfile.${program}`)
    t.equal(service.hostname, name)
    t.match(service, { read_only: true, cap_drop: ['ALL'], volumes: [`${name}:${VOLUME}`] })
    const read = secretFilesOf(service.environment ?? {})
    t.same(new Set(read), new Set(mounted?.map((secret) => `/run/secrets/${secret}`)))
    const [config] = service.configs ?? []
    t.equal(config?.target, `/etc/sign-in-protection/${program}.yaml`)
  }
  const controlPlane = parseConfig(read('compose/control-plane.yaml'), 'control-plane.yaml')
  const gateway = parseConfig(read('compose/gateway.yaml'), 'gateway.yaml')
  t.equal(controlPlane.data_dir, VOLUME)
  t.equal(gateway.data_dir, VOLUME)
  const balancer = services['balancer']?.networks
  const address = (balancer as Record<string, { ipv4_address: string }>)['outside']?.ipv4_address
  t.same(controlPlane.control_plane.trusted_proxies, [address])
  t.same(gateway.gateway.trusted_proxies, [address])
  const fleetPort = controlPlane.control_plane.fleet_listen.port
  t.same(
    gateway.gateway.control_plane,
    Object.keys(services)
      .filter((name) => name.startsWith('control-plane'))
      .map((name) => `http://${name}:${fleetPort}`),
  )
  for (const program of PROGRAMS) {
    const exposed = fileOf(program).settings('EXPOSE').join(' ').split(' ').map(Number)
    const ports = listensAt(program, read('compose', `${program}.yaml`)).map(({ port }) => port)
    t.same(new Set(ports), new Set(exposed), `${program}: ports`)
    const [health = ''] = fileOf(program).settings('HEALTHCHECK')
    const [, asked = ''] = /http:\/\/127\.0\.0\.1(:\d+)\/health\/ready/.exec(health) ?? []
    t.ok(ports.includes(portOf(asked)), `${program}: its health is asked at ${asked}`)
  }
  const reached = read('compose/haproxy.cfg').matchAll(/^ {2}server (\S+) (\S+):(\d+)$/gm)
  for (const [, name = '', host = '', port] of reached) {
    t.equal(host, name)
    const program = PROGRAMS.find((one) => name.startsWith(one))!
    const ports = listensAt(program, read('compose', `${program}.yaml`)).map((one) => one.port)
    t.ok(ports.includes(Number(port)), `the balancer reaches ${name} at ${port}`)
  }
})

interface Compose {
  readonly services: Record<string, ComposeService>
  readonly configs: Record<string, { file: string }>
  readonly secrets: Record<string, { file: string }>
}

interface ComposeService {
  readonly hostname?: string
  readonly build?: { dockerfile: string }
  readonly environment?: Record<string, string>
  readonly secrets?: readonly (string | { source: string })[]
  readonly configs?: readonly { source: string; target: string }[]
  readonly networks: unknown
}

const HAPROXY = '/usr/sbin/haproxy'
void t.test(
  'the balancer takes its settings',
  { skip: !existsSync(HAPROXY) && 'haproxy is not installed' },
  async (t) => {
    const folder = t.testdir()
    const { certificate_pem: certificate, private_key_pem: key } =
      createTestAuthority(t).issue('auth.example.com')
    writeFileSync(join(folder, 'auth.pem'), certificate + key)
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(file, read('compose/haproxy.cfg').replace('/run/secrets', folder))
    t.doesNotThrow(() => execFileSync(HAPROXY, ['-c', '-q', '-f', file], { stdio: 'pipe' }))
  },
)

void t.test('its pages lead where there is something', async (t) => {
  for (const folder of ['containers', 'monitoring', 'systemd'])
    for (const [, link = ''] of read(folder, 'README.md').matchAll(/\]\((?!https?:)([^)#]+)/g))
      t.ok(existsSync(join(dirname(at(folder, 'README.md')), link)), link)
})
