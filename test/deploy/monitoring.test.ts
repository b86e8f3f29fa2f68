/** Rules and pictures name figures that there are, under names that the programs give them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { createMetrics as ofControlPlane } from '../../control-plane/metrics.ts'
import { createMetrics as ofGateway } from '../../gateway/telemetry/metrics.ts'
import { startServices } from '../support/control-plane.ts'
import { clockOf } from '../support/clocks.ts'

const FOLDER = fileURLToPath(new URL('../../deploy/monitoring', import.meta.url))
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const DOCS = fileURLToPath(new URL('../../docs', import.meta.url))
const docs = globSync('*.md', { cwd: DOCS }).map((name) => readFileSync(join(DOCS, name), 'utf8'))
const namesIn = (text: string) => text.match(/\b(?:gateway|control_plane)_[a-z_]+\b/g) ?? []

const STATE = {
  workersWanted: 1,
  workersServing: 1,
  link: {
    ...{
      isConnected: true,
      isConfigured: true,
      isDamaged: false,
      isDiskHealthy: true,
      correctionMs: 0,
    },
    ...{ epoch: 'e', revision: 1, syncedMs: 0, workersReady: 1, tenants: 1, rejected: 0 },
  },
} satisfies Parameters<ReturnType<typeof ofGateway>['text']>[0]

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string
      readonly expr: string
      readonly labels: { readonly severity: string }
      readonly annotations: { readonly summary: string; readonly action: string }
    }[]
  }[]
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly targets?: readonly { expr: string }[]
  }[]
}

void t.test('every figure that is asked for is one that is told', async (t) => {
  const gateway = ofGateway({ id: 'g', version: '1', clock: clockOf(() => 0) })
  const texts = [await gateway.text(STATE), await ofControlPlane(await startServices(t)).text()]
  const told = new Set<string>()
  for (const [, name = '', type = ''] of texts.join('\n').matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    told.add(name)
    if (type === 'histogram')
      for (const part of ['bucket', 'sum', 'count']) told.add(`${name}_${part}`)
  }
  const { groups } = parse(read('alerts.yaml')) as Rules
  const rules = groups.flatMap((group) => group.rules)
  const { panels } = JSON.parse(read('dashboard.json')) as Dashboard
  const asked = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...[read('README.md'), ...docs]
      .join('\n')
      .matchAll(/`((?:gateway|control_plane)_[^`]*)`/g)
      .map(([, text = '']) => text),
  ]
  t.ok(asked.length > 40)
  for (const expression of asked)
    for (const name of namesIn(expression)) t.ok(told.has(name), `${name} in ${expression}`)
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, labels, annotations } of rules) {
    t.match(labels.severity, /^(?:page|ticket)$/, alert)
    t.match(annotations, { summary: /\w/, action: /\w/ }, `${alert} says what to do`)
  }
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
})
