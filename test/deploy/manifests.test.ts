/** What stands in `deploy` for containers: that it names what there is, and holds together. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { parseConfig } from '../../shared/config/config.ts'
import { withSecretFiles } from '../../shared/config/secret-files.ts'
import { containerFile } from '../support/container-files.ts'
import { createTestAuthority } from '../support/test-certificates.ts'

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url))
const VOLUME = '/var/lib/sign-in-protection'
const at = (...path: string[]) => join(DEPLOY, ...path)
const read = (...path: string[]) => readFileSync(at(...path), 'utf8')
const portOf = (address: string | URL) => Number(/:(\d+)$/.exec(String(address))?.[1])

const PROGRAMS = ['control-plane', 'gateway'] as const
type ProgramName = (typeof PROGRAMS)[number]
const fileOf = (program: ProgramName) => containerFile(at(`containers/Containerfile.${program}`))
const listensAt = (program: ProgramName, text: string) => {
  const { control_plane: controlPlane, gateway } = parseConfig(text, program)
  return program === 'control-plane'
    ? [controlPlane.listen, controlPlane.fleet_listen]
    : [gateway.listen, gateway.tls_listen, gateway.status_listen].filter((one) => one !== null)
}
/** Which secret each variable reads: one that no program knows would be read by nobody. */
function secretsOf(variables: Readonly<Record<string, string>>): string[] {
  const paths: string[] = []
  withSecretFiles(variables, (path) => String(paths.push(path)))
  t.equal(paths.length, Object.keys(variables).length, Object.keys(variables).join())
  return paths
}

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
    const read = secretsOf(service.environment ?? {})
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

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Record<string, string>
  // of each kind as much as is looked at
  readonly spec: {
    readonly selector?: { readonly app?: string; readonly matchLabels?: { readonly app: string } }
    readonly ports?: readonly { readonly name: string; readonly targetPort: string }[]
    readonly serviceName?: string
    readonly template?: { readonly metadata: { labels: { app: string } }; readonly spec: PodSpec }
    readonly volumeClaimTemplates?: readonly Manifest[]
  }
}

interface PodSpec {
  readonly securityContext: object
  readonly containers: readonly Container[]
  readonly volumes: readonly {
    readonly name: string
    readonly configMap?: { readonly name: string }
    readonly secret?: { readonly secretName: string }
  }[]
}

interface Container {
  readonly image: string
  readonly args?: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly securityContext: object
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}

void t.test('kubernetes: what one names of another is there', async (t) => {
  const all = readdirSync(at('kubernetes')).flatMap((name) =>
    parseAllDocuments(read('kubernetes', name), { version: '1.1' }).map(
      (document) => document.toJS() as Manifest,
    ),
  )
  const named = (kind: string, name: string) =>
    all.find((one) => one.kind === kind && one.metadata.name === name)
  const created = [...read('containers/README.md').matchAll(/create secret generic (\S+) (.*)$/gm)]
  const secretFiles = new Map(
    created.map(([, name = '', files = '']) => [name, files.matchAll(/=(\S+)/g).toArray()]),
  )
  for (const { metadata, spec } of all.filter((one) => one.spec?.template !== undefined)) {
    const { securityContext, containers, volumes } = spec.template!.spec
    t.match(securityContext, { runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001 })
    for (const container of containers) {
      const { image, args = [], env, ports = [], volumeMounts } = container
      const name = `${metadata.name}: ${image}`
      const program = PROGRAMS.find((one) => image === `sign-in-protection/${one}`)!
      t.match(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      const kept = [...volumes, ...(spec.volumeClaimTemplates ?? []).map((one) => one.metadata)]
      t.same(
        new Set(volumeMounts.map((mount) => mount.name)),
        new Set(kept.map((volume) => volume.name)),
      )
      t.ok(
        volumeMounts.some(({ mountPath }) => mountPath === VOLUME),
        `${name}: its volume`,
      )
      const config = volumes.find(({ configMap }) => configMap)?.configMap?.name ?? ''
      const text = named('ConfigMap', config)?.data?.[`${program}.yaml`] ?? ''
      const settings = parseConfig(text, name)
      t.equal(settings.data_dir, VOLUME, name)
      const open = listensAt(program, text).map(({ port }) => port)
      if (ports.length > 0)
        t.same(
          ports.map((one) => one.containerPort),
          open,
          `${name}: ports`,
        )
      else t.equal(args[0], 'migrate')
      for (const { path, port } of probesIn(container)) {
        t.match(path, /^\/health\/(?:ready|live)$/)
        t.ok(
          ports.some((one) => one.name === port),
          `${name}: a probe asks ${port}`,
        )
      }
      const secret = volumes.find((volume) => volume.secret)?.secret?.secretName ?? ''
      const given = secretFiles.get(secret)?.map(([, file]) => `/run/secrets/service/${file}`)
      t.same(
        new Set(secretsOf(Object.fromEntries(env.map((one) => [one.name, one.value])))),
        new Set(given),
        `${name}: its secrets are those that the page makes`,
      )
    }
  }
  const pods = all.flatMap(({ spec }) => spec?.template ?? [])
  for (const { kind, metadata, spec } of all) {
    const app = spec?.selector?.app ?? spec?.selector?.matchLabels?.app
    const meant = pods.find((pod) => pod.metadata.labels.app === app)
    if (app !== undefined) t.ok(meant, `${kind} ${metadata.name} selects ${app}`)
    if (spec?.serviceName !== undefined) t.ok(named('Service', spec.serviceName))
    if (kind !== 'Service') continue
    const ports = meant?.spec.containers.flatMap((container) => container.ports ?? [])
    for (const { targetPort } of spec.ports ?? [])
      t.ok(
        ports?.some((port) => port.name === targetPort),
        `${metadata.name}: ${targetPort}`,
      )
  }
  const { gateway } = parseConfig(named('ConfigMap', 'gateway')?.data?.['gateway.yaml'] ?? '', '')
  t.same(gateway.control_plane, [`http://${named('Service', 'fleet')?.metadata.name}:8081`])
})

function probesIn(container: object): { path: string; port: string }[] {
  return Object.values(container).flatMap((value: unknown) => {
    const { httpGet } = (value ?? {}) as { httpGet?: { path: string; port: string } }
    return httpGet ?? []
  })
}

void t.test('its pages lead where there is something', async (t) => {
  for (const folder of ['containers', 'monitoring', 'systemd'])
    for (const [, link = ''] of read(folder, 'README.md').matchAll(/\]\((?!https?:)([^)#]+)/g))
      t.ok(existsSync(join(dirname(at(folder, 'README.md')), link)), link)
})
