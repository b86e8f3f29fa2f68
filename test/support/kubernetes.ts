/** What is wrong with manifests of Kubernetes, before a cluster says so: fields, and what names what. */
import * as v from 'valibot'
import { MANIFEST, type Kind, type Manifest, type ManifestOf } from './kubernetes-fields.ts'

type Labels = Readonly<Record<string, string>>
type Lasting = ManifestOf<'Deployment' | 'StatefulSet'>
type Workload = Lasting | ManifestOf<'Job'>
type Container = Workload['spec']['template']['spec']['containers'][number]

/** What a program may take to end what is open, once it is told to. */
const DRAIN_SECONDS = { Deployment: 10, StatefulSet: 35 } as const

/** `secrets`: those that the page beside them makes. */
export function complaintsAbout(
  documents: readonly unknown[],
  secrets: ReadonlySet<string>,
): string[] {
  const read = documents.map((document) => ({ document, result: v.safeParse(MANIFEST, document) }))
  const unreadable = read.flatMap(({ document, result }) => {
    const { kind, metadata } = document as Partial<Manifest>
    const issues = result.success ? [] : result.issues
    return issues.map((one) => `${kind} ${metadata?.name}: ${v.getDotPath(one)}: ${one.message}`)
  })
  // what cannot be read would be missing everywhere
  if (unreadable.length > 0) return unreadable
  const all = read.flatMap(({ result }) => (result.success ? [result.output] : []))
  const cluster = clusterOf(all, secrets)
  return [
    ...repeated(all.map(titleOf)).map((title) => `${title}: it is there twice`),
    ...all.flatMap((one) => wrongWith(one, cluster).map((what) => `${titleOf(one)}: ${what}`)),
  ]
}

const titleOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`

function clusterOf(all: readonly Manifest[], secrets: ReadonlySet<string>) {
  const ofKind = <K extends Kind>(kind: K) =>
    all.filter((one): one is ManifestOf<K> => one.kind === kind)
  const workloads = [...ofKind('Deployment'), ...ofKind('StatefulSet'), ...ofKind('Job')]
  const podsOf = (labels: Labels) =>
    workloads
      .map(({ spec }) => spec.template)
      .filter(({ metadata }) => isWithin(labels, metadata.labels))
  return {
    secrets,
    ofKind,
    named: <K extends Kind>(kind: K, name: string) =>
      ofKind(kind).find(({ metadata }) => metadata.name === name),
    podsOf,
    portsOf: (labels: Labels) =>
      podsOf(labels).flatMap(({ spec }) =>
        spec.containers.flatMap(({ ports }) => ports.map(({ name }) => name)),
      ),
  }
}
type Cluster = ReturnType<typeof clusterOf>

function wrongWith(one: Manifest, cluster: Cluster): string[] {
  switch (one.kind) {
    case 'Deployment':
    case 'StatefulSet':
      return [...wrongWithPods(one, cluster), ...wrongWithLasting(one, cluster)]
    case 'Job':
      return wrongWithPods(one, cluster)
    case 'Service':
      return wrongWithService(one, cluster)
    case 'PodDisruptionBudget':
      return missing(cluster.podsOf(one.spec.selector.matchLabels), 'it selects nothing')
    case 'NetworkPolicy':
      return wrongWithPolicy(one, cluster)
    case 'Ingress':
      return wrongWithIngress(one, cluster)
    case 'ConfigMap':
      return []
  }
}

function wrongWithLasting(one: Lasting, { ofKind, named }: Cluster): string[] {
  const { template, selector, replicas } = one.spec
  const { labels } = template.metadata
  const { topologySpreadConstraints, containers, terminationGracePeriodSeconds } = template.spec
  const budgets = ofKind('PodDisruptionBudget').filter(({ spec }) =>
    isWithin(spec.selector.matchLabels, labels),
  )
  const waits = containers.map(({ lifecycle }) => {
    const [program, seconds] = lifecycle?.preStop.exec.command ?? []
    return program === 'sleep' ? Number(seconds) : Number.NaN
  })
  const neededSeconds = Math.max(...waits) + DRAIN_SECONDS[one.kind]
  const isAsked = containers.every(
    ({ startupProbe, readinessProbe, livenessProbe }) =>
      startupProbe && readinessProbe && livenessProbe?.httpGet.path === '/health/live',
  )
  return [
    ...unless(isWithin(selector.matchLabels, labels), 'it does not select its own pods'),
    ...topologySpreadConstraints.flatMap(({ labelSelector }) =>
      unless(isWithin(labelSelector.matchLabels, labels), 'it spreads other pods'),
    ),
    ...unless(
      terminationGracePeriodSeconds >= neededSeconds,
      `it is killed after ${terminationGracePeriodSeconds} s, and needs ${neededSeconds} s`,
    ),
    ...unless(isAsked, 'it is not asked whether it is started, ready and alive'),
    ...unless(budgets.length === 1, `it has ${budgets.length} budgets`),
    ...budgets.flatMap(({ spec }) =>
      unless(spec.minAvailable < replicas, 'its nodes could never be drained'),
    ),
    ...(one.kind === 'Deployment'
      ? unless(canRoll(one), 'it could never be replaced')
      : unless(
          named('Service', one.spec.serviceName)?.spec.clusterIP === 'None',
          'it has no headless service',
        )),
  ]
}

const canRoll = ({ spec: { strategy } }: ManifestOf<'Deployment'>) =>
  strategy.rollingUpdate.maxUnavailable + strategy.rollingUpdate.maxSurge > 0

function wrongWithPods(one: Workload, { named, secrets }: Cluster): string[] {
  const { containers, volumes } = one.spec.template.spec
  const claims = one.kind === 'StatefulSet' ? one.spec.volumeClaimTemplates : []
  const kept = [...volumes.map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)]
  const mounted = containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name))
  return [
    ...repeated(kept).map((name) => `two volumes are called ${name}`),
    ...kept.flatMap((name) => unless(mounted.includes(name), `volume ${name} is mounted nowhere`)),
    ...volumes.flatMap(({ name, configMap, secret, emptyDir }) => [
      ...unless(
        [configMap, secret, emptyDir].filter((source) => source !== undefined).length === 1,
        `volume ${name} is of no kind, or of two`,
      ),
      ...unless(
        configMap === undefined || named('ConfigMap', configMap.name) !== undefined,
        `there is no ConfigMap ${configMap?.name}`,
      ),
      ...unless(
        secret === undefined || secrets.has(secret.secretName),
        `no page makes the secret ${secret?.secretName}`,
      ),
    ]),
    ...containers.flatMap((container) => wrongWithContainer(container, kept)),
  ]
}

function wrongWithContainer(container: Container, volumes: readonly string[]): string[] {
  const { ports, env, volumeMounts, resources } = container
  const { startupProbe, readinessProbe, livenessProbe } = container
  const portNames = ports.map(({ name }) => name)
  const probes = [startupProbe, readinessProbe, livenessProbe].flatMap((probe) => probe ?? [])
  return [
    ...repeated(portNames).map((name) => `two ports are called ${name}`),
    ...repeated(ports.map(({ containerPort }) => `${containerPort}`)).map(
      (at) => `port ${at} twice`,
    ),
    ...repeated(env.map(({ name }) => name)).map((name) => `${name} is set twice`),
    ...repeated(volumeMounts.map(({ mountPath }) => mountPath)).map((at) => `two mounts at ${at}`),
    ...volumeMounts.flatMap(({ name }) =>
      unless(volumes.includes(name), `there is no volume ${name}`),
    ),
    ...env.flatMap(({ name, value }) =>
      unless(
        volumeMounts.some(({ mountPath }) => value.startsWith(`${mountPath}/`)),
        `${name} names a file that no volume has`,
      ),
    ),
    ...probes.flatMap(({ httpGet }) =>
      unless(portNames.includes(httpGet.port), `a probe asks ${httpGet.port}`),
    ),
    ...unless(
      bytesOf(resources.requests.memory) <= bytesOf(resources.limits.memory),
      'it asks for more memory than it may have',
    ),
  ]
}

function wrongWithService(one: ManifestOf<'Service'>, { podsOf, portsOf }: Cluster): string[] {
  const { type, clusterIP, externalTrafficPolicy, selector, ports } = one.spec
  const isInside = type === 'ClusterIP'
  return [
    ...missing(podsOf(selector), 'it selects nothing'),
    ...repeated(ports.map(({ name }) => name)).map((name) => `two ports are called ${name}`),
    ...ports.flatMap(({ targetPort }) =>
      unless(portsOf(selector).includes(targetPort), `there is no port ${targetPort}`),
    ),
    ...unless(!isInside || externalTrafficPolicy === undefined, 'nothing comes from outside'),
    ...unless(isInside || clusterIP === undefined, 'it has no address to be reached at'),
  ]
}

function wrongWithPolicy(one: ManifestOf<'NetworkPolicy'>, { podsOf, portsOf }: Cluster): string[] {
  const own = one.spec.podSelector.matchLabels
  return [
    ...missing(podsOf(own), 'it selects nothing'),
    ...one.spec.ingress.flatMap(({ ports, from }) => [
      ...ports.flatMap(({ port }) =>
        unless(portsOf(own).includes(port), `there is no port ${port}`),
      ),
      ...from.flatMap(({ podSelector }) =>
        missing(podsOf(podSelector.matchLabels), 'it lets nobody in'),
      ),
    ]),
  ]
}

function wrongWithIngress(one: ManifestOf<'Ingress'>, { named, secrets }: Cluster): string[] {
  const { tls, rules } = one.spec
  const covered = tls.flatMap(({ hosts }) => hosts)
  const isThere = (service: string, port: string) =>
    named('Service', service)?.spec.ports.some(({ name }) => name === port) === true
  return [
    ...tls.flatMap(({ secretName }) =>
      unless(secrets.has(secretName), `no page makes the secret ${secretName}`),
    ),
    ...rules.flatMap(({ host, http }) => [
      ...unless(covered.includes(host), `${host} has no certificate`),
      ...http.paths.flatMap(({ backend: { service } }) =>
        unless(
          isThere(service.name, service.port.name),
          `there is no ${service.name}:${service.port.name}`,
        ),
      ),
    ]),
  ]
}

const unless = (isRight: boolean, what: string) => (isRight ? [] : [what])
const missing = (found: readonly unknown[], what: string) => unless(found.length > 0, what)

const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti']
function bytesOf(amount = '0'): number {
  const [, number = '', unit = ''] = /^([\d.]+)(\D*)$/.exec(amount) ?? []
  return Number(number) * 1024 ** UNITS.indexOf(unit)
}

const isWithin = (wanted: Labels, labels: Labels) =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value)

const repeated = (values: readonly string[]) => [
  ...new Set(values.filter((value, at) => values.indexOf(value) !== at)),
]
