/** The way of a tenant from a draft to live, as steps that tick themselves. Pure. */
import type { CheckResult } from '../../verification/checks.ts'
import type { CheckRow, SignInTrial } from '../../store/queries/verification.ts'
import type { Tenant } from '../../store/queries/tenants.ts'
import { failedLocally, REQUIRED_CHECKS } from '../../tenants/protection.ts'
import type { ConnectorStatus } from '../../connectors/connector-status.ts'
import { checkTitle } from './check-titles.ts'
import { connectCommands } from './connectors/commands.ts'
import { connectorReasonText } from './connectors/words.ts'

export interface Step {
  readonly title: string
  readonly state: 'done' | 'failed' | 'open'
  /** What was found, or what this is for. */
  readonly text: string
  /** The exact next thing to do, for a shell. */
  readonly command?: string | undefined
  /** Where on the page Integration, or on another one, it goes on. */
  readonly part?:
    | { readonly id: string; readonly label: string; readonly on?: 'connectors' }
    | undefined
  /** Code to paste does the same. */
  readonly hasCode?: boolean
  /** What a button here can do. */
  readonly button?: 'publish' | 'probe' | 'sign-in-trial' | undefined
  /** What came of it, one by one. */
  readonly parts?: readonly CheckResult[] | undefined
  readonly seenAtMs?: number | undefined
}

interface StepsView {
  readonly tenant: Pick<
    Tenant,
    'tenantId' | 'status' | 'mode' | 'protection' | 'integrationCompletedAt'
  >
  readonly checks: readonly CheckRow[]
  readonly trial: SignInTrial | undefined
  /** In connector mode: all that have joined. */
  readonly connectors: readonly ConnectorStatus[] | undefined
  readonly baseUrl: string
  readonly nowMs: number
}

/** From nothing to live; nobody pastes a key for it. */
export const setupCommand = (baseUrl: string): string =>
  `curl -fsSL ${baseUrl}/api/v1/cli/install | sh\nservice-analyzer setup`

/** The first one that is not done is what to do next. */
export function stepsOf(view: StepsView): Step[] {
  const { tenant, checks, trial, connectors, baseUrl, nowMs } = view
  const platform = new Map(
    checks.filter(({ source }) => source === 'platform').map((row) => [row.check, row]),
  )
  const required = [
    ...(tenant.mode === 'sdk' ? [] : ['hostname_routed']),
    'application_reached',
    ...REQUIRED_CHECKS,
    ...(tenant.mode === 'sdk' ? ['feed_polled'] : []),
  ]
  return [
    publishing(tenant),
    ...(connectors === undefined ? [] : [connectorStep(connectors, baseUrl)]),
    toolStep(checks, baseUrl, nowMs),
    ...required.map((check) => checkStep(check, platform.get(check), tenant, baseUrl)),
    signInStep(tenant, trial),
    liveStep(tenant),
  ]
}

function publishing({ status }: StepsView['tenant']): Step {
  const isDone = status !== 'draft'
  return {
    title: 'Published',
    state: isDone ? 'done' : 'open',
    text: isDone
      ? 'Gateways serve this tenant.'
      : 'Gateways start serving it in pass-through: all requests are forwarded, and no one is asked to sign in.',
    button: isDone ? undefined : 'publish',
  }
}

/** One that reaches its application is enough. */
function connectorStep(connectors: readonly ConnectorStatus[], baseUrl: string): Step {
  const title = 'Connector connected'
  const part = { id: 'new-token', label: 'Create a join token', on: 'connectors' } as const
  const list = { id: 'content', label: 'See the connectors', on: 'connectors' } as const
  const here = connectors.filter(({ state }) => state === 'connected')
  const lost = connectors.find(({ state }) => state === 'unreachable')
  if (here.length > 0)
    return { title, state: 'done', text: `Connected: ${here.map(({ name }) => name).join(', ')}.` }
  if (lost !== undefined)
    return {
      title,
      state: 'failed',
      text: `${lost.name} is connected, but ${connectorReasonText(lost.reason ?? '') ?? 'cannot reach the application'}. Start the application there, at the address given to join --origin.`,
      command: 'service-connector diag',
      part: list,
    }
  const [joined] = connectors
  if (joined !== undefined)
    return {
      title,
      state: 'failed',
      text: `${connectors.length === 1 ? `${joined.name} has joined but is not connected.` : `None of the ${connectors.length} connectors that have joined is connected.`} Start it on the machine of the application. If it is already running, diag says what is wrong.`,
      command: 'service-connector run\nservice-connector diag',
      part: list,
    }
  return {
    title,
    state: 'open',
    text: 'Run this on the machine of the application. The connector connects out to the gateways, so nothing has to be opened; join asks for a join token.',
    command: connectCommands(baseUrl),
    part,
  }
}

function toolStep(checks: readonly CheckRow[], baseUrl: string, nowMs: number): Step {
  const [failed, ...others] = failedLocally(checks, nowMs)
  if (failed !== undefined)
    return {
      title: TOOL_TITLE,
      state: 'failed',
      text: `${[failed, ...others].map(({ check, detail }) => `${checkTitle(check)}: ${detail}`).join(' ')} ${failed.nextAction}`,
      command: 'service-analyzer verify',
      part: { id: 'live', label: 'Or go live anyway' },
      seenAtMs: failed.at,
    }

  const reports = checks.filter(({ source }) => source === 'self_report')
  const isMounted = checks.some(
    ({ check, source, status }) =>
      check === 'middleware_mounted' && source === 'platform' && status === 'pass',
  )
  const isDone = reports.length > 0 || isMounted
  return {
    title: TOOL_TITLE,
    state: isDone ? 'done' : 'open',
    text: isDone
      ? reports.length === 0
        ? 'Not needed: the middleware is already mounted.'
        : `The tool reported ${reports.length} ${reports.length === 1 ? 'check' : 'checks'}.`
      : 'Run this in the folder of your application. It signs you in here, shows every change before making it, and goes live when you say so.',
    command: isDone ? undefined : setupCommand(baseUrl),
    hasCode: !isDone,
    part: { id: 'keys', label: 'Get the analyzer key for a CI pipeline' },
  }
}

const TOOL_TITLE = 'Project analyzed with the command-line tool'

function checkStep(
  check: string,
  row: CheckRow | undefined,
  { status, mode }: StepsView['tenant'],
  baseUrl: string,
): Step {
  const isOpen = row === undefined || row.status === 'skip'
  const isGood = !isOpen && row.status !== 'fail'
  const isMounting = check === 'middleware_mounted' && !isGood
  const found = row === undefined ? 'Not checked yet.' : row.detail
  return {
    title: checkTitle(check),
    state: isOpen ? 'open' : isGood ? 'done' : 'failed',
    text: isOpen || isGood ? found : `${found} ${row.nextAction}`.trim(),
    command: isMounting ? mountCommand(mode, baseUrl) : undefined,
    part: isMounting ? PASTE : undefined,
    button: isGood || (isOpen && status === 'draft') ? undefined : 'probe',
    seenAtMs: isOpen ? undefined : row.at,
  }
}

const PASTE = { id: 'code', label: 'Code for your framework' }

/** The code itself names service and tenant. */
const mountCommand = (mode: Tenant['mode'], baseUrl: string): string =>
  `npm install ${baseUrl}/api/v1/sdk/node` +
  (mode === 'sdk' ? '\nexport SERVICE_CLIENT_SECRET=…' : '')

function signInStep(
  { integrationCompletedAt, status }: StepsView['tenant'],
  trial: SignInTrial | undefined,
): Step {
  const failed = trial?.checks.find((check) => check.status === 'fail')
  const isDone = integrationCompletedAt !== null
  return {
    title: 'Sign-in works end to end',
    state: failed !== undefined ? 'failed' : isDone ? 'done' : 'open',
    text:
      failed !== undefined
        ? `${checkTitle(failed.check)}: ${failed.detail} ${failed.nextAction}`.trim()
        : isDone
          ? 'A test user signed in and out.'
          : trial === undefined
            ? 'Signs a test user in and out, and reports what fails.'
            : 'The test user signed in and out. The checks above have to pass, too: run them, then test again.',
    parts: trial?.checks,
    command: isDone ? undefined : 'service-analyzer complete',
    button:
      status === 'published' && (!isDone || failed !== undefined) ? 'sign-in-trial' : undefined,
    seenAtMs: trial?.at ?? integrationCompletedAt ?? undefined,
  }
}

function liveStep({ protection }: StepsView['tenant']): Step {
  const isDone = protection === 'on'
  return {
    title: 'Live',
    state: isDone ? 'done' : 'open',
    text: isDone
      ? 'Visitors have to sign in, and sealed paths return 404.'
      : 'Turns protection on. You can go back to pass-through at any time.',
    command: isDone ? undefined : 'service-analyzer go-live',
    part: { id: 'live', label: 'Go live here' },
  }
}
