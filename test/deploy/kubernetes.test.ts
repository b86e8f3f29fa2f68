/** The manifests of `deploy/kubernetes`: fields that there are, names that lead somewhere, settings that are read. */
import { readdirSync } from 'node:fs'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { parseConfig } from '../../shared/config/config.ts'
import {
  deployAt,
  listensAt,
  PROGRAMS,
  readDeploy,
  secretFilesOf,
  SETTINGS,
  VOLUME,
} from '../support/deploy-files.ts'
import { complaintsAbout } from '../support/kubernetes.ts'
import type { Kind, Manifest, ManifestOf } from '../support/kubernetes-fields.ts'

const TEXT = readdirSync(deployAt('kubernetes'))
  .map((name) => readDeploy('kubernetes', name))
  .join('\n---\n')

function documentsOf(text: string): unknown[] {
  return parseAllDocuments(text, { version: '1.1' }).map((document) => {
    for (const error of document.errors) throw error
    return document.toJS() as unknown
  })
}

const PAGE = readDeploy('containers', 'README.md')
const filesBySecret = new Map(
  [...PAGE.matchAll(/create secret (?:generic|tls) (\S+) (.*)$/gm)].map(
    ([, name = '', files = '']) => [
      name,
      files
        .matchAll(/--from-file=(\S+)/g)
        .toArray()
        .map(([, file = '']) => file),
    ],
  ),
)
const secrets = new Set(filesBySecret.keys())

void t.test('every field is one that there is, and every name leads somewhere', (t) => {
  t.strictSame(complaintsAbout(documentsOf(TEXT), secrets), [])
  t.end()
})

/** Of one who edits them, and what he is told. */
const MISTAKES: readonly (readonly [string, string, RegExp])[] = [
  ['readinessProbe:', 'readynessProbe:', /Deployment control-plane: .*"readynessProbe"/],
  ['apiVersion: policy/v1', 'apiVersion: policy/v1beta1', /PodDisruptionBudget .*apiVersion/],
  ['kind: StatefulSet', 'kind: Statefulset', /Statefulset gateway: kind/],
  ['replicas: 2', "replicas: '2'", /Deployment control-plane: spec\.replicas/],
  ['replicas: 2', 'replicas: 1', /its nodes could never be drained/],
  ['containerPort: 8080', 'containerPort: 80800', /containers\.0\.ports\.0\.containerPort/],
  ['maxSurge: 1', 'maxSurge: 0', /it could never be replaced/],
  [
    'selector: { matchLabels: { app: control-plane } }\n  strategy',
    'selector: { matchLabels: { app: control } }\n  strategy',
    /Deployment control-plane: it does not select its own pods/,
  ],
  [
    'labelSelector: { matchLabels: { app: gateway',
    'labelSelector: { matchLabels: { app: gate',
    /spreads/,
  ],
  [
    'selector: { app: gateway }',
    'selector: { app: gateways }',
    /Service gateways: it selects nothing/,
  ],
  [
    'minAvailable: 1\n  selector: { matchLabels: { app: control-plane',
    'minAvailable: 1\n  selector: { matchLabels: { app: other',
    /Deployment control-plane: it has 0 budgets/,
  ],
  [
    '/health/ready, port: status',
    '/health/ready, port: stats',
    /StatefulSet gateway: a probe asks stats/,
  ],
  ['/health/live', '/health/ready', /it is not asked whether it is started, ready and alive/],
  ['ports: [{ port: fleet }]', 'ports: [{ port: flee }]', /NetworkPolicy .* there is no port flee/],
  [
    'from: [{ podSelector: { matchLabels: { app: gateway',
    'from: [{ podSelector: { matchLabels: { app: gate',
    /it lets nobody in/,
  ],
  ['targetPort: https', 'targetPort: tls', /Service edge: there is no port tls/],
  ['serviceName: gateways', 'serviceName: edge', /StatefulSet gateway: it has no headless service/],
  ['secretName: auth-certificate', 'secretName: auth-cert', /Ingress .* no page makes the secret/],
  ['secretName: gateway', 'secretName: gateway-keys', /StatefulSet .* no page makes the secret/],
  ['configMap: { name: gateway }', 'configMap: { name: edge }', /there is no ConfigMap edge/],
  ['{ name: data, mountPath', '{ name: date, mountPath', /there is no volume date/],
  [
    '/run/secrets/service/fleet_key',
    '/run/secret/service/fleet_key',
    /names a file that no volume has/,
  ],
  [
    'service: { name: control-plane, port: { name: public',
    'service: { name: control-plane, port: { name: web',
    /there is no control-plane:web/,
  ],
  [
    'hosts: [auth.example.com]',
    'hosts: [login.example.com]',
    /auth\.example\.com has no certificate/,
  ],
  [
    'terminationGracePeriodSeconds: 60',
    'terminationGracePeriodSeconds: 30',
    /it is killed after 30 s/,
  ],
  ['limits: { memory: 1Gi }', 'limits: { memory: 256Mi }', /it asks for more memory/],
  [
    'readOnlyRootFilesystem: true',
    'readOnlyRootFilesystem: false',
    /securityContext\.readOnlyRoot/,
  ],
  ['runAsUser: 10001', 'runAsUser: 0', /securityContext\.runAsUser/],
  [
    'metadata: { name: fleet }',
    'metadata: { name: gateways }',
    /Service gateways: it is there twice/,
  ],
]

void t.test('each mistake is told', (t) => {
  for (const [right, wrong, complaint] of MISTAKES) {
    const text = TEXT.replace(right, wrong)
    t.not(text, TEXT, `${right} is there`)
    t.match(complaintsAbout(documentsOf(text), secrets).join('\n'), complaint)
  }
  t.end()
})

const all = documentsOf(TEXT) as Manifest[]
const ofKind = <K extends Kind>(kind: K) =>
  all.filter((one): one is ManifestOf<K> => one.kind === kind)
const configOf = (name: string) =>
  ofKind('ConfigMap').find(({ metadata }) => metadata.name === name)?.data ?? {}

void t.test('settings and secrets are where each program looks for them', (t) => {
  const workloads = [...ofKind('Deployment'), ...ofKind('StatefulSet'), ...ofKind('Job')]
  t.equal(workloads.length, 3)
  for (const { kind, metadata, spec } of workloads) {
    const { containers, volumes } = spec.template.spec
    for (const { image, args = [], env, ports = [], volumeMounts } of containers) {
      const name = `${kind} ${metadata.name}`
      const program = PROGRAMS.find((one) => image === `sign-in-protection/${one}`)!
      const isMigration = kind === 'Job'
      const file = `${program}.yaml`
      t.strictSame(args, isMigration ? ['migrate', '--config', `${SETTINGS}/${file}`] : [], name)
      const mountedAt = (path: string) =>
        volumes.find(({ name: volume }) =>
          volumeMounts.some((mount) => mount.name === volume && mount.mountPath === path),
        )
      t.ok(
        volumeMounts.some(({ mountPath }) => mountPath === VOLUME),
        `${name}: its volume`,
      )
      const text = configOf(mountedAt(SETTINGS)?.configMap?.name ?? '')[file] ?? ''
      t.equal(parseConfig(text, name).data_dir, VOLUME, name)
      t.same(
        ports.map((port) => port.containerPort),
        isMigration ? [] : listensAt(program, text).map(({ port }) => port),
        `${name}: ports`,
      )
      const secret = mountedAt('/run/secrets/service')?.secret?.secretName ?? ''
      t.same(
        new Set(secretFilesOf(Object.fromEntries(env.map((one) => [one.name, one.value])))),
        new Set(filesBySecret.get(secret)?.map((one) => `/run/secrets/service/${one}`)),
        `${name}: its secrets are those that the page makes`,
      )
    }
  }
  const { gateway } = parseConfig(configOf('gateway')['gateway.yaml'] ?? '', 'gateway.yaml')
  const fleet = ofKind('Service').find(({ spec }) =>
    spec.ports.some(({ name }) => name === 'fleet'),
  )
  const [port] = fleet?.spec.ports ?? []
  t.same(gateway.control_plane, [`http://${fleet?.metadata.name}:${port?.port}`])
  t.end()
})
