/** How the connector on this machine is; and what is known of it, where it does not run. */
import { plainText, visibleJson } from '../../command-line/words.ts'
import { EXIT, type Exit } from '../../command-line/exit.ts'
import { askRunning, type RunningStatus } from '../local/ask-running.ts'
import { findLocalPort } from '../local/port.ts'
import { readGatewayList } from '../service/gateway-list.ts'
import type { Joined } from '../state/state-folder.ts'
import type { Command, Task } from './command.ts'

type StatusState = 'ready' | 'degraded' | 'not_ready' | 'not_running' | 'unknown'

const EXITS: Readonly<Record<StatusState, Exit>> = {
  ready: EXIT.done,
  degraded: EXIT.done,
  not_ready: EXIT.notSo,
  not_running: EXIT.unavailable,
  unknown: EXIT.unavailable,
}

/** What lies in the state folder: true when it was written. */
interface Kept {
  readonly gateways: readonly { readonly gateway_id: string; readonly address: string }[]
  /** Why its list of gateways cannot be used; '' where it can. */
  readonly problem: string
}

export const status: Command = {
  name: 'status',
  summary: 'Shows whether the connector is running and reaches its application.',
  about:
    'It asks the connector on its local port. Exit codes: 0 ready, 1 running but not ready, 3 not running or not answering.',
  options: ['local-port', 'json'],
  actions: [],
  async run(task) {
    const { given, state, print } = task
    const joined = await state.require()
    const { userId } = task.world
    const port = await findLocalPort(given.options.get('local-port'), { state, joined, userId })
    const answer = port === undefined ? 'nobody' : await askRunning(port)
    const isOther = typeof answer !== 'string' && answer.connector_id !== joined.connector_id
    const running = typeof answer === 'string' || isOther ? null : answer
    const now = stateOf(running, isOther || answer === 'stranger' || port === undefined)
    const kept = await readKept(task, joined)
    const silent = typeof answer === 'string' ? answer : 'another'
    const problem = running === null ? whyNot(port, silent) : running.detail

    if (given.options.has('json')) {
      const { tenant_id, connector_id, name, origin, base_url } = joined
      const who = { tenant_id, connector_id, name, origin, base_url }
      const document = { state: now, problem, ...who, kept, running }
      print(visibleJson(JSON.stringify(document, undefined, 2)))
    } else print(textOf({ now, joined, kept, running, problem }))
    return EXITS[now]
  },
}

function stateOf(running: RunningStatus | null, isUnknown: boolean): StatusState {
  if (running === null) return isUnknown ? 'unknown' : 'not_running'
  if (!running.is_ready) return 'not_ready'
  return running.is_degraded ? 'degraded' : 'ready'
}

function whyNot(port: number | undefined, answer: string): string {
  if (port === undefined) return 'Unknown whether it runs: this connector has no local port to ask.'
  if (answer === 'another')
    return `Port ${port} belongs to another connector on this machine. Name the port of this one: --local-port PORT`
  return answer === 'stranger'
    ? `Another program listens on port ${port}, so nobody can be asked whether the connector runs. Start it with a free port, and name it here: --local-port PORT`
    : `Nothing listens on port ${port}. Start it: service-connector run. If it runs with another port, name it: --local-port PORT`
}

async function readKept({ state }: Task, joined: Joined): Promise<Kept> {
  const document = await state.readList()
  const list = document === null ? 'there is none' : readGatewayList(document, joined)
  if (typeof list === 'string') return { gateways: [], problem: list }
  const gateways = list.gateways.map(({ gateway_id, address }) => ({ gateway_id, address }))
  return { gateways, problem: '' }
}

const WORDS: Readonly<Record<StatusState, string>> = {
  ready: 'ready',
  degraded: 'ready, but not every link works',
  not_ready: 'running, not ready',
  not_running: 'not running',
  unknown: 'not known to be running',
}

interface View {
  readonly now: StatusState
  readonly joined: Joined
  readonly kept: Kept
  readonly running: RunningStatus | null
  readonly problem: string
}

function textOf({ now, joined, kept, running, problem }: View): string {
  const { name, connector_id: id, tenant_id: tenantId, origin, base_url: baseUrl } = joined
  return [
    `${plainText(name)} (${id}) of ${tenantId}: ${WORDS[now]}`,
    ...(problem === '' ? [] : [`  ${plainText(problem)}`]),
    '',
    row('Application', running?.origin ?? origin),
    row('Service', baseUrl),
    ...(running === null ? keptLines(kept) : runningLines(running)),
  ].join('\n')
}

const row = (label: string, text: string) => `  ${label.padEnd(12)} ${plainText(text)}`

/** Of what was told last. */
function keptLines({ gateways, problem }: Kept): string[] {
  if (problem !== '') return [row('Gateways', `no list is kept: ${problem}`)]
  const [first = 'none', ...others] = gateways.map((one) => `${one.gateway_id} at ${one.address}`)
  const more = others.map((text) => row('', text))
  return [row('Gateways', `${first} (as kept from the last run)`), ...more]
}

function runningLines(running: RunningStatus): string[] {
  const { version, process_id: processId, up_seconds: upSeconds, opened, list } = running
  const { opened: reached = 0, ...failed } = opened
  const failures = Object.entries(failed).filter(([, times]) => times > 0)
  const confirmed = list.confirmed_seconds_ago
  const problem = running.control_plane_problem
  return [
    row('Running', `for ${spanOf(upSeconds)}, version ${version}, process ${processId}`),
    row(
      'List',
      `${confirmed === null ? 'not confirmed since the start' : `confirmed ${spanOf(confirmed)} ago`}${problem === '' ? '' : `; ${problem}`}`,
    ),
    row(
      'Connections',
      [`${reached} opened`, ...failures.map(([why, times]) => `${times} ${why}`)].join(', '),
    ),
    ...running.gateways.flatMap(({ gateway_id: id, is_ready: isReady, links }) => [
      row('Gateway', `${id}: ${isReady ? 'ready' : 'not ready'}`),
      ...links.map((link) => row('', `worker ${link.worker}: ${linkText(link)}`)),
    ]),
  ]
}

function linkText(link: RunningStatus['gateways'][number]['links'][number]): string {
  const { state, problem, connections, in_use: inUse, round_trip_ms: roundTrip } = link
  const ago = link.checked_seconds_ago
  const checked = ago === null ? '' : `checked ${ago} s ago`
  const parts = [
    problem === '' ? '' : `${state}: ${problem}`,
    checked,
    roundTrip === null ? '' : `round trip ${roundTrip} ms`,
    `${connections} ${connections === 1 ? 'connection' : 'connections'}, ${inUse} in use`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function spanOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`
}
