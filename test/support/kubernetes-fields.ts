/**
 * The fields of Kubernetes that our manifests may use, kind by kind, as its API has them: what is not
 * named here is a mistake, until somebody has looked it up and added it.
 */
import * as v from 'valibot'

const name = v.pipe(v.string(), v.regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/))
/** IANA_SVC_NAME: of a port, by which others name it. */
const portName = v.pipe(v.string(), v.regex(/^(?=.*[a-z])[a-z0-9](?:[a-z0-9-]{0,13}[a-z0-9])?$/))
const portNumber = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))
const whole = (min: number) => v.pipe(v.number(), v.integer(), v.minValue(min))
const amount = v.pipe(v.string(), v.regex(/^\d+(?:\.\d+)?(?:m|Ki|Mi|Gi|Ti)?$/))
const hostname = v.pipe(v.string(), v.regex(/^(?:[a-z0-9-]+\.)+[a-z]{2,}$/))
const path = v.pipe(v.string(), v.startsWith('/'))
const list = <Item extends v.GenericSchema>(item: Item) => v.pipe(v.array(item), v.minLength(1))

const metadata = v.strictObject({ name })
const labels = v.record(name, name)
const selector = v.strictObject({ matchLabels: labels })
const amounts = v.strictObject({ cpu: v.optional(amount), memory: v.optional(amount) })

const probe = v.strictObject({
  httpGet: v.strictObject({ path, port: portName }),
  periodSeconds: v.optional(whole(1)),
  timeoutSeconds: v.optional(whole(1)),
  failureThreshold: v.optional(whole(1)),
})

const container = v.strictObject({
  name,
  image: v.string(),
  args: v.optional(list(v.string())),
  env: list(v.strictObject({ name: v.pipe(v.string(), v.regex(/^[A-Z_]+$/)), value: path })),
  ports: v.optional(v.array(v.strictObject({ name: portName, containerPort: portNumber })), []),
  startupProbe: v.optional(probe),
  readinessProbe: v.optional(probe),
  livenessProbe: v.optional(probe),
  lifecycle: v.optional(
    v.strictObject({
      preStop: v.strictObject({ exec: v.strictObject({ command: list(v.string()) }) }),
    }),
  ),
  securityContext: v.strictObject({
    allowPrivilegeEscalation: v.literal(false),
    readOnlyRootFilesystem: v.literal(true),
    capabilities: v.strictObject({ drop: v.tuple([v.literal('ALL')]) }),
  }),
  resources: v.strictObject({ requests: amounts, limits: amounts }),
  volumeMounts: list(
    v.strictObject({ name, mountPath: path, readOnly: v.optional(v.boolean(), false) }),
  ),
})

const volume = v.strictObject({
  name,
  configMap: v.optional(v.strictObject({ name })),
  secret: v.optional(v.strictObject({ secretName: name, defaultMode: v.literal(0o440) })),
  emptyDir: v.optional(v.strictObject({})),
})

const podFields = {
  automountServiceAccountToken: v.literal(false),
  securityContext: v.strictObject({
    runAsNonRoot: v.literal(true),
    runAsUser: v.literal(10_001),
    runAsGroup: v.literal(10_001),
    fsGroup: v.literal(10_001),
    seccompProfile: v.strictObject({ type: v.literal('RuntimeDefault') }),
  }),
  containers: list(container),
  volumes: list(volume),
}
const pod = v.strictObject({
  metadata: v.strictObject({ labels }),
  spec: v.strictObject({
    ...podFields,
    /** Without it thirty seconds. */
    terminationGracePeriodSeconds: whole(1),
    topologySpreadConstraints: list(
      v.strictObject({
        maxSkew: whole(1),
        topologyKey: v.picklist(['kubernetes.io/hostname', 'topology.kubernetes.io/zone']),
        whenUnsatisfiable: v.picklist(['DoNotSchedule', 'ScheduleAnyway']),
        labelSelector: selector,
      }),
    ),
  }),
})
const podThatEnds = v.strictObject({
  metadata: v.strictObject({ labels }),
  spec: v.strictObject({ ...podFields, restartPolicy: v.picklist(['Never', 'OnFailure']) }),
})

const claim = v.strictObject({
  metadata,
  spec: v.strictObject({
    accessModes: list(v.picklist(['ReadWriteOnce', 'ReadWriteOncePod'])),
    resources: v.strictObject({ requests: v.strictObject({ storage: amount }) }),
  }),
})

const servicePort = v.strictObject({ name: portName, port: portNumber, targetPort: portName })
const peer = v.strictObject({ podSelector: selector })
const backend = v.strictObject({
  service: v.strictObject({ name, port: v.strictObject({ name: portName }) }),
})

const manifest = <const Name extends string, Fields extends v.ObjectEntries>(
  kind: Name,
  apiVersion: string,
  fields: Fields,
) =>
  v.strictObject({ kind: v.literal(kind), apiVersion: v.literal(apiVersion), metadata, ...fields })

export const MANIFEST = v.variant('kind', [
  manifest('ConfigMap', 'v1', { data: v.record(v.string(), v.string()) }),
  manifest('Deployment', 'apps/v1', {
    spec: v.strictObject({
      replicas: whole(1),
      selector,
      strategy: v.strictObject({
        rollingUpdate: v.strictObject({ maxUnavailable: whole(0), maxSurge: whole(0) }),
      }),
      template: pod,
    }),
  }),
  manifest('StatefulSet', 'apps/v1', {
    spec: v.strictObject({
      serviceName: name,
      replicas: whole(1),
      podManagementPolicy: v.picklist(['OrderedReady', 'Parallel']),
      selector,
      template: pod,
      volumeClaimTemplates: list(claim),
    }),
  }),
  manifest('Job', 'batch/v1', {
    spec: v.strictObject({
      backoffLimit: whole(0),
      ttlSecondsAfterFinished: whole(0),
      template: podThatEnds,
    }),
  }),
  manifest('Service', 'v1', {
    spec: v.strictObject({
      type: v.optional(v.picklist(['ClusterIP', 'NodePort', 'LoadBalancer']), 'ClusterIP'),
      clusterIP: v.optional(v.literal('None')),
      externalTrafficPolicy: v.optional(v.picklist(['Cluster', 'Local'])),
      selector: labels,
      ports: list(servicePort),
    }),
  }),
  manifest('PodDisruptionBudget', 'policy/v1', {
    spec: v.strictObject({ minAvailable: whole(0), selector }),
  }),
  manifest('NetworkPolicy', 'networking.k8s.io/v1', {
    spec: v.strictObject({
      podSelector: selector,
      policyTypes: v.tuple([v.literal('Ingress')]),
      ingress: list(
        v.strictObject({
          ports: list(v.strictObject({ port: portName })),
          from: v.optional(v.array(peer), []),
        }),
      ),
    }),
  }),
  manifest('Ingress', 'networking.k8s.io/v1', {
    spec: v.strictObject({
      tls: list(v.strictObject({ hosts: list(hostname), secretName: name })),
      rules: list(
        v.strictObject({
          host: hostname,
          http: v.strictObject({
            paths: list(
              v.strictObject({ path, pathType: v.picklist(['Exact', 'Prefix']), backend }),
            ),
          }),
        }),
      ),
    }),
  }),
])

export type Manifest = v.InferOutput<typeof MANIFEST>
export type Kind = Manifest['kind']
export type ManifestOf<K extends Kind> = Extract<Manifest, { readonly kind: K }>
