/** What Prometheus reads, written by hand: a client library is larger than this whole program. */
import type { Counts } from './counts.ts'
import { LINK_STATES, type Health } from './health.ts'

interface MetricsView {
  readonly program: string
  readonly health: Health
  readonly counts: Counts
  /** Undefined: the control plane has confirmed none since the start. */
  readonly listAgeSeconds: number | undefined
  readonly listSequence: number
  readonly upSeconds: number
  readonly cpuSeconds: number
  readonly residentBytes: number
}

type Labels = Readonly<Record<string, string | number>>
type Sample = readonly [Labels, number]

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function metricsText(view: MetricsView): string {
  const { health, counts } = view
  const links = health.gateways.flatMap(({ gateway_id: gateway, links: own }) =>
    own.map((link) => ({ ...link, labels: { gateway, worker: link.worker } })),
  )
  const perLink = (value: (link: (typeof links)[number]) => number | null): Sample[] =>
    links.flatMap((link) => {
      const now = value(link)
      return now === null ? [] : [[link.labels, now] as const]
    })
  const inSeconds = (ms: number | null) => (ms === null ? null : ms / 1000)
  const one = (value: number): Sample[] => [[{}, value]]
  const results = (of: Readonly<Record<string, number>>): Sample[] =>
    Object.entries(of).map(([result, count]) => [{ result }, count])

  return [
    family('build', 'gauge', 'Always 1.', [[{ version: view.program }, 1]]),
    family('ready', 'gauge', '1 while requests reach the application and no link is stuck.', [
      [{}, Number(health.is_ready)],
    ]),
    family('gateways', 'gauge', 'Gateways in the newest list.', [
      [{ state: 'ready' }, health.gateways.filter((gateway) => gateway.is_ready).length],
      [{ state: 'not_ready' }, health.gateways.filter((gateway) => !gateway.is_ready).length],
    ]),
    family(
      'link',
      'gauge',
      'A link is what there is with one worker of a gateway; 1 for the state it is in.',
      links.flatMap(({ labels, state: now }) =>
        LINK_STATES.map((state): Sample => [{ ...labels, state }, Number(state === now)]),
      ),
    ),
    family('connections', 'gauge', 'Connections to gateways that requests travel on.', [
      ...links.flatMap(({ labels, connections, in_use: inUse }): Sample[] => [
        [{ ...labels, state: 'spare' }, connections - inUse],
        [{ ...labels, state: 'in_use' }, inUse],
      ]),
    ]),
    family(
      'round_trip_seconds',
      'gauge',
      'Of the last check: to the gateway, back, to the application, and back again.',
      perLink((link) => inSeconds(link.round_trip_ms)),
    ),
    family(
      'checked_age_seconds',
      'gauge',
      'Since a check last came through.',
      perLink((link) => link.checked_seconds_ago),
    ),
    family(
      'reconnects_total',
      'counter',
      'How often a link was connected again.',
      perLink((link) => link.reconnects),
    ),
    family(
      'opened_total',
      'counter',
      'Connections to the application that gateways asked for, checks included.',
      results(counts.opened),
    ),
    family('checks_total', 'counter', 'Checks by what came of them.', results(counts.checks)),
    family('lost_total', 'counter', 'Links that were lost.', one(counts.lost)),
    family(
      'refused_total',
      'counter',
      'How often a gateway refused this connector.',
      one(counts.refused),
    ),
    family('list_sequence', 'gauge', 'Number of the newest list of gateways.', [
      [{}, view.listSequence],
    ]),
    family(
      'list_age_seconds',
      'gauge',
      'Since the control plane confirmed the list; NaN before the first time.',
      one(view.listAgeSeconds ?? NaN),
    ),
    family('up_seconds', 'gauge', 'Since the start.', one(view.upSeconds)),
    family('cpu_seconds_total', 'counter', 'CPU time of the process.', one(view.cpuSeconds)),
    family('resident_bytes', 'gauge', 'Memory of the process.', one(view.residentBytes)),
  ].join('')
}

function family(
  name: string,
  type: 'gauge' | 'counter',
  help: string,
  samples: readonly Sample[],
): string {
  const full = `service_connector_${name}`
  const lines = samples.map(([labels, value]) => `${full}${labelText(labels)} ${value}\n`)
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escaped = (text: string) =>
  text.replace(/[\\"\n]/g, (at) => (at === '\n' ? '\\n' : `\\${at}`))
